"""Commands of the controller's side, run beside the collection: what the market or the cluster says of the machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from typing import IO

from postmortem.collect.seal import Sealer
from postmortem.model import Probe, State

_SECONDS = 10.0
_BYTES = 1 << 20


class Attached:
    """One command, in a session of its own; bounded in time and size, and never waited for."""

    def __init__(self, name: str, command: str) -> None:
        self.name = name
        self.pipe: IO[bytes] | None = None
        self._runs = False
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._output = bytearray()
        self._started = self._ended = 0.0
        self._problem = ""

    @property
    def is_running(self) -> bool:
        """Whether more may come of it in time."""
        return self._runs and time.monotonic() - self._started <= _SECONDS

    def start(self) -> None:
        self._started = time.monotonic()
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", self._command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            self._problem = f"cannot be run: {error.strerror}"
            return
        assert self._process.stdout
        self.pipe = self._process.stdout
        os.set_blocking(self._process.stdout.fileno(), False)
        self._runs = True

    def on_output(self, pipe: object) -> bool:
        """Takes what is there; false at the end."""
        try:
            data = os.read(pipe.fileno(), 1 << 16)  # type: ignore[attr-defined]
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        self._output += data
        if data and len(self._output) <= _BYTES:
            return True
        self._runs = False
        self._ended = time.monotonic()
        return False

    def end(self, sealer: Sealer) -> None:
        """Kills what still runs and puts the output into the bundle."""
        seconds = (self._ended or time.monotonic()) - self._started if self._started else 0.0
        code = self._close()
        state, reason = State.WHOLE, "" if code == 0 else f"exit status {code}"
        if code is None:
            state, reason = State.TIMEOUT, f"no end for {seconds:.1f} s"
        data = bytes(self._output[:_BYTES])
        if len(self._output) > _BYTES:
            data = data[: data.rfind(b"\n") + 1]  # a cap must not halve a secret
            state, reason = State.CUT, f"the first {len(data)} bytes"
        elif code is None:
            data = data[: data.rfind(b"\n") + 1]
        if not data:
            state, reason = (State.EMPTY if code == 0 else State.MISSING if code else state), self._problem or reason
        member = "attach/" + re.sub(r"[^A-Za-z0-9._-]", "_", self.name)
        probe = Probe(
            f"attach.{self.name}", state, round(seconds, 2), len(data), "asked for by --attach", reason, member
        )
        if data:
            sealer.add(member, data, probe.why, probe)
        else:
            sealer.note(probe)

    def _close(self) -> int | None:
        process = self._process
        if process is None:
            return 127
        if not self._runs:
            for _ in range(10):
                if process.poll() is not None:
                    break
                time.sleep(0.01)
        code = process.poll()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for _ in range(10):
            if process.poll() is not None:
                break
            time.sleep(0.01)
        if process.stdout is not None:
            process.stdout.close()
        if process.returncode is None:
            process.returncode = -signal.SIGKILL  # it cannot be killed: nobody will wait for it
        return code
