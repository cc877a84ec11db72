"""Bytes of whole lines -> the lines that a reader sees, all at once where nothing in them needs a closer look."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

_PLAIN = bytes(b for b in range(256) if b in (9, 10) or (b >= 32 and b != 127))
REMEMBERED = 6 << 20  # bytes of the runs whose lines are remembered, those asked for last
EACH = 1 << 10  # bytes that it takes to remember even a short one


def clean(data: bytes) -> bool:
    """Whether the bytes have no control character but tab and newline, so that they show as they stand in UTF-8."""
    return not data.translate(None, _PLAIN)


def lines_of(data: bytes, longest: int) -> list[str] | None:
    """The lines of clean UTF-8, or None where one is over `longest` bytes or is not as plain as that."""
    if not clean(data):
        return None
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        return None
    if not lines[-1]:
        lines.pop()
    widest = 1 if data.isascii() else 4  # bytes of a character
    return lines if len(data) <= longest or max(map(len, lines)) * widest <= longest else None


class Memory:
    """The lines of the runs that were read last, in bounded memory."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._limit = limit
        self._bytes = 0
        self._kept: OrderedDict[tuple[int, int], tuple[bytes, Sequence[str]]] = OrderedDict()  # holds the bytes too

    def of(self, data: bytes, how: int, make: Callable[[], Sequence[str]]) -> Sequence[str]:
        """What `make` says of the bytes, or said before where they were read in the same way."""
        known = self._kept.pop((id(data), how), None)
        if known is None:
            known = (data, make())
            self._bytes += len(data) + EACH
        self._kept[id(data), how] = known
        while self._bytes > self._limit and len(self._kept) > 1:
            self._bytes -= len(self._kept.popitem(last=False)[1][0]) + EACH
        return known[1]
