"""A finished bundle to where it is safe: HTTP, S3, ssh or a manager's log-push; retried until the deadline.

Each target is served by a child, since name look-ups and dead connections cannot be bounded otherwise.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from postmortem.collect.ship.targets import Bundle, public, sender_of, target_of

__all__ = ["Bundle", "Receipt", "ship_all", "target_of"]

_PAUSE = 0.25  # seconds before the second try; doubled each time


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one target; `target` without its secrets."""

    target: str
    done: bool
    text: str


class Refused(Exception):
    """The receiver will not have it: trying again is no use."""


def ship_all(bundle: Bundle, targets: list[str], until: float) -> list[Receipt]:
    """Sends to all targets at once, until the moment of time.monotonic(); never raises, never waits longer."""
    children = {target: _start(bundle, target, until) for target in targets}
    return [_await(target, *child, until) for target, child in children.items()]


def _start(bundle: Bundle, target: str, until: float) -> tuple[int, int]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            _child(bundle, target, until, write)
        finally:
            os._exit(0)
    os.close(write)
    return pid, read


def _child(bundle: Bundle, target: str, until: float, write: int) -> None:
    with contextlib.suppress(OSError):
        os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.closerange(3, write)
    os.closerange(write + 1, 512)
    done, text = _try(bundle, target, until, lambda word: os.write(write, json.dumps([None, word]).encode() + b"\n"))
    os.write(write, json.dumps([done, text]).encode() + b"\n")


def _try(bundle: Bundle, target: str, until: float, tell: Callable[[str], object]) -> tuple[bool, str]:
    send, pause, tries = sender_of(target), _PAUSE, 0
    while True:
        tries += 1
        try:
            acknowledged = send(bundle, target, max(until - time.monotonic(), 0.1))
            return True, f"{acknowledged}{f' at try {tries}' if tries > 1 else ''}"
        except Refused as error:
            return False, str(error)
        except Exception as error:  # a network has many ways to fail, and each may pass
            problem = str(error) or type(error).__name__
        tell(problem)
        if time.monotonic() + pause >= until:
            return False, f"{problem}, {tries} tries"
        time.sleep(pause)
        pause = min(pause * 2, 4.0)


def _await(target: str, pid: int, read: int, until: float) -> Receipt:
    data = b""
    while (left := until - time.monotonic()) > 0:
        if select.select([read], [], [], left)[0]:
            more = os.read(read, 65536)
            if not more:
                break
            data += more
    os.close(read)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    for _ in range(10):
        with contextlib.suppress(OSError):
            if os.waitpid(pid, os.WNOHANG)[0]:
                break
        time.sleep(0.005)
    words = [json.loads(line) for line in data.splitlines()]
    done, text = words[-1] if words else (None, "no answer in time")
    shown = public(target)
    return Receipt(shown, bool(done), f"shipped to {shown}: {text}" if done else f"not shipped to {shown}: {text}")
