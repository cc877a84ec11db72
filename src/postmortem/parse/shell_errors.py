"""What shells say of a script that they cannot read or a command that they cannot run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.parse.shell_rules import BASH, PLACES, RULES, SHELLS
from postmortem.scene import Parser, Reading

Fields = dict[str, str]

# busybox ash has bash's form of the place and dash's words
_ASH = lazy(
    r"syntax error: (?:unexpected (?!end of file(?:$| from))|unterminated|bad |.*expecting)|divide by zero|"
    r"\S: not found$|parameter not set$"
)
_KERNEL_CRLF = lazy(r"(?P<token>\S+?)(?:\^M|\\r|\r|␍)['’]?: (?:bad interpreter|No such file or directory)")
_EARLY = ("syntax", "eof", "quote")  # early scripts write to /dev/kmsg: these words no kernel has
_CR = lazy(r"\r|␍|\^M|\\r")


def _compiled() -> tuple[tuple[str, str, str, re.Pattern[str]], ...]:
    return tuple(
        (literal, what, shell, lazy(PLACES[shell] + rest)) for literal, what, shells, rest in RULES for shell in shells
    )


_COMPILED = _compiled()
_SOURCE = lazy(rf"{BASH}`(?P<text>.*)'$")
# a trace of `set -x`, a listing of source, a quoted message
_QUOTED = lazy(r"^\s*\++ |^\s*(?:echo|printf|grep)\b|^\s*#|[\"'`]\S+: line \d+: ")


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Shell complaints, such as bash's ``run.sh: line 346: syntax error near unexpected token `else'``."""
    for number in reading.nominated:
        line = reading.line(number)
        if line is None or _QUOTED.search(line.message):
            continue
        fields = complaint(line.message) or complaint(line.raw)
        if fields is not None and (line.channel != "kernel" or fields["what"] in _EARLY):
            yield reading.event("shell.error", number, *_with_source(reading, number, fields))


def _with_source(reading: Reading, number: int, fields: Fields) -> tuple[Fields, tuple[int, ...]]:
    """bash's second line is what it had read of the script; under `set -e` it is left out."""
    if fields["what"] != "syntax":
        return fields, ()
    for below in (number + 1, number + 2):
        line = reading.line(below)
        match = _SOURCE.search(line.message) if line is not None else None
        if match and match["script"] == fields["script"] and match["line"] == fields["line"]:
            return fields | {"source_text": match["text"]}, (below,)
    return fields, ()


def complaint(message: str) -> Fields | None:
    """The fields of a shell's complaint, or None."""
    text = message.rstrip("\r")
    if match := _KERNEL_CRLF.search(text):
        return _crlf_start(text, match)
    for literal, what, shell, pattern in _COMPILED:
        if literal in text and (match := pattern.search(text)):
            fields = _fields(match, what, shell, text)
            if fields is not None:
                return fields
    return None


def _fields(match: re.Match[str], what: str, shell: str, text: str) -> Fields | None:
    named = {key: value for key, value in match.groupdict().items() if value}
    token = named.get("token", "").strip('"')
    if named.get("script", "").endswith(("python", "python3")) or not _plausible(named, what):
        return None
    if _CR.search(token) or _hidden_cr(what, match, text):
        named["cr"] = "yes"
        what = "crlf"
    if shell == "b" and _ASH.search(text):
        shell_name = "ash"
    elif shell == "p":
        shell_name = named.get("script", "").lstrip("-")
        named.pop("script", None)
    else:
        shell_name = SHELLS[shell]
    return (
        {**named, "token": token, "what": what, "shell": shell_name}
        if token
        else {**named, "what": what, "shell": shell_name}
    )


def _plausible(named: Mapping[str, str], what: str) -> bool:
    """dash's `F: 3: x: not found` is a weak form: a file name must stand there, not a clock or a log level."""
    script = named.get("script", "")
    return not re.fullmatch(r"\d[\d.,]*|[A-Z]+|error|warning|INFO|line", script)


def _hidden_cr(what: str, match: re.Match[str], text: str) -> bool:
    """`set: pipefail: invalid option name` and `set: -: invalid option` come from a carriage return after the word."""
    command = match.groupdict().get("command")
    return (
        what == "bad-option"
        and command == "set"
        and bool(re.search(r": (?:-|pipefail|-e|-u|errexit|nounset): invalid option", text))
    )


def _crlf_start(text: str, match: re.Match[str]) -> Fields:
    place = re.search(rf"(?:{BASH})", text)
    fields = {
        "what": "crlf",
        "cr": "yes",
        "token": match["token"].strip("‘'\"$"),
        "interpreter": match["token"].strip("‘'\"$"),
    }
    if place is not None:
        return fields | {"script": place["script"], "line": place["line"], "shell": "bash"}
    first = re.match(r"(?:\S*sh: )?(?P<script>\S+?): ", text)
    return fields | ({"script": first["script"]} if first else {})


PARSER = Parser(
    name="shell-errors",
    kinds=frozenset({Kind.LOG, Kind.JOURNAL, Kind.KERNEL, Kind.SMI, Kind.LISTING, Kind.PROBE, Kind.CONTAINER}),
    read=read,
    needles=(
        *dict.fromkeys(re.escape(literal) for literal, _, _, _ in RULES),
        r"\^M: bad interpreter",
        r"\\r['’]: No such file",
    ),
    before=0,
    after=2,
)
