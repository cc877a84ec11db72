"""Blocks of bytes as they come out of an archive -> blocks of whole lines in UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

CARRY_LIMIT = 1 << 20  # bytes of an unfinished line that are held whole
KEPT_HEAD, KEPT_TAIL = 64 << 10, 64 << 10  # of a line longer than that

_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def utf8(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same blocks; a member that begins with a UTF-16 mark is recoded to UTF-8."""
    rest = iter(blocks)
    first = next(rest, b"")
    encoding = _WIDE.get(first[:2])
    if encoding is None:
        yield first
        yield from rest
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(first[2:]).encode("utf-8", "replace")
    for block in rest:
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def whole_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in blocks that end at a line end (but for the last); an endless line keeps its head and tail."""
    carry = _Carry()
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if not end:
            carry.add(block)
            continue
        if carry.empty:
            yield block[:end]
        else:
            first = block.find(b"\n") + 1
            carry.add(block[:first])
            yield b"".join((carry.take(), memoryview(block)[first:end]))
        carry.add(block[end:])
    if not carry.empty:
        yield carry.take()


class _Carry:
    """The part of a line that has not ended yet, in bounded memory."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = bytearray()
        self._lost = 0

    @property
    def empty(self) -> bool:
        return not self._head and not self._tail

    def add(self, piece: bytes) -> None:
        if not piece:
            return
        if self.empty:
            self._head = piece
            return
        self._tail += piece
        if len(self._head) + len(self._tail) > CARRY_LIMIT:
            self._shrink()

    def _shrink(self) -> None:
        tail = self._head[KEPT_HEAD:] + self._tail if not self._lost else self._tail
        self._head = self._head[:KEPT_HEAD]
        self._lost += max(0, len(tail) - KEPT_TAIL)
        self._tail = bytearray(tail[-KEPT_TAIL:])

    def take(self) -> bytes:
        marker = b" ...[%d bytes cut]... " % self._lost if self._lost else b""
        line = self._head + marker + bytes(self._tail)
        self._head, self._tail, self._lost = b"", bytearray(), 0
        return line
