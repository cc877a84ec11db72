"""Logs most of whose lines begin with one form of stamp: what can be said of them without taking each line apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from math import inf

from postmortem.lazy import lazy
from postmortem.lines import Line
from postmortem.lines.stamps import zone_of
from postmortem.scene import Reading

_ZEROS = bytes(48 if 48 <= b <= 57 else b for b in range(256))  # digits as 0
_FORM = lazy(rb"0000(?:-00-00[T ]|/00/00 )00:00:00(?:[.,]0{1,9})?(?:Z|[+-]00:?00)?(?=[ \t](?P<next>[^ \t]*))")
LEAST, MOSTLY = 8, 0.75  # lines of the form, and their share


@dataclass(frozen=True, slots=True)
class Uniform:
    """The form of the stamps with digits as 0, and which lines need a closer look."""

    form: str
    others: tuple[int, ...]  # numbers of the lines that do not begin with it
    inside: tuple[int, ...]  # of those that hold it further on
    back_s: float  # the most seconds by which a stamp is older than one above it


def uniform(reading: Reading) -> Uniform | None:
    """What the lines have in common, or None where too few begin with a date of one form."""
    text = reading.source.text
    data = text.plain()
    form = _form(reading) if data is not None and text.count >= LEAST else None
    if data is None or form is None:
        return None
    zeros = data.translate(_ZEROS)
    shapes = zeros.split(b"\n")[: text.count]
    others = tuple(number for number, shape in enumerate(shapes, 1) if not shape.startswith(form))
    count = text.count - len(others)
    if count < max(LEAST, MOSTLY * text.count):
        return None
    stamp, odd = form[:-1], frozenset(others)
    stamps = [row[: len(stamp)] for number, row in enumerate(data.split(b"\n"), 1) if number not in odd][:count]
    inside = zeros.count(stamp) > count
    within = tuple(n for n, shape in enumerate(shapes, 1) if shape.find(stamp, 1) > 0) if inside else ()
    return Uniform(stamp.decode(), others, within, back(stamps))


def _form(reading: Reading) -> bytes | None:
    """The form of the first dated line with the blank behind it, where the line's own stamp is just that."""
    for number in range(1, LEAST + 1):
        line = reading.line(number)
        if line is None or line.stamp is None:
            continue
        raw = line.raw.encode("utf-8", "surrogateescape")
        match = _FORM.match(raw.translate(_ZEROS))
        if match is None or line.stamp.text != line.raw[: match.end()] or zone_of(match["next"].decode("latin-1")):
            return None
        return match[0] + raw[match.end() : match.end() + 1]
    return None


def back(stamps: Sequence[bytes]) -> float:
    """The most seconds by which a stamp is older than one before it; infinite where one is no date."""
    if all(map(bytes.__le__, stamps, stamps[1:])) and stamps[0][19:20] not in b"+-" and b":" not in stamps[0][20:]:
        return 0.0  # no zones: they sort as they stand
    try:
        times = [datetime.fromisoformat(s.decode().replace("/", "-").replace(",", ".")) for s in stamps]
    except ValueError:
        return inf
    seconds = [(t if t.tzinfo else t.replace(tzinfo=UTC)).timestamp() for t in times]
    return max(top - at for top, at in zip(accumulate(seconds, max), seconds, strict=True))


def lines_at(reading: Reading, numbers: Sequence[int]) -> list[Line]:
    """These lines, taken apart."""
    return [line for number in numbers if (line := reading.line(number)) is not None]
