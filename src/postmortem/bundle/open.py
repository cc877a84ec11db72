"""A path or a stream -> `Bundle`: members in stream order, manifest, damage. Nothing is extracted to disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, Self

from postmortem.bundle.folder import FolderWalk
from postmortem.bundle.manifest import Manifest, capture_manifest, manifest_of
from postmortem.bundle.member import Member, shown
from postmortem.bundle.streams import Reader, Unpacked, read_blocks
from postmortem.bundle.tarwalk import PREAMBLE, RECORD, TarWalk, tar_offset
from postmortem.errors import BundleError
from postmortem.model import Damage, State

BundleKind = Literal["bundle", "capture", "folder", "file", "tar", "sosreport"]
Blocks = Callable[[], Iterator[bytes]]
NOTE_LIMIT = 16 << 20  # bytes of a manifest or note that are read into memory

_FOREIGN = {
    b"PK\x03\x04": "a zip archive",
    b"\xfd7zXZ": "packed with xz",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
    b"BZh": "packed with bzip2",
    b"7z\xbc\xaf": "a 7z archive",
}


class Bundle:
    """An opened input; use it in a `with` statement and walk it once."""

    def __init__(self, name: str, kind: BundleKind, members: Iterator[Member], damage: list[Damage]) -> None:
        self.name = name
        self.kind: BundleKind = kind
        self.damage = damage
        self.manifest: Manifest | None = None
        self.on_disk = 0  # bytes of the file, packed or not, where it is one
        self._members = members
        self._open = ExitStack()
        self._notes: dict[str, bytearray] = {}

    @property
    def complete(self) -> bool:
        """Whether nothing says that a part is missing."""
        if self.manifest is not None and not self.manifest.complete:
            return False
        return not any(d.state in (State.CUT, State.REFUSED) for d in self.damage)

    @property
    def redacted(self) -> bool | None:
        """What the collector says of it; None when nobody says anything."""
        return self.manifest.redacted if self.manifest else None

    def walk(self) -> Iterator[Member]:
        """The members in stream order; the blocks of each are read before the next is asked for, or never."""
        first = True
        for member in self._members:
            if first and self.kind == "tar" and member.path == "START":
                self.kind = "capture"
            if first and self.kind in ("tar", "folder") and member.path.startswith(("sosreport-", "sos_commands/")):
                self.kind = "sosreport"
            first = first and member.path == "before-the-archive.txt"
            if self._is_note(member.path):
                member.blocks = self._noting(member.path, member.blocks)
            yield member
        self._finish()

    def _is_note(self, path: str) -> bool:
        if self.kind == "capture" and (path in ("START", "END") or path.startswith("notes/")):
            return True
        return path == "manifest.json" or path.endswith("/manifest.json")

    def _noting(self, path: str, blocks: Blocks) -> Blocks:
        """The same blocks, which also leave a copy in the notes."""

        def noted() -> Iterator[bytes]:
            kept = self._notes[path] = bytearray()
            for block in blocks():
                kept += block[: NOTE_LIMIT - len(kept)]
                yield block

        return noted

    def _finish(self) -> None:
        """Read what the collector noted, now that all of it came by."""
        found = [manifest_of(data) for path, data in self._notes.items() if path.endswith("manifest.json")]
        self.manifest = next((manifest for manifest in found if manifest is not None), None)
        if self.manifest is not None:
            self.kind = "bundle"
        elif self.kind == "capture":
            texts = {path: data.decode("utf-8", "replace") for path, data in self._notes.items()}
            notes = [text for path, text in texts.items() if path.startswith("notes/")]
            self.manifest = capture_manifest(texts.get("START", ""), texts.get("END", ""), notes)
            if "END" not in texts:
                reason = "the capture has no END member: the collector did not finish"
                self.damage.append(Damage("", State.CUT, reason))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def closes(self, file: BinaryIO) -> Self:
        """The same bundle, which closes this file at the end."""
        self._open.callback(file.close)
        self.on_disk = os.fstat(file.fileno()).st_size
        return self


def open_bundle(path: str | Path, stdin: BinaryIO | None = None) -> Bundle:
    """The input at a path; `-` is the given standard input.

    Raises BundleError when it cannot be read at all: it is not there, may not be read, or is neither text nor archive.
    """
    if str(path) == "-":
        if stdin is None:
            raise BundleError("there is no standard input to read")
        return _stream(stdin, "-")
    place = Path(path)
    try:
        mode = os.stat(place).st_mode
    except OSError as error:
        raise BundleError(f"cannot read {shown(str(path))}: {error.strerror}") from None
    if stat.S_ISDIR(mode):
        return _folder(place)
    if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
        raise BundleError(f"cannot read {shown(str(path))}: it is a device or socket, not a file, archive or folder")
    try:
        file = open(place, "rb")  # noqa: SIM115  # the bundle closes it
    except OSError as error:
        raise BundleError(f"cannot read {shown(str(path))}: {error.strerror}") from None
    try:
        return _stream(file, shown(str(path))).closes(file)
    except BaseException:
        file.close()
        raise


def _folder(place: Path) -> Bundle:
    try:
        os.listdir(place)
    except OSError as error:
        raise BundleError(f"cannot read the folder {shown(str(place))}: {error.strerror}") from None
    damage: list[Damage] = []
    return Bundle(shown(str(place)), "folder", FolderWalk(place, damage).walk(), damage)


def _stream(file: BinaryIO, name: str) -> Bundle:
    source = Unpacked(read_blocks(file))
    reader = Reader(iter(source))
    try:
        head = reader.peek(PREAMBLE)
    except OSError as error:
        raise BundleError(f"cannot read {name}: {error.strerror}") from None
    damage: list[Damage] = []
    empty_tar = len(head) >= 1024 and not head.strip(b"\0")
    if tar_offset(head) >= 0 or empty_tar or _stub(name, head, source):
        return Bundle(name, "tar", TarWalk(reader, source, damage).walk(), damage)
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise BundleError(f"{name} is {what}, which is not read here; unpack it and give the folder or tar file")
    if _binary(head):
        raise BundleError(f"{name} is neither text nor a tar archive")
    return Bundle(name, "file", _one_file(name, reader, source, damage), damage)


def _stub(name: str, head: bytes, source: Unpacked) -> bool:
    """Whether a packed tar was cut off before its first header was complete."""
    likely = name.lower().endswith((".tar.gz", ".tgz")) or b"\0" in head
    return bool(source.damage) and len(head) < RECORD and likely


def _binary(head: bytes) -> bool:
    """Whether the bytes are no text: a log may have holes of zeros, and UTF-16 is full of them."""
    sample = head[:65536].strip(b"\0")
    if not sample or sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return bool(head) and not sample
    odd = sum(sample.count(bytes([byte])) for byte in (*range(7), *range(14, 27), *range(28, 32)))
    return odd * 20 > len(sample)


def _one_file(name: str, reader: Reader, source: Unpacked, damage: list[Damage]) -> Iterator[Member]:
    path = "stdin" if name == "-" else name.rsplit("/", 1)[-1]
    size = len(reader.peek(1))

    def blocks() -> Iterator[bytes]:
        for block in reader.rest():
            member.size += len(block)
            yield block
        if source.damage:
            member.state = State.REFUSED if source.bomb else State.CUT
            member.reason = source.damage
            damage.append(Damage(path, member.state, member.reason))

    member = Member(path, 0, State.WHOLE if size else State.EMPTY, "" if size else "the file is empty", blocks)
    yield member
