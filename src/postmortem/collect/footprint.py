"""A collector takes what nobody else wants, and dies before the evidence does."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
_IDLE = 3 << 13


def be_humble() -> None:
    """Idle I/O class, first choice of the OOM killer, and all file descriptors that are allowed.

    The agent lowers its CPU priority for the bulk; this process keeps its own, since it keeps the deadline.
    """
    with suppress(OSError), open("/proc/self/oom_score_adj", "r+") as file:
        if int(file.read()) < 500:
            file.seek(0)
            file.write("500")
    number = _IOPRIO_SET.get(os.uname().machine)
    if number is not None:
        with suppress(OSError):
            ctypes.CDLL(None).syscall(number, 1, 0, _IDLE)
    _more_descriptors()


def _more_descriptors() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 256:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, hard) if hard >= 0 else 256, hard))
