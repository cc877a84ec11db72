"""Logs that stop in the middle: a last line cut short, a record that is not finished."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from postmortem.detect.looking import tail
from postmortem.lazy import lazy
from postmortem.lines import Line
from postmortem.model import Event, Fact, Kind, State
from postmortem.scene import Reading, Scene

_BLOCK = 4096
ROWS = 400  # lines that are looked through for rows like the last one
# `gmake[2]: *** [lib.so] Error 1`
_CUT_WORDS = lazy(r"make(?:\[\d+\])?: \*\*\* \[[^\]]*(?:\] ?(?:E|Er|Err|Erro|Error ?)?)?$")
_HALF_STAMP = lazy(r"^\[?\d{2,4}[-/]\d\d?(?:[-/]\d\d?)?(?:[T ]\d{0,2}(?::\d{0,2}){0,2}(?:[.,]\d*)?)?$")
_OPEN_RECORD = lazy(r"^Traceback \(most recent call last\):$")
_FRAME = lazy(r"^\s+File \"[^\"]*\", line \d+|^\s{4}\S")


def find(scene: Scene) -> Iterator[Event | Fact]:
    """`log.truncated` events with the reason; a log that the collector itself cut is none."""
    for reading in scene.of_kind(Kind.LOG):
        if reading.source.state is State.CUT:
            continue
        if "NUL bytes" in reading.source.reason:
            why = f"{reading.source.reason}: it was cut (copytruncate) while its writer went on, and its start is lost"
            yield reading.event("log.truncated", 1, {"file": reading.path, "reason": why})
        last = tail(reading, 12)
        reason = cut(reading, last) if last else ""
        if reason:
            edge = {"block_edge": "yes"} if reading.source.text.size % _BLOCK == 0 else {}
            yield reading.event("log.truncated", last[-1].number, {"file": reading.path, "reason": reason} | edge)


def cut(reading: Reading, last: list[Line]) -> str:
    """Why the log's end is no end, or nothing.

    A missing newline alone says little: files that were copied by hand often lack it.
    """
    end = last[-1]
    torn = not reading.source.text.ends_with_newline
    if _cut_json(end, last):
        return "a JSON record is cut"
    if torn and end.stamp is not None and not end.message.strip():
        return "a line ends behind its stamp"
    if torn and end.stamp is None and _stamped(last[:-1]) and _HALF_STAMP.match(end.raw.strip()):
        return "a line ends inside its stamp"
    if torn and reading.source.text.size % _BLOCK == 0:
        return "the last line is cut where a block of stdio ends"
    if torn and (_short(end, last[:-1]) or _cut_row(end, reading) or _CUT_WORDS.search(end.raw)):
        return "the last line is cut"
    if _open(last):
        return "a traceback is cut"
    return ""


def _stamped(lines: list[Line]) -> bool:
    return len(lines) >= 3 and all(line.stamp is not None for line in lines)


def _cut_json(end: Line, last: list[Line]) -> bool:
    """Whether a log of one JSON object a line ends with one that does not close."""
    if not end.raw.startswith("{") or not all(line.raw.startswith("{") for line in last):
        return False
    return not _parses(end.raw) and all(_parses(line.raw) for line in last[:-1])


def _parses(raw: str) -> bool:
    try:
        json.loads(raw)
    except ValueError:
        return False
    return True


def _short(end: Line, before: list[Line]) -> bool:
    """Whether the last line begins as its neighbours do and stops short of what all of them have."""
    alike = [line for line in before if line.stamp is not None and _form(line.message)[:12] == _form(end.message)[:12]]
    if end.stamp is None or len(alike) < 5 or len(end.message) < 12:
        return False
    return all(
        len(line.message) > len(end.message) * 1.3 and _form(line.message).startswith(_form(end.message)[:-1])
        for line in alike
    )


def _cut_row(end: Line, reading: Reading) -> bool:
    """Whether a log's own rows, such as `TIMELINE,139422,GPU_END,988d`, end with one that has too few columns."""
    tag, comma, _ = end.raw.partition(",")
    if not comma or not tag.strip():
        return False
    rows = [line.raw for line in tail(reading, ROWS)[:-1] if line.raw.startswith(tag + ",")]
    least = min((row.count(",") for row in rows), default=0)
    return len(rows) >= 5 and end.raw.count(",") < least


def _form(text: str) -> str:
    return re.sub(r"\d", "0", text)


def _open(last: list[Line]) -> bool:
    """Whether a traceback began and its error never came."""
    starts = [i for i, line in enumerate(last) if _OPEN_RECORD.match(line.message.strip())]
    return bool(starts) and all(_FRAME.match(line.message) for line in last[starts[-1] + 1 :])


DETECTOR = find
