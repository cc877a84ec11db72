"""A tar stream, whole or not -> its members in stream order, without ever extracting or following anything."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field

from postmortem.bundle.member import MEMBERS, TOTAL, Member, absent, climbs, shown, unpacked
from postmortem.bundle.streams import Reader, Unpacked
from postmortem.model import Damage, State

RECORD = 512
PREAMBLE = 1 << 20  # bytes of banner and other noise that may stand before the first header
LONG_NAME = 64 << 10
PREAMBLE_NAME = "before-the-archive.txt"
_REFUSED = {
    tarfile.LNKTYPE: "a hard link",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.CHRTYPE: "a character device",
    tarfile.BLKTYPE: "a block device",
    tarfile.FIFOTYPE: "a FIFO",
    tarfile.GNUTYPE_SPARSE: "a sparse file in GNU's old form",
}
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)


def tar_offset(head: bytes) -> int:
    """Where the first tar header begins, or -1."""
    at = head.find(b"ustar")
    while at >= 0:
        if at >= 257 and _header(head[at - 257 : at - 257 + RECORD]):
            return at - 257
        at = head.find(b"ustar", at + 1)
    return 0 if _header(head[:RECORD]) else -1  # a tar of before 1988 has no magic


def _header(block: bytes) -> tarfile.TarInfo | None:
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return None
    return header if header.size >= 0 else None


@dataclass(slots=True)
class TarWalk:
    """One pass over a tar stream."""

    reader: Reader
    source: Unpacked  # what knows why the bytes ended
    damage: list[Damage]
    ended: bool = False  # an end mark was seen
    _names: dict[str, int] = field(default_factory=dict)
    _bytes: int = 0

    def walk(self) -> Iterator[Member]:
        """The members; each must be read (or left) before the next is asked for."""
        yield from self._preamble()
        count = 0
        override: dict[str, str] = {}
        while header := self._next():
            if header.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE):
                override |= self._extension(header)
                continue
            if header.type == tarfile.DIRTYPE or override.get("path", header.name).endswith("/"):
                override = {}
                continue
            count += 1
            if count > MEMBERS or self._bytes > TOTAL:
                self._tell("", State.REFUSED, f"stopped after {count - 1} members and {self._bytes} bytes: a bomb")
                return
            yield from self._member(header, override)
            override = {}
        self._finish()

    def _preamble(self) -> Iterator[Member]:
        offset = tar_offset(self.reader.peek(PREAMBLE))
        if offset > 0:
            noise = self.reader.read(offset)
            yield Member(PREAMBLE_NAME, len(noise), State.WHOLE, "", lambda: iter((noise,)))

    def _next(self) -> tarfile.TarInfo | None:
        """The next header; zero blocks and what is no header are skipped."""
        skipped = 0
        while block := self.reader.read(RECORD):
            if len(block) < RECORD:
                if block.strip(b"\0"):
                    self._tell("", State.CUT, "the archive is cut off in the middle of a header")
                break
            if not block.strip(b"\0"):
                self.ended = True
                continue
            if header := _header(block):
                self._skipped(skipped)
                self.ended = False
                return header
            skipped += RECORD
        self._skipped(skipped)
        return None

    def _skipped(self, size: int) -> None:
        if size:
            self._tell("", State.CUT, f"{size} bytes of the archive are no tar header; members may be missing")

    def _extension(self, header: tarfile.TarInfo) -> dict[str, str]:
        """What a GNU or pax header says of the next member."""
        data = self._skip_padding(header.size, self.reader.read(min(header.size, LONG_NAME)))
        if header.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
            key = "path" if header.type == tarfile.GNUTYPE_LONGNAME else "linkpath"
            return {key: data.split(b"\0")[0].decode("utf-8", "surrogateescape")}
        if header.type == tarfile.XGLTYPE:
            return {}
        return _pax(data)

    def _skip_padding(self, size: int, data: bytes) -> bytes:
        for _ in self.reader.pieces(size - len(data) + -size % RECORD):
            pass
        return data

    def _member(self, header: tarfile.TarInfo, override: dict[str, str]) -> Iterator[Member]:
        name = override.get("path", header.name)
        size = int(override["size"]) if override.get("size", "").isdigit() else header.size
        path = self._unique(shown(name.removeprefix("./")))
        refused = climbs(name) or _REFUSED.get(header.type, "")
        if not refused and header.type not in _FILES:
            refused = f"an entry of the unknown type {header.type!r}"
        if not refused and any(key.startswith("GNU.sparse") for key in override):
            refused = "a sparse file"
        has_data = header.type in _FILES or header.type not in tarfile.SUPPORTED_TYPES
        content = _Content(self.reader, size if has_data else 0)
        if refused:
            self._tell(path, State.REFUSED, f"{refused}; not read")
            yield absent(path, State.REFUSED, refused)
        else:
            member = Member(path, size, State.WHOLE if size else State.EMPTY, "", lambda: iter(()))
            member.blocks = lambda: self._blocks(member, content)
            yield member
            self._drain(member, content)
        self._bytes += content.given
        content.finish()

    def _blocks(self, member: Member, content: _Content) -> Iterator[bytes]:
        yield from unpacked(member, content.blocks(), self._mark)
        self._drain(member, content)

    def _drain(self, member: Member, content: _Content) -> None:
        content.finish()
        if content.missing and member.state in (State.WHOLE, State.EMPTY):
            got = content.given
            reason = self.source.damage or "the archive ends"
            self._mark(member, State.CUT, f"{got} of {content.size} bytes are there: {reason}")

    def _mark(self, member: Member, state: State, reason: str) -> None:
        member.state, member.reason = state, reason
        self._tell(member.path, state, reason)

    def _tell(self, path: str, state: State, reason: str) -> None:
        self.damage.append(Damage(path, state, reason))

    def _finish(self) -> None:
        if self.source.damage:
            self._tell("", State.REFUSED if self.source.bomb else State.CUT, self.source.damage)
        elif not self.ended:
            self._tell("", State.CUT, "the archive has no end mark: members may be missing")

    def _unique(self, path: str) -> str:
        seen = self._names.get(path, 0)
        self._names[path] = seen + 1
        return f"{path}~{seen + 1}" if seen else path


class _Content:
    """The bytes of one member, as far as they arrive."""

    def __init__(self, reader: Reader, size: int) -> None:
        self.size, self.given = size, 0
        self._reader = reader
        self._padded = False

    @property
    def missing(self) -> int:
        return self.size - self.given

    def blocks(self) -> Iterator[bytes]:
        for piece in self._reader.pieces(self.missing):
            self.given += len(piece)
            yield piece

    def finish(self) -> None:
        for _ in self.blocks():
            pass
        if not self._padded:
            self._reader.read(-self.size % RECORD)
            self._padded = True


def _pax(data: bytes) -> dict[str, str]:
    """The records of a pax header: `27 path=some/long/name` and a newline each."""
    told: dict[str, str] = {}
    while data:
        length, _, _ = data.partition(b" ")
        if not length.isdigit() or not 0 < int(length) <= len(data):
            break
        record = data[len(length) + 1 : int(length)]
        key, _, value = record.rstrip(b"\n").partition(b"=")
        told[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        data = data[int(length) :]
    return told
