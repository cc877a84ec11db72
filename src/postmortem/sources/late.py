"""The last lines of patterns that have had their first ones.

Nearly every such line is replaced by a later one soon, so which line it is (its number, the place of its neighbours) is
found out only when its block is about to be let go.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import repeat

from postmortem.text.keep import Place

MARGIN = (3, 3)  # neighbours of a line that a signature nominated


@dataclass(slots=True, eq=False)
class Piece:
    """A block of whole lines, and which patterns have lines among their last ones in it."""

    before: int  # lines before it
    block: bytes
    patterns: set[int] = field(default_factory=set)


Mark = tuple[Piece | None, int]  # a block and an offset in a line of it, or no block and the number of the line, from 1


class Late:
    """The last lines of each pattern."""

    def __init__(self, most: int) -> None:
        self._marks: defaultdict[int, deque[Mark]] = defaultdict(lambda: deque(maxlen=most))

    def add(self, piece: Piece, pattern: int, offsets: Iterable[int]) -> None:
        """The lines with the bytes at these offsets, in order."""
        self._marks[pattern].extend(zip(repeat(piece), offsets))
        piece.patterns.add(pattern)

    def settle(self, piece: Piece) -> list[Place]:
        """The lines of the block that are still among the last of a pattern; after it the block may be let go."""
        wanted = {offset for pattern in piece.patterns for offset in self._offsets(pattern, piece)}
        places = dict(_placed(piece.block, sorted(wanted)))
        for pattern in piece.patterns:
            marks = self._marks[pattern]
            for at, (owner, offset) in enumerate(marks):
                if owner is piece:
                    marks[at] = (None, piece.before + places[offset].line + 1)
                elif owner is not None:
                    break
        piece.patterns.clear()
        return sorted(set(places.values()))

    def _offsets(self, pattern: int, piece: Piece) -> Iterator[int]:
        for owner, offset in self._marks[pattern]:
            if owner is piece:
                yield offset
            elif owner is not None:
                return  # of a later block, as are all that follow

    def lines(self, pattern: int) -> tuple[int, ...]:
        """The numbers of the last lines of a pattern."""
        marks = self._marks.get(pattern, ())
        for piece in {owner: None for owner, _ in marks if owner is not None}:
            self.settle(piece)
        return tuple(number for _, number in marks)


def _placed(block: bytes, offsets: list[int]) -> Iterator[tuple[int, Place]]:
    """Where the lines of these bytes are."""
    line = at = 0
    for offset in offsets:
        line += block.count(b"\n", at, offset)
        at = offset
        yield offset, Place(line, block.rfind(b"\n", 0, offset) + 1, *MARGIN)
