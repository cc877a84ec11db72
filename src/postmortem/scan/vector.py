"""The nominations of a block as arrays: for big members, where the hits may be many.

numpy takes as long to import as a small diagnosis lasts, so nothing imports this module until there is enough to scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from postmortem.scan.scanner import End, Nominee, Scanner

Numbers = npt.NDArray[np.int64]
NEWLINE = 10
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


def find(scanner: Scanner, block: bytes) -> Found:
    """What `Scanner.nominees` says of a block of whole lines."""
    if scanner.everywhere:
        told = scanner.nominees(block)
        pairs = [(nominee.line, pattern) for nominee in told for pattern in nominee.patterns]
        return _placed(block, _code(np.array(pairs, np.int64).reshape(-1, 2), len(scanner.patterns)), scanner)
    return found(scanner, block, *scanner.looked(block))


def found(scanner: Scanner, block: bytes, variants: Sequence[bytes], ends: Sequence[list[End]]) -> Found:
    """The nominations of a block by what stands in its variants."""
    most = len(scanner.patterns)
    codes = [_located(variant, each, most) for variant, each in zip(variants, ends, strict=True) if each]
    return _placed(block, _distinct(np.concatenate(codes)) if codes else NONE, scanner)


def _placed(block: bytes, codes: Numbers, scanner: Scanner) -> Found:
    """line * patterns + pattern of everything that was found, sorted -> where its lines begin."""
    breaks = _breaks(block)
    count = len(breaks) + (not block.endswith(b"\n") and bool(block))
    if not codes.size:
        return Found(count)
    lines, patterns = np.divmod(codes, len(scanner.patterns))
    offsets = np.concatenate((np.zeros(1, np.int64), breaks + 1))
    return Found(count, lines, patterns, offsets[lines])


def _breaks(block: bytes) -> Numbers:
    """The offsets of the newlines."""
    return np.flatnonzero(np.frombuffer(block, np.uint8) == NEWLINE)


def _located(variant: bytes, ends: list[End], patterns: int) -> Numbers:
    """line * patterns + pattern of each end."""
    pairs = np.fromiter(chain.from_iterable(ends), np.int64, 2 * len(ends)).reshape(-1, 2)
    pairs[:, 0] = np.searchsorted(_breaks(variant), pairs[:, 0] - 1)
    return _code(pairs, patterns)


def _distinct(codes: Numbers) -> Numbers:
    """Each once, sorted: np.unique, which hashes, takes ten times as long."""
    codes.sort()
    first: Numbers = codes[np.concatenate((np.ones(1, np.bool_), codes[1:] != codes[:-1]))]
    return first


def _code(pairs: Numbers, patterns: int) -> Numbers:
    codes: Numbers = pairs[:, 0] * patterns + pairs[:, 1]
    return codes
