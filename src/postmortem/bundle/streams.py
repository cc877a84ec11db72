"""Streams of bytes that may end early: gzip undone in bounded memory, and a reader that looks ahead."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, BinaryIO

BLOCK = 1 << 20
OUT = 1 << 20  # bytes unpacked at once: threads meet once for each
START, DEPTH = 768 << 10, 64  # bytes from which another thread unpacks, and how many blocks of OUT it may be ahead
GZIP = b"\x1f\x8b"
BOMB_FROM = 128 << 20  # bytes of output before the ratio is looked at
BOMB_RATIO = 400  # logs pack 10 to 60 times smaller; zeros 1,000 times


class Unpacked:
    """Blocks of a file or pipe, unpacked when they are gzip; `damage` says why they ended early."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.damage = ""
        self.bomb = False
        self.packed = False
        self._blocks = ahead(self._unpacked(blocks))

    def __iter__(self) -> Iterator[bytes]:
        return self._blocks

    def _unpacked(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        first = next(blocks, b"")
        while len(first) < len(GZIP) and (more := next(blocks, b"")):
            first += more
        if not first.startswith(GZIP):
            yield from (block for block in (first,) if block)
            yield from blocks
            return
        self.packed = True
        yield from self._inflated(first, blocks)

    def _inflated(self, packed: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
        engine = inflater()
        unpacker = engine.decompressobj(zlib.MAX_WBITS | 16)
        taken, given = len(packed), 0
        while True:
            try:
                block = unpacker.decompress(packed, OUT)
            except (zlib.error, engine.error):
                self.damage = f"the gzip stream is damaged after {given} bytes"
                return
            if block:
                given += len(block)
                used = taken - len(unpacker.unconsumed_tail)
                if given > BOMB_FROM and given > used * BOMB_RATIO:
                    self.damage = (
                        f"refused to unpack more than {given} bytes out of {used >> 10} KiB: a decompression bomb"
                    )
                    self.bomb = True
                    return
                yield block
            packed = unpacker.unconsumed_tail
            if unpacker.eof:
                packed = unpacker.unused_data.lstrip(b"\0") or next(blocks, b"").lstrip(b"\0")
                if not packed.startswith(GZIP[: len(packed)]) or not packed:
                    return  # padding or foreign bytes after the end
                unpacker = engine.decompressobj(zlib.MAX_WBITS | 16)
            elif not packed and len(block) < OUT:
                packed = next(blocks, b"")
                taken += len(packed)
                if not packed:
                    self.damage = f"the gzip stream is cut off after {given} bytes of content"
                    return


def inflater() -> Any:
    """What undoes gzip: isal, five times as fast as zlib, where it can be imported."""
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib
    return isal_zlib


def ahead(blocks: Iterator[bytes], start: int = START, depth: int = DEPTH) -> Iterator[bytes]:
    """The same blocks; from `start` bytes on another thread makes up to `depth` of them in advance."""
    size = 0
    for block in blocks:
        size += len(block)
        if size >= start:
            break
        yield block
    else:
        return
    made: Queue[bytes | BaseException | None] = Queue(depth)
    left = Event()
    Thread(target=_make, args=(blocks, made, left), name="unpack", daemon=True).start()
    try:
        yield block
        while (item := made.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        left.set()


def _make(blocks: Iterator[bytes], made: Queue[bytes | BaseException | None], left: Event) -> None:
    """Puts the blocks, and None after the last; stops where nobody wants them any more."""

    def put(item: bytes | BaseException | None) -> None:
        while not left.is_set():
            with suppress(Full):
                made.put(item, timeout=0.2)
                return

    try:
        for block in blocks:
            put(block)
            if left.is_set():
                return
        put(None)
    except BaseException as error:  # the one who waits must hear of it
        put(error)


def read_blocks(file: BinaryIO, size: int = BLOCK >> 1) -> Iterator[bytes]:
    """The blocks of an open file."""
    while block := file.read(size):
        yield block


class Reader:
    """Reads exact numbers of bytes from blocks, and looks ahead."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._held = b""
        self._at = 0

    def peek(self, size: int) -> bytes:
        """The next bytes, fewer only at the end, without taking them."""
        while len(self._held) - self._at < size:
            block = next(self._blocks, b"")
            if not block:
                break
            self._held = self._held[self._at :] + block
            self._at = 0
        return self._held[self._at : self._at + size]

    def read(self, size: int) -> bytes:
        """The next bytes, fewer only at the end."""
        data = self.peek(size)
        self._at += len(data)
        return data

    def pieces(self, size: int) -> Iterator[bytes]:
        """The next bytes in blocks, fewer only at the end."""
        while size > 0:
            if self._at >= len(self._held):
                self._held, self._at = next(self._blocks, b""), 0
                if not self._held:
                    return
            piece = self._held[self._at : self._at + size]
            self._at += len(piece)
            size -= len(piece)
            yield piece

    def rest(self) -> Iterator[bytes]:
        """All that follows, in blocks."""
        while True:
            piece = self._held[self._at :] or next(self._blocks, b"")
            self._held, self._at = b"", 0
            if not piece:
                return
            yield piece
