"""What the scanner found in the blocks of one member -> the lines of each pattern, and the places that a text keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from postmortem.scan import End, Few, Nominee, Scanner, line_count, lines_of
from postmortem.sources.late import MARGIN, Late, Piece
from postmortem.text.keep import Place, TextBuilder

if TYPE_CHECKING:
    from postmortem.scan.vector import Found

FIRST_HITS, LAST_HITS = 80, 50  # lines kept of a pattern in one source: the first, and the last of the rest
READ_HITS = 160  # the first lines of a pattern whose reader tells more of them than that they are there
AMONG = 40  # of the first lines so many with all their neighbours
MANY = 400  # finds in a block from which arrays are quicker than a loop

Margins = Mapping[str, tuple[int, int]]  # pattern -> neighbours before and after that its reader looks at


class Hits:
    """The nominated lines of one source, by pattern: all are counted, the first and the last are kept."""

    def __init__(self, scanner: Scanner, margins: Margins) -> None:
        self._scanner = scanner
        self._margins = margins
        self._counts: Counter[int] = Counter()
        self._full: set[int] = set()  # patterns that have had their first lines
        self._first: dict[int, list[int]] = {}
        self._late = Late(LAST_HITS)
        self._before = 0  # lines of the blocks that came before

    def feed(self, block: bytes, found: Found | Few | None, builder: TextBuilder) -> None:
        """Notes what was found in the next block (None: looks itself), and gives the block to the builder."""
        piece = Piece(self._before, block)
        if found is None:
            lines, first = line_count(block), self._placed(piece, self._scanner.nominees(block))
        elif isinstance(found, Few):
            lines, first = found.total, self._placed_few(piece, found.ends)
        else:
            lines, first = found.total, self._placed_many(piece, found)
        builder.feed(block, lines, first, partial(self._late.settle, piece))
        self._before += lines

    def _placed(self, piece: Piece, nominees: Iterable[Nominee]) -> list[Place]:
        """The lines that are among the first of some pattern."""
        places = []
        for line, start, patterns in nominees:
            early = [pattern for pattern in patterns if self._note(pattern, piece, line, start)]
            if early:
                places.append(Place(line, start, *self._margin(early)))
        return places

    def _note(self, pattern: int, piece: Piece, line: int, start: int) -> bool:
        """Whether the line is one of the first that this pattern nominates."""
        count = self._counts[pattern] = self._counts[pattern] + 1
        if count <= FIRST_HITS or (count <= READ_HITS and self._scanner.patterns[pattern] in self._margins):
            self._first.setdefault(pattern, []).append(piece.before + line + 1)
            return True
        self._full.add(pattern)
        self._late.add(piece, pattern, (start,))
        return False

    def _placed_few(self, piece: Piece, ends: Sequence[End]) -> list[Place]:
        """The same, with little said of patterns that have had their first ones."""
        full = self._full
        if full.isdisjoint({pattern for _, pattern in ends}):
            return self._placed(piece, lines_of(piece.block, ends))
        early = [end for end in ends if end[1] not in full]
        self._count([end for end in ends if end[1] in full], piece)  # before others become full
        return self._placed(piece, lines_of(piece.block, early))

    def _count(self, ends: Iterable[End], piece: Piece) -> None:
        """Counts the lines of full patterns."""
        found: dict[int, list[int]] = {}
        find = piece.block.find
        for end, pattern in ends:
            lines = found.get(pattern)
            if lines is None:
                found[pattern] = [end - 1]
            elif find(b"\n", lines[-1], end - 1) >= 0:
                lines.append(end - 1)
        for pattern, lines in found.items():
            self._late.add(piece, pattern, lines)
            self._counts[pattern] += len(lines)

    def _placed_many(self, piece: Piece, found: Found) -> list[Place]:
        """The same, with no loop over the lines of full patterns."""
        full = self._full.intersection(found.distinct()) if len(found.lines) >= MANY else frozenset()
        for pattern, count, last in found.counted(full, LAST_HITS):
            self._counts[pattern] += count
            self._late.add(piece, pattern, last)
        return self._placed(piece, found.nominees(full))

    def _margin(self, patterns: Sequence[int]) -> tuple[int, int]:
        wanted = [self._margin_of(pattern) for pattern in patterns]
        return max(before for before, _ in wanted), max(after for _, after in wanted)

    def _margin_of(self, pattern: int) -> tuple[int, int]:
        asked = self._margins.get(self._scanner.patterns[pattern])
        if self._counts[pattern] <= AMONG:
            return asked or MARGIN
        return MARGIN if asked else (0, 0)

    def lines(self) -> dict[str, tuple[int, ...]]:
        """Pattern -> the numbers of the lines that were kept, from 1."""
        names = self._scanner.patterns
        return {names[n]: (*self._first[n], *self._late.lines(n)) for n in sorted(self._first)}

    def counts(self) -> dict[str, int]:
        """Pattern -> how many lines in all."""
        return {self._scanner.patterns[n]: count for n, count in sorted(self._counts.items())}
