"""A capture stream -> its members, as soon as each is complete; whatever stands before START is a banner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

BLOCK = 512
MAX_MEMBER = 64 << 20


@dataclass(frozen=True, slots=True)
class Member:
    """One complete member of a capture; `mtime` in seconds since 1970."""

    name: str
    data: bytes
    mtime: int = 0


class CaptureReader:
    """Takes the stream's bytes as they come, gives members; knows what came before START and whether it is torn."""

    def __init__(self) -> None:
        self.banner = b""
        self.started = False
        self.torn = ""
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Member]:
        """The members that these bytes complete."""
        if self.torn:
            return
        self._buffer += data
        if not self.started and not self._find_start():
            return
        while (member := self._next()) is not None:
            yield member

    @property
    def left_over(self) -> int:
        """Bytes of a member that is not complete."""
        return len(self._buffer)

    def _find_start(self) -> bool:
        at = self._buffer.find(b"START\0")
        while at >= 0:
            if len(self._buffer) < at + BLOCK:
                return False
            if self._buffer[at + 257 : at + 262] == b"ustar":
                self.banner += bytes(self._buffer[:at])
                del self._buffer[:at]
                self.started = True
                return True
            at = self._buffer.find(b"START\0", at + 1)
        if len(self._buffer) > 1 << 20:  # a chatty login: keep its beginning
            self.banner += bytes(self._buffer[:-BLOCK])[: (1 << 16) - len(self.banner)]
            del self._buffer[:-BLOCK]
        return False

    def take_banner(self) -> bytes:
        """What came before START, or all of it when START never came."""
        return self.banner if self.started else self.banner + bytes(self._buffer[: 1 << 16])

    def _next(self) -> Member | None:
        if len(self._buffer) < BLOCK or not any(self._buffer[:BLOCK]):
            return None
        header = bytes(self._buffer[:BLOCK])
        try:
            size = _check(header)
        except ValueError as error:
            self.torn = str(error)
            return None
        end = BLOCK + -(-size // BLOCK) * BLOCK
        if len(self._buffer) < end:
            return None
        data = bytes(self._buffer[BLOCK : BLOCK + size])
        del self._buffer[:end]
        return Member(_name(header), data, int(header[136:147], 8))


def _check(header: bytes) -> int:
    """The size that a header announces. Raises ValueError where it is none of ours."""
    if header[257:262] != b"ustar":
        raise ValueError("the stream is not a tar any more")
    if int(header[148:154], 8) != sum(header[:148]) + 8 * 32 + sum(header[156:]):
        raise ValueError("a header's checksum is wrong")
    size = int(header[124:135], 8)
    if size > MAX_MEMBER:
        raise ValueError(f"a member of {size} bytes")
    return size


def _name(header: bytes) -> str:
    name, prefix = (part.split(b"\0", 1)[0].decode("utf-8", "replace") for part in (header[:100], header[345:500]))
    return f"{prefix}/{name}" if prefix else name


def pairs(data: bytes) -> dict[str, str]:
    """The `key: value` lines of a START or END member."""
    lines = data.decode("utf-8", "replace").splitlines()
    return {key: value.strip() for key, colon, value in (line.partition(":") for line in lines) if colon}
