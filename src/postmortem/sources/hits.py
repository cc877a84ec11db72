"""What the scanner found in the blocks of one member -> the lines of each pattern, and the places that a text keeps."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from postmortem.scan import Few, Scanner
from postmortem.text.keep import Place, TextBuilder

if TYPE_CHECKING:
    from postmortem.scan.vector import Found

FIRST_HITS, LAST_HITS = 400, 100  # lines kept of a pattern in one source: the first, and the last of the rest
MARGIN = (3, 3)  # neighbours of a line that a signature nominated
MANY = 400  # finds in a block from which arrays are quicker than a loop

Margins = Mapping[str, tuple[int, int]]  # pattern -> neighbours before and after that its reader looks at
Nominees = Iterable[tuple[int, int, Sequence[int]]]  # (line of the block from 0, its offset, patterns)


class Hits:
    """The nominated lines of one source, by pattern: all are counted, the first and the last are kept."""

    def __init__(self, scanner: Scanner, margins: Margins) -> None:
        self._scanner = scanner
        self._margins = margins
        self._counts: Counter[int] = Counter()
        self._first: dict[int, list[int]] = {}
        self._last: dict[int, deque[int]] = {}
        self._before = 0  # lines of the blocks that came before

    def feed(self, block: bytes, found: Found | Few | None, builder: TextBuilder) -> None:
        """Notes what was found in the next block (None: looks itself), and gives the block to the builder."""
        if found is None:
            lines = block.count(b"\n") + (not block.endswith(b"\n") and bool(block))
            first, late = self._placed(self._scanner.nominees(block))
        elif isinstance(found, Few):
            lines = found.total
            first, late = self._placed(found.nominees)
        else:
            lines = found.total
            some = len(found.lines) < MANY
            first, late = self._placed(found.nominees(frozenset())) if some else self._placed_many(found)
        builder.feed(block, lines, first, late)
        self._before += lines

    def _placed(self, nominees: Nominees) -> tuple[list[Place], list[Place]]:
        """The lines that are among the first of some pattern, and the last of the others."""
        first: list[Place] = []
        late: deque[Place] = deque(maxlen=LAST_HITS)
        for line, start, patterns in nominees:
            early = [pattern for pattern in patterns if self._note(pattern, self._before + line + 1)]
            if early:
                first.append(Place(line, start, *self._margin(early)))
            else:
                late.append(Place(line, start, *MARGIN))
        return first, list(late)

    def _placed_many(self, found: Found) -> tuple[list[Place], list[Place]]:
        """The same, with no loop over the lines of patterns that have had their first ones."""
        full = frozenset(pattern for pattern in found.distinct() if self._counts[pattern] >= FIRST_HITS)
        first, late = self._placed(found.nominees(full))
        if not full:
            return first, late
        for pattern, count, last in found.counted(full, LAST_HITS):
            self._counts[pattern] += count
            self._late(pattern).extend(self._before + line + 1 for line in last)
        others = found.only(full, {place.line for place in first}, LAST_HITS)
        places = {place.line: place for place in (*late, *(Place(*other, *MARGIN) for other in others))}
        return first, [places[line] for line in sorted(places)][-LAST_HITS:]

    def _note(self, pattern: int, line: int) -> bool:
        """Whether the line is one of the first that this pattern nominates."""
        count = self._counts[pattern] = self._counts[pattern] + 1
        if count <= FIRST_HITS:
            self._first.setdefault(pattern, []).append(line)
            return True
        self._late(pattern).append(line)
        return False

    def _late(self, pattern: int) -> deque[int]:
        if pattern not in self._last:
            self._last[pattern] = deque(maxlen=LAST_HITS)
        return self._last[pattern]

    def _margin(self, patterns: Sequence[int]) -> tuple[int, int]:
        wanted = [self._margins.get(self._scanner.patterns[pattern], MARGIN) for pattern in patterns]
        return max(before for before, _ in wanted), max(after for _, after in wanted)

    def lines(self) -> dict[str, tuple[int, ...]]:
        """Pattern -> the numbers of the lines that were kept, from 1."""
        names = self._scanner.patterns
        return {names[n]: (*self._first[n], *self._last.get(n, ())) for n in sorted(self._first)}

    def counts(self) -> dict[str, int]:
        """Pattern -> how many lines in all."""
        return {self._scanner.patterns[n]: count for n, count in sorted(self._counts.items())}
