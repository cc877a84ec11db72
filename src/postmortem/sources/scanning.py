"""Blocks of a member -> what the scanner finds in them, on as many processors as there are."""

from __future__ import annotations

import os
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from postmortem.scan import Few, Scanner, few
from postmortem.scan.helper import SLOT, SLOTS, Helper

if TYPE_CHECKING:
    from postmortem.scan.vector import Found

BIG = 2 << 20  # bytes of input from which child processes scan
SMALL = 64 << 10  # bytes of a block that no child is asked for
ARRAYS = 8 << 20  # bytes of input below which nothing imports numpy, which would take longer than the diagnosis
FEW = 1000  # finds in a block up to which a loop over them is quicker than arrays
MOST = 4  # children: one thread unpacks for them all, and more would wait for it
_alone = False
Waiting = deque[tuple[bytes, Helper]]


def stay_alone() -> None:
    """Nothing but the caller scans from now on in this process: one of many children with a limit of memory."""
    global _alone
    _alone = True


class Scanning:
    """A scanner over all members of an input: a small input is scanned here, a big one by a few children."""

    def __init__(self, scanner: Scanner, scanned: Callable[[int], None] | None = None, on_disk: int = 0) -> None:
        self.scanner = scanner
        self._on_disk = on_disk  # bytes that the input has at least
        self._scanned = scanned or (lambda size: None)
        self._size = self._turn = 0
        self._helpers: list[Helper] | None = None

    def found(self, blocks: Iterator[bytes]) -> Iterator[tuple[bytes, Found | Few | None]]:
        """Every block in order with what was found in it, or with None where the caller is to look itself."""
        waiting: Waiting = deque()
        for block in blocks:
            self.passed(len(block))
            helpers = self.helpers() if SMALL < len(block) <= SLOT else []
            if not helpers:
                yield from self._taken(waiting, 0)
                yield block, self._find(block) if len(block) > SMALL else None
                continue
            helper = helpers[self._turn % len(helpers)]
            self._turn += 1
            helper.give(block)
            waiting.append((block, helper))
            yield from self._taken(waiting, len(helpers) * SLOTS - 1)
        yield from self._taken(waiting, 0)

    def passed(self, size: int) -> None:
        """So many bytes more were scanned."""
        self._size += size
        self._scanned(size)

    def _taken(self, waiting: Waiting, most: int) -> Iterator[tuple[bytes, Found | Few | None]]:
        """The oldest blocks that wait, until at most so many do; what a dead child was asked for is found here."""
        while len(waiting) > most:
            block, helper = waiting.popleft()
            told = helper.take()
            yield block, self._find(block) if told is None else _unpacked(told)

    def _find(self, block: bytes) -> Found | Few | None:
        """What stands in a block; arrays are imported only for many finds in much input."""
        scanner, arrays = self.scanner, max(self._size, self._on_disk) > ARRAYS
        if scanner.everywhere or scanner.looks is None:
            return _by_arrays(scanner, block) if arrays else None
        variants = scanner.variants(block)
        as_it_stands = len(variants) == 1 and variants[0] is block
        if not as_it_stands and not arrays:
            return None
        raws = [scanner.looks.first(variant) for variant in variants]
        if as_it_stands and (not arrays or len(raws[0][0]) < FEW):
            return few(block, scanner.looks.ends(block, raws[0]))
        from postmortem.scan import vector

        return vector.found(scanner, block, variants, raws)

    def _answer(self, block: bytes) -> bytes:
        """What a child says of a block."""
        self._size += len(block)
        found = self._find(block)
        return b"" if found is None else _packed(found)

    def helpers(self) -> list[Helper]:
        """The children, once the input is big; none where one processor or no memory is left for them."""
        if self._helpers is None and self._size > BIG and not _alone:
            self._helpers = []
            try:
                for _ in range(min(MOST, processors())):
                    self._helpers.append(Helper(self._answer))
            except OSError:
                self.close()
        return self._helpers or []

    def close(self) -> None:
        """Ends the children."""
        for helper in self._helpers or ():
            helper.close()
        self._helpers = []


def _by_arrays(scanner: Scanner, block: bytes) -> Found:
    from postmortem.scan.vector import find

    return find(scanner, block)


def _packed(found: Found | Few) -> bytes:
    """The same as 64-bit numbers: how many lines, 1 for arrays, and the ends or the arrays."""
    if isinstance(found, Few):
        return array("q", (found.total, 0, *chain.from_iterable(found.ends))).tobytes()
    head = array("q", (found.total, 1)).tobytes()
    return head + found.lines.tobytes() + found.patterns.tobytes() + found.starts.tobytes()


def _unpacked(told: bytes) -> Found | Few | None:
    if not told:
        return None
    numbers = memoryview(told).cast("q")
    if not numbers[1]:
        ends = iter(numbers[2:])
        return Few(numbers[0], list(zip(ends, ends, strict=True)))
    from postmortem.scan import vector

    return vector.unpacked(numbers[0], numbers[2:])


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
