"""A log's lines with their own stamps in seconds, and who wrote each: what the detectors of order look at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC

from postmortem.lazy import lazy
from postmortem.lines import Line

_TAG = lazy(r"^(?P<tag>\[[A-Za-z][\w.:/-]{0,30}\]|[A-Za-z][\w.-]{1,30}(?=: ))")
_ANON = lazy(r"\d+")
_HEADER = lazy(r"^==> .* <==$|^-{3,} .* -{3,}$")
_ERROR = lazy(r"(?i)^\W*(?:e|err|error|w|warn|warning|fatal|crit\w*|panic)\b")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: `at` its own stamp in seconds, None where it has none; `clock` which clock it is of."""

    line: Line
    writer: str
    at: float | None
    clock: str
    resolution: float

    @property
    def number(self) -> int:
        return self.line.number

    @property
    def loud(self) -> bool:
        """Whether it is a warning or worse, as programs print to stderr."""
        return bool(_ERROR.match(self.line.level or self.line.message[:12]))


def entries(lines: Sequence[Line]) -> list[Entry]:
    return [_entry(line) for line in lines]


def _entry(line: Line) -> Entry:
    stamp = line.stamp
    writer = writer_of(line)
    if stamp is None:
        return Entry(line, writer, None, "", 0.0)
    if stamp.wall is not None and stamp.has_date:
        wall = stamp.wall
        clock = "zoned" if wall.tzinfo else "naive"
        at = (wall if wall.tzinfo else wall.replace(tzinfo=UTC)).timestamp()
        return Entry(line, writer, at, clock, stamp.resolution_s)
    if stamp.wall is not None:
        at = stamp.wall.hour * 3600 + stamp.wall.minute * 60 + stamp.wall.second + stamp.wall.microsecond / 1e6
        return Entry(line, writer, at, "time-of-day", stamp.resolution_s)
    if stamp.seconds is None or stamp.clock == "delta":
        return Entry(line, writer, None, "", 0.0)
    return Entry(line, writer, stamp.seconds, stamp.clock, stamp.resolution_s)


def writer_of(line: Line) -> str:
    """The program where the line names it, else the tag that its message begins with, else nothing."""
    named = "/".join(part for part in (line.host, line.program) if part)
    if named:
        return named
    match = _TAG.match(line.message)
    return match["tag"] if match and not re.match(r"^\W?(?:error|warn|info|debug|note)\W?$", match["tag"], re.I) else ""


def starts_anew(line: Line) -> bool:
    """Whether another file begins here: `==> a.log <==` of tail and head."""
    return bool(_HEADER.match(line.raw))


def kin(a: str, b: str) -> bool:
    """Whether two writers are ranks or workers of one kind: their names differ in numbers only."""
    return a != b and _ANON.sub("N", a) == _ANON.sub("N", b)


def unstamped_tag(line: Line) -> str:
    """The tag of a line that has no stamp: `[gpu0]`, `worker:`."""
    match = _TAG.match(line.raw) if line.stamp is None else None
    return match["tag"] if match else ""
