"""A signature beside the bundle, FILE.minisig, by the minisign program."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from contextlib import suppress
from os import killpg


def sign(path: str, key: str, until: float) -> list[str]:
    """What to tell of it; `key` is a secret key's file without a password, `until` a moment of time.monotonic()."""
    program = shutil.which("minisign")
    if program is None:
        return ["not signed: there is no minisign program"]
    argv = [program, "-S", "-s", key, "-m", path, "-t", "postmortem bundle"]
    process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        _, words = process.communicate(timeout=max(until - time.monotonic(), 0.05))
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            killpg(process.pid, signal.SIGKILL)
        return ["not signed: minisign did not end in time"]
    if process.returncode:
        return [f"not signed: {words.decode('utf-8', 'replace').strip() or process.returncode}"]
    return [f"signed as {path}.minisig"]
