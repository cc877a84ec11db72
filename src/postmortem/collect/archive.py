"""One gzip stream of tar members, flushed after each, that can step back when the disk is full."""

from __future__ import annotations

import os
import struct
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

from postmortem.errors import CollectError

RESERVE = 96 << 10  # for the manifest, inside the size limit
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


@dataclass(frozen=True, slots=True)
class _Mark:
    """The state after a member: everything before it is readable whatever follows."""

    offset: int
    crc: int
    size: int
    name: str


class Archive:
    """Writes FILE.partial (0600) and renames it at the end; `path` None is standard output.

    Raises CollectError when the file cannot be made. A full disk is no error: `full` says so, and `close` gives up the
    last members until the manifest fits.
    """

    def __init__(self, path: str | None, max_size: int) -> None:
        self.full = ""
        self._path = path
        self._max = max(max_size, 2 * RESERVE)
        self._fd, self.partial = (1, "") if path is None else _open(path)
        self._deflate = zlib.compressobj(5, zlib.DEFLATED, -15)
        self._marks = [_Mark(0, 0, 0, "")]
        try:
            self._write(_GZIP_HEADER)
        except OSError as error:
            self.full = error.strerror or "the write failed"
        self._marks = [_Mark(len(_GZIP_HEADER), 0, 0, "")]

    @property
    def names(self) -> tuple[str, ...]:
        """The members that are in the archive now."""
        return tuple(mark.name for mark in self._marks[1:])

    def add(self, name: str, data: bytes, mtime: int) -> str:
        """Stores a member; returns why not, or ""."""
        if self.full:
            return self.full
        plain = _tar(name, data, mtime)
        attempt = self._deflate.copy()
        packed = attempt.compress(plain) + attempt.flush(zlib.Z_FULL_FLUSH)
        if self._marks[-1].offset + len(packed) > self._max - RESERVE:
            return "the size limit"
        try:
            self._write(packed)
        except OSError as error:
            self.full = error.strerror or "the write failed"
            self._back_to(self._marks[-1])
            return self.full
        self._deflate = attempt
        self._mark(name, packed, plain)
        return ""

    def drop(self) -> None:
        """Leaves nothing behind."""
        if self._path is not None:
            os.close(self._fd)
            os.unlink(self.partial)

    def close(self, last: Callable[[], list[tuple[str, bytes, int]]]) -> str:
        """Writes the last members (made anew when room had to be made), ends the stream; returns the file's name."""
        while True:
            plain = b"".join(_tar(*member) for member in last()) + b"\0" * 1024
            end = self._deflate.copy()
            packed = end.compress(plain) + end.flush(zlib.Z_FINISH)
            mark = self._marks[-1]
            trailer = struct.pack("<II", zlib.crc32(plain, mark.crc), (mark.size + len(plain)) & 0xFFFFFFFF)
            try:
                self._write(packed + trailer)
                break
            except OSError as error:
                self.full = error.strerror or "the write failed"
                self._back_to(mark)
                if len(self._marks) <= 2 or self._path is None:
                    break  # START alone, or a pipe whose reader is gone: leave what there is
                self._marks.pop()
                self._back_to(self._marks[-1])
        return self._publish()

    def _mark(self, name: str, packed: bytes, plain: bytes) -> None:
        last = self._marks[-1]
        self._marks.append(_Mark(last.offset + len(packed), zlib.crc32(plain, last.crc), last.size + len(plain), name))

    def _back_to(self, mark: _Mark) -> None:
        if self._path is not None:
            os.ftruncate(self._fd, mark.offset)
            os.lseek(self._fd, mark.offset, os.SEEK_SET)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]

    def _publish(self) -> str:
        if self._path is None:
            return "-"
        os.close(self._fd)
        try:
            os.replace(self.partial, self._path)
        except OSError:
            return self.partial  # as good, under its working name
        return self._path


def _open(path: str) -> tuple[int, str]:
    """A new FILE.partial; one that a killed collection left is evidence and stays."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    for n in range(100):
        partial = f"{path}{f'.{n}' if n else ''}.partial"
        try:
            return os.open(partial, flags, 0o600), partial
        except FileExistsError:
            continue
        except OSError as error:
            raise CollectError(f"cannot write {partial}: {error.strerror}; give another place with -o") from error
    raise CollectError(f"a hundred {path}.*.partial are there already; remove them or give another name with -o")


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
