"""Child processes that scan: of threads, Python's one lock lets only one at a time note what hyperscan has found.

A child is a copy of this process, so it has the compiled patterns already. It gets blocks by memory that it shares with
its parent, answers them in order, and ends when the parent's end of its pipe is closed.
"""

from __future__ import annotations

import gc
import mmap
import os
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from struct import Struct

SLOT, SLOTS = 3 << 20, 4  # bytes of the longest block, and how many may wait for a child
_ASKED = Struct("=QQ")  # where a block begins in the shared memory, and its length
_TOLD = Struct("=Q")  # the length of the answer, which follows
Answer = Callable[[bytes], bytes]


class Helper:
    """One child, which says of a block what `answer` says of it. Raises OSError where there can be no child."""

    def __init__(self, answer: Answer) -> None:
        self._given = 0
        self._shared = mmap.mmap(-1, SLOT * SLOTS)
        asked, self._ask, self._told, tell = _pipes()
        try:
            self._pid = _fork()
            if not self._pid:
                os.close(self._ask)
                _serve(answer, self._shared, asked, tell)
        except OSError:
            os.close(self._ask)
            os.close(self._told)
            raise
        finally:
            os.close(asked)
            os.close(tell)

    def give(self, block: bytes) -> None:
        """A block of at most SLOT bytes; at most SLOTS may wait for their answers."""
        at = self._given % SLOTS * SLOT
        self._given += 1
        self._shared[at : at + len(block)] = block
        with suppress(BrokenPipeError):
            os.write(self._ask, _ASKED.pack(at, len(block)))

    def take(self) -> bytes | None:
        """The answer to the oldest block that waits, or None where the child has died."""
        head = _exactly(self._told, _TOLD.size)
        return _exactly(self._told, *_TOLD.unpack(head)) if head else None

    def close(self) -> None:
        """Ends the child, whatever it does."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        os.close(self._ask)
        os.close(self._told)
        self._shared.close()


def _pipes() -> tuple[int, int, int, int]:
    one = os.pipe()
    try:
        return (*one, *os.pipe())
    except OSError:
        for descriptor in one:
            os.close(descriptor)
        raise


def _fork() -> int:
    if sys.platform != "linux":
        raise OSError("a copy of a process with threads is safe on Linux only")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: none of them holds what the child will ask for
        return os.fork()


def _serve(answer: Answer, shared: mmap.mmap, asked: int, tell: int) -> None:
    """The life of a child."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too
        gc.disable()
        while head := _exactly(asked, _ASKED.size):
            at, size = _ASKED.unpack(head)
            told = answer(shared[at : at + size])
            _write(tell, _TOLD.pack(len(told)) + told)
    finally:
        os._exit(0)  # nothing of the parent's is flushed or cleaned up a second time


def _exactly(descriptor: int, size: int) -> bytes | None:
    """So many bytes, or None where the other side has gone."""
    got = os.read(descriptor, size)
    if len(got) == size:
        return got
    pieces = [got]
    while got and (size := size - len(got)):
        pieces.append(got := os.read(descriptor, size))
    return b"".join(pieces) if got else None


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
