"""Where a bundle's bytes go: children that may hang or fail on a dead disk without taking the collection with them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import time
from collections import deque
from typing import Protocol

_HEAD = struct.Struct(">cQ")
_PENDING = 16 << 20  # bytes that may wait for a slow sink before the collection waits, too


class Place(Protocol):
    """What a sink's child does with the bytes; each method raises OSError."""

    def write(self, data: bytes) -> None: ...
    def back_to(self, offset: int) -> None: ...
    def publish(self) -> str: ...
    def discard(self) -> None: ...
    def end(self) -> None: ...


class Sink:
    """One place, served by a child; `held` messages were kept, and `full` says why no more are.

    The child answers each message in turn. It ends when this side is gone, keeping what it was given.
    """

    def __init__(self, place: Place, name: str, stdout: bool = False) -> None:
        self.name = name
        self.held = 0
        self.full = ""
        self.path = ""
        self._waiting: deque[bytes] = deque()
        self._unanswered: deque[bytes] = deque()
        self._answers = b""
        self._child = 0
        self._inline: Place | None = None
        ours, theirs = socket.socketpair()
        try:
            self._child = os.fork()
        except OSError:  # no more processes: the bytes are written here
            ours.close()
            theirs.close()
            self._inline = place
            return
        if self._child == 0:
            _serve(place, theirs, stdout)
        theirs.close()
        ours.setblocking(False)
        self._socket = ours

    @property
    def idle(self) -> bool:
        """Whether every message was answered."""
        return not self._waiting and not self._unanswered

    def send(self, data: bytes) -> None:
        """Queues a member; it is kept or refused as a whole."""
        self._ask(b"W", data)

    def ready(self, until: float) -> bool:
        """Whether the place can be written: the file was made before the moment; it may be made later."""
        self._ask(b"O", b"")
        return self.settle(until) and not self.full

    def back_to(self, offset: int, held: int) -> None:
        """Takes back what was kept beyond the offset; `held` messages remain."""
        self.held, self.full = held, ""
        self._ask(b"T", str(offset).encode())

    def publish(self) -> None:
        """Gives the file its name; `path` says which one it got."""
        self._ask(b"P", b"")

    def pump(self, seconds: float = 0.0) -> None:
        """Moves what can be moved, waiting at most so long for the child."""
        if self._inline is not None or self.idle or not self._child:
            return
        writers = [self._socket] if self._waiting else []
        readable, writable, _ = select.select([self._socket], writers, [], seconds)
        if writable:
            self._push()
        if readable:
            self._pull()

    def settle(self, until: float) -> bool:
        """Whether all was answered before the moment of time.monotonic()."""
        while not self.idle:
            left = until - time.monotonic()
            if left <= 0:
                return False
            self.pump(min(left, 0.05))
        return True

    def relieve(self, until: float) -> None:
        """Waits while more is queued than memory should hold."""
        while sum(map(len, self._waiting)) > _PENDING and time.monotonic() < until:
            self.pump(0.05)

    def discard(self) -> None:
        """Leaves nothing behind."""
        self._ask(b"D", b"")
        self.settle(time.monotonic() + 5)
        self.leave()

    def leave(self) -> None:
        """Ends the child; one that hangs is killed and not waited for."""
        if self._inline is None and self._child:
            self._socket.close()
            if not self.idle:
                with contextlib.suppress(OSError):
                    os.kill(self._child, signal.SIGKILL)
            for _ in range(20 if self.idle else 1):
                with contextlib.suppress(OSError):
                    if os.waitpid(self._child, os.WNOHANG)[0]:
                        break
                time.sleep(0.005)
            self._child = 0

    def _ask(self, what: bytes, data: bytes) -> None:
        if self._inline is not None:
            self._unanswered.append(what)
            self._answer(*_act(self._inline, what, data, bool(self.full)))
            return
        self._waiting.append(_HEAD.pack(what, len(data)) + data)
        self._unanswered.append(what)
        self.pump()

    def _push(self) -> None:
        try:
            sent = self._socket.send(self._waiting[0])
        except BlockingIOError:
            return
        except OSError as error:
            self._lost(error)
            return
        rest = self._waiting.popleft()[sent:]
        if rest:
            self._waiting.appendleft(rest)

    def _pull(self) -> None:
        try:
            got = self._socket.recv(65536)
        except BlockingIOError:
            return
        except OSError as error:
            self._lost(error)
            return
        if not got:
            self._lost(OSError(0, "its writer died"))
            return
        *lines, self._answers = (self._answers + got).split(b"\n")
        for line in lines:
            self._answer(*json.loads(line))

    def _answer(self, wrong: str, path: str) -> None:
        what = self._unanswered.popleft()
        if wrong:
            self.full = self.full or wrong
        elif what == b"W" and not self.full:
            self.held += 1
        elif what == b"P":
            self.path = path

    def _lost(self, error: OSError) -> None:
        self.full = self.full or error.strerror or "its writer died"
        self._waiting.clear()
        self._unanswered.clear()


def _act(place: Place, what: bytes, data: bytes, failed: bool) -> tuple[str, str]:
    """What went wrong, or "", and the published name."""
    try:
        if what in (b"W", b"O"):
            if failed:
                return "an earlier write failed", ""
            place.write(data)
        elif what == b"T":
            place.back_to(int(data))
        elif what == b"D":
            place.discard()
        else:
            return "", place.publish()
    except OSError as error:
        return error.strerror or "the write failed", ""
    except Exception as error:  # a cipher's own
        return str(error) or type(error).__name__, ""
    return "", ""


def _serve(place: Place, link: socket.socket, stdout: bool) -> None:
    """The child: never returns."""
    try:
        _alone(link.fileno(), stdout)
        _loop(place, link)
        link.close()
        place.end()
    finally:
        os._exit(0)


def _alone(link: int, stdout: bool) -> None:
    """Nothing of ours may keep the caller's pipes open, and nobody's signal ends us before the last byte."""
    with contextlib.suppress(OSError):
        os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 2) if stdout else (0, 1, 2):
        os.dup2(null, fd)
    os.closerange(3, link)
    os.closerange(link + 1, 512)


def _loop(place: Place, link: socket.socket) -> None:
    failed = False
    while len(head := _exactly(link, _HEAD.size)) == _HEAD.size:
        what, size = _HEAD.unpack(head)
        data = _exactly(link, size)
        if len(data) < size:
            break  # our other half died in the middle of a member
        wrong, path = _act(place, what, data, failed)
        failed = bool(wrong) or (failed and what != b"T")
        with contextlib.suppress(OSError):  # it died; what it had sent is kept all the same
            link.sendall(json.dumps([wrong, path]).encode() + b"\n")


def _exactly(link: socket.socket, size: int) -> bytes:
    """So many bytes, or fewer at the end."""
    out = bytearray()
    while len(out) < size:
        try:
            got = link.recv(min(size - len(out), 1 << 18))
        except ConnectionResetError:
            continue  # told once, for answers that it never read; what it had sent is still there
        if not got:
            break
        out += got
    return bytes(out)
