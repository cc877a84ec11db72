"""Runs the agent over a transport, keeps the deadline, feeds the sealer; never waits for anybody without a bound."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from postmortem.collect.attach import Attached
from postmortem.collect.bare import SWEEP, bare_members
from postmortem.collect.seal import Sealer
from postmortem.collect.start import RESERVE, Started, feed, script_for
from postmortem.collect.stream import CaptureReader
from postmortem.collect.transport import READY

_GRACE = 0.35  # seconds that an agent gets to close its stream when we are asked to stop
_STDERR = 1 << 16


class Drive:
    """One run of the agent."""

    def __init__(self, started: Started, sealer: Sealer) -> None:
        self._transport = started.transport
        self._options = started.options
        self._agent = started.agent
        self._sealer = sealer
        self._deadline = started.collected
        self._reader = CaptureReader()
        self._stderr = bytearray()
        self._before_ready = b""
        self._ready = not started.transport.waits
        self._attached = [Attached(one.name, one.run) for one in started.options.attach]
        self.stop = ""

    def run(self) -> str:
        """Until END, the deadline or a signal; returns what went wrong, or ""."""
        problem = self._run()
        if self._transport.is_local and self._has_little():
            for member in bare_members(self._options, self._sealer.names):
                self._sealer.take(member)
        for attached in self._attached:
            attached.end(self._sealer)
        return problem

    def _has_little(self) -> bool:
        """Whether the agent could not start processes, or had no time to come as far as the table of them."""
        end = self._sealer.end
        return end.get("mode") == "bare" if end else SWEEP not in self._sealer.names

    def _run(self) -> str:
        process = self._agent.process
        if process is None:
            self._sealer.add("transport/error", f"{self._agent.problem}\n".encode(), "why there is no evidence")
            return self._agent.problem
        with _stop_signals(self._on_signal):
            try:
                self._listen(process)
            finally:
                self._end(process)
        return self._verdict(process)

    def _on_signal(self, name: str) -> None:
        if not self.stop:
            self.stop = name
            self._deadline = min(self._deadline, time.monotonic() + _GRACE)

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout
        assert process.stderr
        told = False
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ, self._on_output)
            selector.register(process.stderr, selectors.EVENT_READ, self._on_stderr)
            for attached in self._attached:
                attached.start()
                if attached.pipe is not None:
                    selector.register(attached.pipe, selectors.EVENT_READ, attached.on_output)
            while self._is_going_on(process, selector):
                self._sealer.archive.pump()
                if time.monotonic() >= self._deadline - (0 if self.stop else RESERVE / 2):
                    return
                if self.stop and not told and self._transport.is_local:
                    told = True
                    with suppress(ProcessLookupError):
                        os.kill(process.pid, signal.SIGTERM)
                feed(self._agent, not self._transport.waits)
                for key, _ in selector.select(0.02 if self._agent.unsent else 0.05):
                    if not key.data(key.fileobj):
                        selector.unregister(key.fileobj)

    def _is_going_on(self, process: subprocess.Popen[bytes], selector: selectors.BaseSelector) -> bool:
        if process.stdout in selector.get_map() and not self._sealer.end:
            return True
        return not self.stop and any(attached.is_running for attached in self._attached)

    def _on_output(self, pipe: object) -> bool:
        data = _read(pipe)
        if not self._ready:
            data = self._until_ready(data)
        for member in self._reader.feed(data or b""):
            self._sealer.take(member)
        return data is None or bool(data) or not self._ready

    def _until_ready(self, data: bytes | None) -> bytes | None:
        if not data:
            self._ready = data is not None  # closed: what came is a banner
            if self._ready:
                self._reader.banner += self._before_ready
            return data
        self._before_ready += data
        at = self._before_ready.find(READY)
        if at < 0:
            return None
        self._ready = True
        self._reader.banner += self._before_ready[:at]
        self._agent.unsent = script_for(self._options, self._transport, self._deadline)
        return self._before_ready[at + len(READY) :] or None

    def _on_stderr(self, pipe: object) -> bool:
        data = _read(pipe)
        if data and len(self._stderr) < _STDERR:
            self._stderr += data
        return data is None or bool(data)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """The transport's own group is killed when it does not go by itself; what cannot be killed is left."""
        if process.stdin is not None:  # the agent that lingers behind END for a slow transport may go
            with suppress(OSError):
                process.stdin.close()
        patience = time.monotonic() + 0.2
        while self._sealer.end and process.poll() is None and time.monotonic() < patience:
            time.sleep(0.01)
        if process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            patience = time.monotonic() + 0.1
            while process.poll() is None and time.monotonic() < patience:
                time.sleep(0.005)
        if process.stdout is not None:
            with suppress(OSError):
                process.stdout.close()
        if process.stderr is not None:
            while len(self._stderr) < _STDERR and (more := _read(process.stderr)):
                self._stderr += more
            process.stderr.close()
        if process.returncode is None:
            process.returncode = -signal.SIGKILL  # it cannot be killed: nobody will wait for it

    def _verdict(self, process: subprocess.Popen[bytes]) -> str:
        if banner := self._reader.take_banner().replace(READY, b""):
            self._sealer.add("transport/banner", banner, "what the machine said before the agent did")
        words = bytes(self._stderr).decode("utf-8", "replace").strip()
        if not self._reader.started:
            text = f"transport: {self._transport.name}\nexit_status: {process.returncode}\n{words}\n"
            self._sealer.add("transport/error", text.encode(), "why there is no evidence")
            said = words or f"exit status {process.returncode}"
            return self.stop or f"no agent answered over {self._transport.name}: {said}"
        if words:
            self._sealer.add("transport/stderr", words.encode(), "what the agent or the transport complained of")
        if self._sealer.end and not self.stop:
            return self._reader.torn
        return self.stop or self._reader.torn or self._why_ended(process)

    def _why_ended(self, process: subprocess.Popen[bytes]) -> str:
        if time.monotonic() >= self._deadline - RESERVE / 2:
            return "the deadline"
        return f"the stream ended before END (exit status {process.returncode})"


def _read(pipe: object) -> bytes | None:
    """What is there now; None when there is nothing yet, empty at the end."""
    try:
        return os.read(pipe.fileno(), 1 << 16)  # type: ignore[attr-defined]
    except BlockingIOError:
        return None
    except OSError:
        return b""


@contextmanager
def _stop_signals(act: Callable[[str], None]) -> Iterator[None]:
    """TERM, INT and HUP call `act` with their name; elsewhere than in the main thread they stay as they are."""

    def handle(number: int, frame: FrameType | None) -> None:
        act(signal.Signals(number).name)

    old = {}
    with suppress(ValueError):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            old[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
