"""The nominations of a block as arrays: for big members, where the hits may be many.

numpy takes as long to import as a small diagnosis lasts, so nothing imports this module until there is enough to scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from postmortem.scan.crowd import Numbers, breaks, distinct
from postmortem.scan.hyper import Raw
from postmortem.scan.scanner import Nominee, Scanner

NONE: Numbers = np.empty(0, np.int64)


class Found(NamedTuple):
    """(line from 0, pattern, offset of the line), each pair of line and pattern once, by line; and how many lines."""

    total: int
    lines: Numbers = NONE
    patterns: Numbers = NONE
    starts: Numbers = NONE

    def distinct(self) -> list[int]:
        """The patterns that were found."""
        found: list[int] = np.flatnonzero(np.bincount(self.patterns)).tolist()
        return found

    def nominees(self, without: Set[int]) -> Iterator[Nominee]:
        """The lines of all other patterns, in order."""
        kept = [self.lines, self.starts, self.patterns]
        if without:
            keep = ~self._of(without)
            kept = [column[keep] for column in kept]
        columns = (column.tolist() for column in kept)
        for (line, start), rows in groupby(zip(*columns, strict=True), key=itemgetter(0, 1)):
            yield Nominee(line, start, tuple(pattern for _, _, pattern in rows))

    def counted(self, patterns: Set[int], most: int) -> Iterator[tuple[int, int, list[int]]]:
        """(pattern, how many lines, where the last of them begin)."""
        for pattern in sorted(patterns):
            starts = self.starts[self.patterns == pattern]
            yield pattern, len(starts), starts[-most:].tolist()

    def _of(self, patterns: Set[int]) -> npt.NDArray[np.bool_]:
        return np.isin(self.patterns, np.fromiter(patterns, np.int64, len(patterns)))


def unpacked(total: int, numbers: memoryview) -> Found:
    """What was found, of its three columns one behind the other."""
    columns = np.frombuffer(numbers, np.int64).reshape(3, -1)
    return Found(total, *columns)


def find(scanner: Scanner, block: bytes) -> Found:
    """What `Scanner.nominees` says of a block of whole lines."""
    if scanner.everywhere or scanner.looks is None:
        told = scanner.nominees(block)
        pairs = [(nominee.line, pattern) for nominee in told for pattern in nominee.patterns]
        columns = np.array(pairs, np.int64).reshape(-1, 2)
        return _placed(block, breaks(block), columns[:, 0] * len(scanner.patterns) + columns[:, 1], scanner)
    variants = scanner.variants(block)
    return found(scanner, block, variants, [scanner.looks.first(variant) for variant in variants])


def found(scanner: Scanner, block: bytes, variants: Sequence[bytes], raws: Sequence[Raw]) -> Found:
    """The nominations of a block by what the first pass found in its variants."""
    looks, most = scanner.looks, len(scanner.patterns)
    assert looks is not None
    newlines = breaks(block)
    codes = [
        looks.lines(variant, newlines if variant is block else breaks(variant), raw, most)
        for variant, raw in zip(variants, raws, strict=True)
    ]
    return _placed(block, newlines, distinct(np.concatenate(codes)), scanner)


def _placed(block: bytes, newlines: Numbers, codes: Numbers, scanner: Scanner) -> Found:
    """line * patterns + pattern of everything that was found, sorted -> where its lines begin."""
    count = len(newlines) + (not block.endswith(b"\n") and bool(block))
    if not codes.size:
        return Found(count)
    lines, patterns = np.divmod(codes, len(scanner.patterns))
    offsets = np.concatenate((np.zeros(1, np.int64), newlines + 1))
    return Found(count, lines, patterns, offsets[lines])
