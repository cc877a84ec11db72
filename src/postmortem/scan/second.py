"""The second look: which needles really stand in the lines that hold one of their spots.

A needle is looked for by `re` until that was done often; then those that were asked for are compiled into a database.
To compile all of them would take longer than most diagnoses.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from postmortem.scan.plan import Plan

End = tuple[int, int]
Finder = Callable[[bytes], tuple[list[int], list[int]]]  # the ends, and what ends there
Compile = Callable[[list[tuple[int, str, bool]]], Finder | None]
OFTEN = 20_000  # looks by `re`: what they take is about what the database of some dozens of needles takes
CROWD = 4_000  # the same in a big input that is full of finds: many more will follow
SHARE = 100  # a needle with fewer of these looks than one in so many is not worth its place in a database
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
        known = {spot for _, spot in spots}
        same, cold, hot, finders = self.same(known), self.cold(known), self.hot(known), self.finders
        ends = [(end, needle) for end, spot in spots for needle in same.get(spot, ())]
        if cold:
            ends += self._one_by_one(data, spots, cold)
        if hot:
            ends += _again(finders, data, [end for end in spots if end[1] in hot])
        return ends

    @property
    def finders(self) -> tuple[Finder, ...]:
        """The databases of what was asked for often."""
        return self._hot.finders

    def same(self, spots: Iterable[int]) -> dict[int, list[int]]:
        """Of these spots the needles that are no more than the spot."""
        return {spot: found for spot in spots if (found := [n for n in self._plan.owners[spot] if self._is(spot, n)])}

    def cold(self, spots: Iterable[int]) -> dict[int, list[int]]:
        """Of these spots the needles that are more, and that no database looks for."""
        owners, hot = self._plan.owners, self._hot.needles
        left = {spot: [n for n in owners[spot] if n not in hot and not self._is(spot, n)] for spot in spots}
        return {spot: needles for spot, needles in left.items() if needles}

    def _is(self, spot: int, needle: int) -> bool:
        return self._plan.needles[needle] == self._plan.spots[spot]

    def hot(self, spots: Iterable[int]) -> set[int]:
        """The spots of needles that a database looks for."""
        owners, hot = self._plan.owners, self._hot.needles
        return {spot for spot in spots if not hot.isdisjoint(owners[spot])}

    def standing(self, data: bytes, start: int, stop: int, needles: Iterable[int]) -> list[int]:
        """The needles that stand in a line."""
        return [needle for needle in needles if self._stands(needle, data, start, stop)]

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
        self.promote(OFTEN)

    def promote(self, often: int) -> None:
        """Has a database look for what was asked for from now on, once that was done often."""
        if sum(self._looked.values()) > often:
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
            least = sum(self._looked.values()) / SHARE
            often = {needle for needle, looks in self._looked.items() if looks > least}
            asked = often - self._hot.needles - self._refused
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
            return [found for finder in finders for found in zip(*finder(data), strict=True)]
    joined = b"".join(pieces)
    return [
        (end + shifts[bisect_right(starts, end - 1) - 1], needle)
        for finder in finders
        for end, needle in zip(*finder(joined), strict=True)
    ]
