"""One gzip stream of tar members, flushed after each, to one or several sinks that may fail apart from each other."""

from __future__ import annotations

import struct
import tarfile
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO

from postmortem.collect.sinks import Sink

RESERVE = 96 << 10  # for the manifest, inside the size limit
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_COPY_LIMIT = 24 << 20
_CLOSING = 0.1  # seconds that are kept for the ends of the sinks that answer, when another one hangs

Last = Callable[[tuple[str, ...], str], list[tuple[str, bytes, int]]]


@dataclass(frozen=True, slots=True)
class _Mark:
    """The state after a member: everything before it is readable whatever follows."""

    offset: int
    crc: int
    size: int
    name: str


class Archive:
    """Gives each member to every sink; what one sink could not hold is missing there only.

    Each member ends in a full flush, after which the stream owes nothing to what went before: so each sink can be
    closed behind the last member that it holds, with a manifest of its own.
    """

    def __init__(self, sinks: Iterable[Sink], max_size: int) -> None:
        self.sinks = list(sinks)
        self._max = max(max_size, 2 * RESERVE)
        self._copy: list[bytes] | None = [] if self._max <= _COPY_LIMIT else None
        self._marks = [_Mark(len(_GZIP_HEADER), 0, 0, "")]
        self._give(_GZIP_HEADER)

    @property
    def names(self) -> tuple[str, ...]:
        """The members that were taken."""
        return tuple(mark.name for mark in self._marks[1:])

    @property
    def full(self) -> str:
        """Why no sink takes any more, or ""."""
        return self.sinks[0].full if self.sinks and all(sink.full for sink in self.sinks) else ""

    def add(self, name: str, data: bytes, mtime: int, until: float = float("inf")) -> str:
        """Gives a member to the sinks; returns why not, or ""."""
        if self.full and self._copy is None:
            return self.full
        plain = _tar(name, data, mtime)
        packed = _pack(plain, zlib.Z_FULL_FLUSH)
        last = self._marks[-1]
        if last.offset + len(packed) > self._max - RESERVE:
            return "the size limit"
        self._marks.append(_Mark(last.offset + len(packed), zlib.crc32(plain, last.crc), last.size + len(plain), name))
        self._give(packed)
        for sink in self.sinks:
            sink.relieve(until)
        return ""

    def pump(self) -> None:
        """Moves what waits for the sinks; to be called now and then."""
        for sink in self.sinks:
            sink.pump()

    def close(self, last: Last, until: float = float("inf")) -> None:
        """Ends each sink's stream with the last members, made for what it holds; a full one gives up some for them."""
        soon = until - _CLOSING
        while time.monotonic() < soon and not all(sink.idle for sink in self.sinks):
            for sink in self.sinks:
                sink.pump(0.01)
        for sink in sorted(self.sinks, key=lambda sink: not sink.idle):  # none waits for one that hangs
            self._close(sink, last, until)

    def whole_in(self, sink: Sink) -> bool:
        """Whether the sink holds all that was taken, with its end."""
        return sink.held == len(self._marks) + 1

    def copy(self, last: Last) -> bytes | None:
        """The whole file, ended, from memory; None when it is too big to have been kept there."""
        if self._copy is None:
            return None
        return b"".join(self._copy) + self._ending(last, len(self._marks), "")

    def pour(self, sink: Sink, last: Last, until: float) -> bool:
        """The whole file into a sink that was not there before; false when it would not hold it."""
        if self._copy is None:
            return False
        for packed in self._copy:
            sink.send(packed)
        self.sinks.append(sink)
        sink.settle(until)
        self._close(sink, last, until)
        return self.whole_in(sink)

    def _give(self, packed: bytes) -> None:
        if self._copy is not None:
            self._copy.append(packed)
        for sink in self.sinks:
            if not sink.full:
                sink.send(packed)

    def _close(self, sink: Sink, last: Last, until: float) -> None:
        if not sink.idle:
            return  # it hangs: what it was given is readable, and its child is left alone
        why, held = sink.full, sink.held
        while held > 0 and time.monotonic() < until:
            if why:
                sink.back_to(self._marks[held - 1].offset, held)
                if not sink.settle(until) or sink.full:
                    return
            sink.send(self._ending(last, held, why))
            if not sink.settle(until):
                return
            if not sink.full:
                break
            why = sink.full
            if held <= 2:
                break  # START alone, or a pipe whose reader is gone: leave what there is
            held -= 1
        sink.publish()
        sink.settle(until)

    def _ending(self, last: Last, held: int, why: str) -> bytes:
        mark = self._marks[held - 1]
        names = tuple(mark.name for mark in self._marks[1:held])
        plain = b"".join(_tar(*member) for member in last(names, why)) + b"\0" * 1024
        crc, size = zlib.crc32(plain, mark.crc), (mark.size + len(plain)) & 0xFFFFFFFF
        return _pack(plain, zlib.Z_FINISH) + struct.pack("<II", crc, size)


def _pack(plain: bytes, end: int) -> bytes:
    deflate = zlib.compressobj(5, zlib.DEFLATED, -15)
    return deflate.compress(plain) + deflate.flush(end)


def _tar(name: str, data: bytes, mtime: int) -> bytes:
    """One member: plain ustar where the name fits."""
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(data), 0o600, mtime
    out = BytesIO()
    try:
        out.write(info.tobuf(tarfile.USTAR_FORMAT))
    except ValueError:  # a name that ustar cannot hold
        out.write(info.tobuf(tarfile.PAX_FORMAT))
    out.write(data)
    out.write(b"\0" * (-len(data) % 512))
    return out.getvalue()
