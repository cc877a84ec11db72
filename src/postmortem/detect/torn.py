"""Lines glued or cut by two writers on one file: a stamp in the middle of a line, half a stamp before other text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from postmortem.detect.looking import SMALL, kept
from postmortem.detect.uniform import LEAST, lines_at, uniform
from postmortem.lazy import lazy
from postmortem.lines import Line
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Reading, Scene

_DIGITS = lazy(r"\d")
# a date or clock with separators, no hex epoch
_SHAPE = lazy(r"^\[?(?:[A-Z][a-z]{2} [ 0]0 )?0[0TZ :./,+-]{7,}$")
_BLOCK = 4096
_MOST = 8


@dataclass(frozen=True, slots=True)
class Tear:
    """Where in the line another writer's text begins."""

    line: Line
    at: int
    reason: str


def find(scene: Scene) -> Iterator[Event | Fact]:
    """`log.torn` events: the line, the column at which it breaks, and whether a block of stdio ends there."""
    for reading in scene.of_kind(Kind.LOG):
        tears = torn_in(reading)
        starts = _offsets(reading, kept(reading)) if tears else {}
        for tear in tears:
            offset = starts.get(tear.line.number)
            edge = offset is not None and (offset + tear.at) % _BLOCK == 0
            fields = {
                "file": reading.path,
                "text": tear.line.raw[:160],
                "column": str(tear.at + 1),
                "reason": tear.reason,
            }
            yield reading.event("log.torn", tear.line.number, fields | ({"block_edge": "yes"} if edge else {}))


def torn_in(reading: Reading) -> list[Tear]:
    """The first tears of a log whose lines begin with stamps of one form."""
    if reading.source.text.count > SMALL or len(reading.clock.numbers) < LEAST:
        return []
    alike = uniform(reading)
    if alike is not None:
        shape: str | None = alike.form
        lines = lines_at(reading, sorted({*alike.others, *alike.inside}))
    else:
        lines = kept(reading)
        shape = usual_shape(lines)
    if shape is None:
        return []
    return [tear for line in lines if (tear := torn(line, shape)) is not None][:_MOST]


def usual_shape(lines: list[Line]) -> str | None:
    """The form of the stamp that most lines begin with, digits as 0: `0000/00/00 00:00:00`."""
    shapes = Counter(
        _DIGITS.sub("0", line.stamp.text.rstrip("] "))
        for line in lines
        if line.stamp is not None and len(line.stamp.text) >= 8 and line.raw.startswith(line.stamp.text)
    )
    if not shapes:
        return None
    shape, count = shapes.most_common(1)[0]
    filled = sum(1 for line in lines if line.raw.strip())
    return shape if count >= LEAST and count * 2 >= filled and _SHAPE.match(shape) else None


def torn(line: Line, shape: str) -> Tear | None:
    """A tear in a log whose lines begin with stamps of this form, or None."""
    here = _DIGITS.sub("0", line.raw)
    inside = here.find(shape, 1)
    if inside > 0 and _glued(line.raw, inside):
        return Tear(line, inside, "a second line begins inside this one")
    whole = here.startswith(shape)
    own = line.stamp.text if line.stamp is not None else ""
    if own and line.raw.startswith(own) and re.match(r"[\s\]|,]|$", line.raw[len(own) : len(own) + 1]):
        return None  # a whole stamp of another form
    cut = _common(here, shape)
    if (
        not whole
        and cut * 10 >= len(shape) * 6
        and cut < len(shape)
        and re.match(r"[A-Za-z_/]", line.raw[cut : cut + 1])
    ):
        return Tear(line, cut, "another line begins inside the stamp")
    return None


def _glued(raw: str, at: int) -> bool:
    """Whether the stamp follows text at once, not a quote, a bracket, a blank or a separator."""
    return raw[at - 1].isalnum() or raw[at - 1] in ".!?)]}%"


def _common(a: str, b: str) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def _offsets(reading: Reading, lines: list[Line]) -> dict[int, int]:
    """Line -> byte offset of its start, where the text is whole and plain enough to count."""
    text = reading.source.text
    if not text.whole:
        return {}
    found: dict[int, int] = {}
    place = 0
    for line in lines:
        found[line.number] = place
        place += len(line.raw.encode("utf-8", "replace")) + 1
    return found if abs(place - text.size) <= 1 else {}


DETECTOR = find
