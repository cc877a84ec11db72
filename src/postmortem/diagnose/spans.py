"""From when to when each program's log was written."""

from __future__ import annotations

from dataclasses import dataclass

from postmortem.model import Instant, Kind
from postmortem.scene import Reading, Scene

FAR = 2000  # lines without a stamp at the end of a log: then nothing is known of its end


@dataclass(frozen=True, slots=True)
class Span:
    """The first and the last time that a program's log tells."""

    path: str
    first: Instant
    last: Instant


def log_spans(scene: Scene) -> list[Span]:
    """The spans of the programs' logs; a rotated one is one log."""
    found = []
    for reading in scene.of_kind(Kind.LOG):
        parts = scene.parts(reading)
        if parts[-1] is reading and (first := first_stamp(parts[0])) and (last := last_stamp(reading)):
            found.append(Span(reading.path, first, last))
    return found


def first_stamp(reading: Reading) -> Instant | None:
    """The first time that a source tells."""
    for number, _ in reading.source.text.kept():
        when = reading.when(number)
        if when is not None:
            return when
    return None


def last_stamp(reading: Reading) -> Instant | None:
    """The last time that a source tells."""
    count = reading.source.text.count
    numbers = range(count, max(0, count - FAR), -1)
    return next((when for n in numbers if (when := reading.when(n)) is not None), None)
