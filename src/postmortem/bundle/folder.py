"""A folder -> its files in sorted order; a link that leaves it and anything but a plain file is refused unopened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from postmortem.bundle.member import DEPTH, MEMBERS, Member, absent, nothing, shown, unpacked
from postmortem.bundle.streams import BLOCK
from postmortem.model import Damage, State

_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)


class FolderWalk:
    """One pass over a folder."""

    def __init__(self, root: Path, damage: list[Damage]) -> None:
        self._root = root
        self._real = os.path.realpath(root)
        self._damage = damage
        self._count = 0

    def walk(self) -> Iterator[Member]:
        yield from self._folder(self._root, "", 0)

    def _folder(self, folder: Path, prefix: str, depth: int) -> Iterator[Member]:
        try:
            names = sorted(os.listdir(folder))
        except OSError as error:
            self._tell(prefix.rstrip("/"), State.DENIED, f"the folder cannot be listed: {error.strerror}")
            return
        for name in names:
            if self._count >= MEMBERS:
                self._tell(prefix, State.REFUSED, f"stopped after {MEMBERS} files")
                return
            yield from self._entry(folder / name, prefix + name, depth)

    def _entry(self, file: Path, path: str, depth: int) -> Iterator[Member]:
        try:
            mode = os.lstat(file).st_mode
        except OSError as error:
            yield self._absent(path, State.DENIED, error.strerror or "cannot be read")
            return
        if stat.S_ISDIR(mode):
            if depth >= DEPTH:
                self._tell(shown(path), State.REFUSED, f"more than {DEPTH} folders deep")
                return
            yield from self._folder(file, path + "/", depth + 1)
        elif stat.S_ISLNK(mode):
            yield from self._link(file, path)
        elif stat.S_ISREG(mode):
            self._count += 1
            yield self._file(file, path)
        else:
            kind = next((name for test, name in _KINDS if test(mode)), "no plain file")
            yield self._absent(path, State.REFUSED, kind)

    def _link(self, file: Path, path: str) -> Iterator[Member]:
        """Nothing for a link inside the folder: what it names is read where it stands."""
        target = os.path.realpath(file)
        if os.path.commonpath([self._real, target]) != self._real:
            yield self._absent(path, State.REFUSED, "a symbolic link that leaves the folder")
        elif not os.path.lexists(target):
            yield self._absent(path, State.MISSING, "a symbolic link to nothing")

    def _file(self, file: Path, path: str) -> Member:
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            return self._absent(path, State.DENIED, error.strerror or "cannot be opened")
        status = os.fstat(descriptor)
        os.close(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return self._absent(path, State.REFUSED, "no plain file any more")
        state = State.WHOLE if status.st_size else State.EMPTY
        member = Member(shown(path), status.st_size, state, "", nothing)
        member.blocks = lambda: unpacked(member, self._read(member, file), self._mark)
        return member

    def _read(self, member: Member, file: Path) -> Iterator[bytes]:
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            self._mark(member, State.DENIED, error.strerror or "cannot be opened")
            return
        given = 0
        try:
            while block := os.read(descriptor, BLOCK):
                given += len(block)
                yield block
        except OSError as error:
            self._mark(member, State.CUT if given else State.DENIED, f"{error.strerror} after {given} bytes")
        finally:
            os.close(descriptor)

    def _absent(self, path: str, state: State, reason: str) -> Member:
        self._tell(shown(path), state, f"{reason}; not read" if state is State.REFUSED else reason)
        return absent(shown(path), state, reason)

    def _mark(self, member: Member, state: State, reason: str) -> None:
        member.state, member.reason = state, reason
        self._tell(member.path, state, reason)

    def _tell(self, path: str, state: State, reason: str) -> None:
        self._damage.append(Damage(path, state, reason))
