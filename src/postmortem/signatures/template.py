"""Sentences with `{field}`; a part in `[...]` is left out when a field in it is unknown. Parts may stand in parts.

    {comm|A process}[ (pid {pid})] was killed[: the limit of {cgroup} is {limit_kb:kib}]

`{field|words}` has the words where the field is unknown; `{field:kib}` and `{field:bytes}` show a size, as in `24 GiB`,
`{field:ms}` a time as `60 min`. A part that only repeats what stands before it is left out too. A backslash before
`{ } [ ]` takes it as it is. A field's text is put in once and never read as a template.
"""

from __future__ import annotations

from collections.abc import Mapping

import regex

from postmortem.signatures.language import Scalar

_TOKEN = regex.compile(r"\\([\[\]{}\\])|\{([^{}\[\]]*)\}|(\[)|(\])|([{}])|([^\\{}\[\]]+|\\)")
_NAME = regex.compile(r"([A-Za-z_][\w.-]*)(?::(kib|bytes|ms)|\|([^|]+))?")
_TAIL = regex.compile(r"(?<=[^\s.,;:])[.,;:]?\s*$")
_CORE = regex.compile(r"\w.*\w", regex.S)
LONGEST, LONGEST_NAME = 200, 500  # characters of one field, of one without a space; the evidence shows the line whole
SIZES = {"kib": 1024, "bytes": 1}
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
_SAID: Mapping[tuple[str, Scalar], str] = {("cgroup", "own"): "the job's own group"}  # values that are no words
TIMES = ((7_200_000, 3_600_000, "h"), (120_000, 60_000, "min"), (1000, 1000, "s"), (0, 1, "ms"))  # from, factor, unit


def faults(template: str) -> tuple[str, ...]:
    """What is wrong with the brackets and names of a template."""
    found, depth = [], 0
    for _, name, opened, closed, brace, _ in _TOKEN.findall(template):
        depth += bool(opened) - bool(closed)
        if brace:
            found.append(f"a single '{brace}'")
        if name and not _NAME.fullmatch(name):
            found.append(f"'{{{name}}}' is no field name")
        if depth < 0:
            found.append("a ']' without '['")
            depth = 0
    return (*found, "a '[' without ']'") if depth else tuple(found)


def fields_in(template: str) -> tuple[str, ...]:
    """The fields that a template names."""
    names = (_NAME.match(name) for _, name, *_ in _TOKEN.findall(template) if name)
    return tuple(found[1] for found in names if found)


def fill(template: str, values: Mapping[str, Scalar]) -> str:
    """The sentence with its fields; an unknown one outside of `[...]` reads "unknown FIELD"."""
    parts: list[list[str]] = [[]]  # the sentence, and the optional parts that are open, innermost last
    whole = [True]
    for escaped, name, opened, closed, brace, plain in _TOKEN.findall(template):
        if opened:
            parts.append([])
            whole.append(True)
        elif closed and len(parts) > 1:
            done = "".join(parts.pop())
            told = "".join(text for part in parts for text in part)
            parts[-1] += [done] if whole.pop() and not _repeats(done, told) else []
        elif name:
            known, text = _field(name, values)
            whole[-1] = whole[-1] and known
            parts[-1].append(text)
        else:
            parts[-1].append(escaped or brace or plain)
    return "".join(parts[0])


def _field(token: str, values: Mapping[str, Scalar]) -> tuple[bool, str]:
    """Whether what stands in the braces is known, and its text."""
    found = _NAME.fullmatch(token)
    name, unit, words = found.groups() if found else (token, None, None)
    if name in values and values[name] != "":
        value = _SAID.get((name, values[name]), values[name])
        return True, _measured(value, unit) if unit else _shown(value)
    return bool(words), words or f"unknown {name.replace('_', ' ')}"


def _repeats(part: str, told: str) -> bool:
    """Whether the words of an optional part stand in the sentence already; a bare number is never a repetition."""
    core = _CORE.search(part)
    if core is None or regex.fullmatch(r"\d+\W?\d*", core[0]):
        return False
    return regex.search(rf"(?<!\w){regex.escape(core[0])}(?!\w)", told) is not None


def _shown(value: Scalar) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:g}" if isinstance(value, float) else _TAIL.sub("", str(value))
    longest = LONGEST if " " in text else LONGEST_NAME
    return text if len(text) <= longest else f"{text[:longest]}..."


def _measured(value: Scalar, unit: str) -> str:
    """`24.0 GiB` of a number of KiB or bytes, `60 min` of milliseconds; what is no number stays as it is."""
    try:
        count = float(str(value))
    except ValueError:
        return _shown(value)
    if unit == "ms":
        factor, name = next((factor, name) for least, factor, name in TIMES if count >= least or not least)
        return f"{count / factor:.3g} {name}"
    return _size(count * SIZES[unit])


def _size(count: float) -> str:
    power = 0
    while count >= 1024 and power < len(UNITS) - 1:
        count, power = count / 1024, power + 1
    return f"{count:.1f} {UNITS[power]}" if power else f"{count:.0f} bytes"
