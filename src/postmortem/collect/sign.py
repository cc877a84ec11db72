"""A signature beside the bundle, FILE.minisig, by the minisign program."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress


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
            os.killpg(process.pid, signal.SIGKILL)
        return ["not signed: minisign did not end in time"]
    if process.returncode:
        return [f"not signed: {words.decode('utf-8', 'replace').strip() or process.returncode}"]
    return [f"signed as {path}.minisig"]


def check(path: str, public_key: str) -> list[str]:
    """What is wrong with FILE.minisig; `public_key` is the key itself or its file."""
    program = shutil.which("minisign")
    if program is None:
        return ["the signature cannot be checked: there is no minisign program"]
    key = ["-p", public_key] if os.path.exists(public_key) else ["-P", public_key]
    done = subprocess.run([program, "-V", *key, "-m", path], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    words = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return [] if done.returncode == 0 else [f"the signature is not good: {words[-1] if words else done.returncode}"]
