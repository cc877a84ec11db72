"""Blocks of a member -> the lines that the scanner nominates, on as many processors as there are."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from postmortem.scan import Few, Scanner, few

if TYPE_CHECKING:
    from postmortem.scan.vector import Found

WARM, BIG = 1 << 20, 8 << 20  # bytes of input from which other threads start, and from which they do all the work
SMALL = 64 << 10  # bytes of a block that no other thread is asked for
FEW = 400  # finds in a block up to which a loop over them is quicker than arrays
CROWD = 3 << 10  # bytes from one find to the next below which threads would only wait for the interpreter's one lock
MOST = 4  # scanning threads: one thread unpacks for them all, and more would wait for it
_alone = False


def stay_alone() -> None:
    """No thread but the caller's scans from now on in this process: one of many children with a limit of memory."""
    global _alone
    _alone = True


class Scanning:
    """A scanner over all members of an input: a small input is scanned here, a big one by a few threads."""

    def __init__(self, scanner: Scanner, scanned: Callable[[int], None] | None = None) -> None:
        self.scanner = scanner
        self._scanned = scanned or (lambda size: None)
        self._size = 0
        self._pool: ThreadPoolExecutor | None = None
        self._crowded = False

    def found(self, blocks: Iterator[bytes]) -> Iterator[tuple[bytes, Found | Few | None]]:
        """Every block in order with what was found in it, or with None where the caller is to look itself."""
        waiting: deque[tuple[bytes, Future[Found | Few]]] = deque()
        for block in blocks:
            self._size += len(block)
            self._scanned(len(block))
            pool = self._helpers() if len(block) > SMALL or waiting else None
            if pool is None:
                yield block, None
                continue
            if self._crowded:
                yield from self._drained(waiting)
                yield block, self._seen(block, self._find(block))
                continue
            waiting.append((block, pool.submit(self._find, block)))
            if len(waiting) > 2 * MOST:
                first, future = waiting.popleft()
                yield first, self._seen(first, future.result())
        yield from self._drained(waiting)

    def _drained(self, waiting: deque[tuple[bytes, Future[Found | Few]]]) -> Iterator[tuple[bytes, Found | Few]]:
        while waiting:
            block, future = waiting.popleft()
            yield block, self._seen(block, future.result())

    def _find(self, block: bytes) -> Found | Few:
        """What stands in a block; arrays are imported only for many finds."""
        scanner = self.scanner
        if scanner.everywhere:
            from postmortem.scan.vector import find

            return find(scanner, block)
        variants, ends = scanner.looked(block)
        if len(variants) == 1 and variants[0] is block and len(ends[0]) < FEW:
            return few(block, ends[0])
        from postmortem.scan import vector

        return vector.found(scanner, block, variants, ends)

    def _seen(self, block: bytes, found: Found | Few) -> Found | Few:
        """Notes whether finds are so many that threads would only wait for each other to report them."""
        finds = len(found.ends if isinstance(found, Few) else found.lines)
        self._crowded = finds * CROWD > len(block)
        return found

    def _helpers(self) -> ThreadPoolExecutor | None:
        """The threads, once the input is big."""
        if self._pool is None and self._size > WARM and not _alone:
            self._pool = ThreadPoolExecutor(min(MOST, processors()), "scan")
        return self._pool if self._size > BIG and not _alone else None

    def close(self) -> None:
        """Ends the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
