"""The second look: which needles really stand in the lines that hold one of their spots.

A needle is looked for by `re` until that was done often; then those that were asked for are compiled into a database.
To compile all of them would take longer than most diagnoses.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from postmortem.scan.plan import Plan

End = tuple[int, int]
Finder = Callable[[bytes], list[End]]
Compile = Callable[[list[tuple[int, str, bool]]], Finder | None]
OFTEN = 20_000  # looks by `re`: what they take is about what the database of some dozens of needles takes
MANY = 0.3  # share of a block from which all of it is looked at again


class Hot(NamedTuple):
    """The needles that databases look for, and their searches."""

    needles: frozenset[int] = frozenset()
    finders: tuple[Finder, ...] = ()


class Second:
    """The second look at blocks; it may be used by several threads."""

    def __init__(self, plan: Plan, compile: Compile) -> None:
        self._plan, self._compile = plan, compile
        self._hot = Hot()
        self._looked: dict[int, int] = {}  # by needle
        self._refused: set[int] = set()
        self._patterns: dict[int, re.Pattern[bytes] | None] = {}
        self._lock = threading.Lock()

    def ends(self, data: bytes, spots: list[End]) -> list[End]:
        """The ends of needles in the lines that hold these spots (the end of a spot, its number)."""
        spots.sort()
        hot = self._hot
        owners = {spot: self._plan.owners[spot] for _, spot in spots}
        cold = {s: left for s, needles in owners.items() if (left := [n for n in needles if n not in hot.needles])}
        ends = list(self._one_by_one(data, spots, cold)) if cold else []
        if any(not hot.needles.isdisjoint(needles) for needles in owners.values()):
            ends += _again(hot.finders, data, spots)
        return ends

    def _one_by_one(self, data: bytes, spots: list[End], cold: dict[int, list[int]]) -> Iterator[End]:
        asked: set[int] = set()
        start = stop = 0
        for end, spot in spots:
            if end > stop:
                start, stop = line_around(data, end, stop)
                asked = set()
            for needle in cold.get(spot, ()):
                if needle not in asked:
                    asked.add(needle)
                    if self._stands(needle, data, start, stop):
                        yield end, needle
        if sum(self._looked.values()) > OFTEN:
            self._promote()

    def _stands(self, needle: int, data: bytes, start: int, stop: int) -> bool:
        self._looked[needle] = self._looked.get(needle, 0) + 1
        if needle not in self._patterns:
            self._patterns[needle] = _by_re(*self._plan.needles[needle])
        pattern = self._patterns[needle]
        return pattern is None or pattern.search(data, start, stop) is not None

    def _promote(self) -> None:
        """From now on a database looks for what was asked for."""
        with self._lock:
            asked = set(self._looked) - self._hot.needles - self._refused
            new = sorted(needle for needle in asked if self._plan.needles[needle][0])
            self._looked = {}
            finder = self._compile([(needle, *self._plan.needles[needle]) for needle in new])
            if finder is None:
                self._refused.update(new)
            else:
                self._hot = Hot(self._hot.needles | set(new), (*self._hot.finders, finder))


def _by_re(expression: str, caseless: bool) -> re.Pattern[bytes] | None:
    """The expression for `re`; None where the spots are all that can be said."""
    try:
        return re.compile(expression.encode(), re.I if caseless else 0) if expression else None
    except (re.error, OverflowError):
        return None


def line_around(data: bytes, end: int, from_: int) -> tuple[int, int]:
    """The start and stop of the line with the byte before `end`; it starts at `from_` or later."""
    return data.rfind(b"\n", from_, end - 1) + 1 or from_, data.find(b"\n", end - 1) + 1 or len(data)


def _again(finders: tuple[Finder, ...], data: bytes, spots: list[End]) -> list[End]:
    """What the databases find in the lines that hold a spot."""
    pieces, starts, shifts, size, stop = [], [], [], 0, 0
    for end, _ in spots:
        if end <= stop:
            continue
        start, stop = line_around(data, end, stop)
        pieces.append(data[start:stop])
        starts.append(size)
        shifts.append(start - size)
        size += stop - start
        if size > MANY * len(data):
            return [found for finder in finders for found in finder(data)]
    joined = b"".join(pieces)
    return [
        (end + shifts[bisect_right(starts, end - 1) - 1], needle)
        for finder in finders
        for end, needle in finder(joined)
    ]
