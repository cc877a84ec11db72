"""One file of an input, and what both kinds of input (folders, tar streams) refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from postmortem.bundle.streams import GZIP, Unpacked
from postmortem.model import State
from postmortem.scan.escapes import printable

MEMBERS = 200_000  # more than that is a bomb
DEPTH = 40  # folders
TOTAL = 256 << 30  # bytes of content


@dataclass(slots=True)
class Member:
    """A file of the input; `state` is final when its blocks were read."""

    path: str
    size: int
    state: State
    reason: str
    blocks: Callable[[], Iterator[bytes]]


def nothing() -> Iterator[bytes]:
    """The blocks of a member that cannot be read."""
    return iter(())


def absent(path: str, state: State, reason: str) -> Member:
    return Member(path, 0, state, reason, nothing)


def shown(name: str) -> str:
    """A name that can be printed and written as UTF-8."""
    return printable(name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def climbs(name: str) -> str:
    """Why a name of an archive must not be followed, or nothing."""
    if name.startswith(("/", "\\")) or name[1:3] == ":\\":
        return "an absolute path"
    if ".." in name.replace("\\", "/").split("/"):
        return "a path that climbs out of the archive"
    if name.count("/") > DEPTH:
        return f"more than {DEPTH} folders deep"
    return ""


def unpacked(member: Member, blocks: Iterator[bytes], told: Callable[[Member, State, str], None]) -> Iterator[bytes]:
    """The blocks of a member, unpacked when it is gzip itself (a rotated log); `told` hears of damage."""
    first = next(blocks, b"")
    if not first.startswith(GZIP):
        if first:
            yield first
        yield from blocks
        return
    source = Unpacked(_chain(first, blocks))
    yield from source
    if source.damage:
        told(member, State.REFUSED if source.bomb else State.CUT, source.damage)


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest
