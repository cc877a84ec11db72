"""How detectors look at logs: lines by needle, their own stamps, names of files and processes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from postmortem.lines import Line
from postmortem.model import Evidence, Instant
from postmortem.scene import Reading
from postmortem.sources import without_compression

SMALL = 20_000  # lines of a log that a detector may read through


def base(path: str) -> str:
    """The file name without its folders, as it was before it was compressed."""
    return PurePosixPath(without_compression(path)).name


def matching(reading: Reading, needle: str) -> Iterator[Line]:
    """The lines that match: among the scanner's nominations where there are any, else among a small log's own."""
    pattern = re.compile(needle)
    text = reading.source.text
    if needle in reading.source.asked or needle in reading.source.hits:
        numbers: Iterator[int] = iter(reading.hits(needle))
    elif text.count <= SMALL:
        numbers = (number for number, raw in text.kept() if pattern.search(raw))
    else:
        return
    for number in numbers:
        line = reading.line(number)
        if line is not None and pattern.search(line.raw):
            yield line


def kept(reading: Reading, limit: int = SMALL) -> list[Line]:
    """The lines of a log, or none where it is too big to read through."""
    return list(reading.lines()) if reading.source.text.count <= limit else []


def tail(reading: Reading, count: int) -> list[Line]:
    """The last lines that hold something, in file order."""
    found: list[Line] = []
    number = reading.source.text.count
    while number > 0 and len(found) < count:
        line = reading.line(number)
        if line is None:
            break
        if line.raw.strip():
            found.append(line)
        number -= 1
    return found[::-1]


def evidence(reading: Reading, line: Line) -> Evidence:
    return reading.evidence(line.number)


def apart(a: Instant | None, b: Instant | None) -> float | None:
    """b - a in seconds; None where one is unknown or only one's zone is."""
    if a is None or b is None or a.zone_known != b.zone_known:
        return None
    return (b.utc - a.utc).total_seconds()
