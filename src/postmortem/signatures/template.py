"""Sentences with `{field}`; a part in `[...]` is left out when a field in it is unknown. Parts may stand in parts.

    {comm} (pid {pid}) was killed[: the limit of {cgroup} is {limit_kb} kB]

A backslash before `{ } [ ]` takes it as it is. A field's text is put in once and never read as a template.
"""

from __future__ import annotations

from collections.abc import Mapping

import regex

from postmortem.signatures.language import Scalar

_TOKEN = regex.compile(r"\\([\[\]{}\\])|\{([^{}\[\]]*)\}|(\[)|(\])|([{}])|([^\\{}\[\]]+|\\)")
_NAME = regex.compile(r"[A-Za-z_][\w.-]*")


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
    return tuple(name for _, name, *_ in _TOKEN.findall(template) if name)


def fill(template: str, values: Mapping[str, Scalar]) -> str:
    """The sentence with its fields; an unknown one outside of `[...]` reads "unknown FIELD"."""
    parts: list[list[str]] = [[]]  # the sentence, and the optional parts that are open, innermost last
    whole = [True]
    for escaped, name, opened, closed, brace, plain in _TOKEN.findall(template):
        if opened:
            parts.append([])
            whole.append(True)
        elif closed and len(parts) > 1:
            done = parts.pop()
            parts[-1] += done if whole.pop() else []
        elif name:
            whole[-1] = whole[-1] and name in values
            parts[-1].append(_shown(values[name]) if name in values else f"unknown {name.replace('_', ' ')}")
        else:
            parts[-1].append(escaped or brace or plain)
    return "".join(parts[0])


def _shown(value: Scalar) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
