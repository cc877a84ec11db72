"""A worker's side of a child: gives it bundles, stops it at its limits, and makes a new one."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from typing import Any

from postmortem.errors import PostmortemError
from postmortem.triage.job import Options

START_S = 120.0  # for a child to load its catalogue on a busy machine
BUNDLES = 2000  # after which a child is replaced, whatever it leaked
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}


class Stopped(Exception):
    """The child was stopped, or died: `time`, `memory`, or `crash: SIGNAL`; `id` is the hash, where it got so far."""

    def __init__(self, why: str, id: str = "") -> None:
        super().__init__(why)
        self.id = id


class Child:
    """One child process and the pipe to it; not to be shared between threads."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.left = BUNDLES
        self.process = subprocess.Popen(
            [sys.executable, "-m", "postmortem.triage.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,  # the terminal's Ctrl-C is the driver's to handle
        )
        self._rest = b""
        self._hashed = ""
        self._watch = selectors.DefaultSelector()
        self._watch.register(self._out(), selectors.EVENT_READ)
        hello = self._ask(asdict(options), START_S)
        if "fatal" in hello:
            self.end()
            raise PostmortemError(hello["fatal"])
        if hello["catalogue"] != options.catalogue:
            self.end()
            raise PostmortemError(
                f"{socket.gethostname()} has another catalogue than this run: install the same version of postmortem "
                "there, or, where it changed in the meantime, run again with --resume"
            )

    def read(self, path: str, name: str, only_identify: bool) -> dict[str, Any]:
        """The child's answer on the bundle at a local path. Raises Stopped; the child is gone then."""
        self.left -= 1
        self._hashed = ""
        answer = self._ask({"path": path, "name": name, "only_identify": only_identify}, self.options.wall_s)
        if "stopped" in answer:
            self.end()
            raise Stopped(answer["stopped"], self._hashed)
        return answer

    def end(self) -> None:
        """Kill it, with what it started, and close the pipes."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._watch.close()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _out(self) -> int:
        assert self.process.stdout
        return self.process.stdout.fileno()

    def _ask(self, told: dict[str, Any], seconds: float) -> dict[str, Any]:
        try:
            assert self.process.stdin
            self.process.stdin.write(json.dumps(told).encode() + b"\n")
            self.process.stdin.flush()
            until = time.monotonic() + seconds
            answer: dict[str, Any] = json.loads(self._line(until))
            while "hashed" in answer:
                self._hashed = answer["hashed"]
                answer = json.loads(self._line(until))
            return answer
        except (BrokenPipeError, EOFError):
            code = self.process.wait()
            self.end()
            raise Stopped(why_dead(code), self._hashed) from None

    def _line(self, until: float) -> bytes:
        while b"\n" not in self._rest:
            if not self._watch.select(max(0.0, until - time.monotonic())):
                self.end()
                raise Stopped("time", self._hashed)
            block = os.read(self._out(), 1 << 18)
            if not block:
                raise EOFError
            self._rest += block
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def why_dead(code: int) -> str:
    """A child that was killed from outside met the machine's or its container's memory limit."""
    if code == -signal.SIGKILL:
        return "memory"
    if code == -signal.SIGALRM:
        return "time"
    return f"crash: {signal.Signals(-code).name if code < 0 else f'exit {code}'}"


class Children:
    """The children of this process: one for each of its worker threads, kept between batches."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._closed = False

    @contextlib.contextmanager
    def one(self, options: Options) -> Any:
        """A child with these options, for the time of one bundle."""
        child, fine = self._take(options), False
        try:
            yield child
            fine = True
        finally:
            if not fine:
                child.end()
            self._give(child)

    def close(self) -> None:
        """End all, the busy ones too."""
        with self._lock:
            self._closed = True
            idle, busy = self._idle, list(self._busy)
            self._idle = []
        for child in busy:  # whose threads then see it and clean up
            with contextlib.suppress(OSError):
                os.killpg(child.process.pid, signal.SIGKILL)
        for child in idle:
            child.end()

    def _take(self, options: Options) -> Child:
        with self._lock:
            if self._closed:
                raise Stopped("interrupted")
            fitting = next((c for c in self._idle if c.options == options), None)
            if fitting:
                self._idle.remove(fitting)
                self._busy.add(fitting)
                return fitting
            old, self._idle = self._idle, []
        for child in old:
            child.end()
        child = Child(options)
        with self._lock:
            self._busy.add(child)
        return child

    def _give(self, child: Child) -> None:
        alive = child.process.poll() is None
        with self._lock:
            self._busy.discard(child)
            keep = alive and child.left > 0 and not self._closed
            if keep:
                self._idle.append(child)
        if not keep:
            child.end()
