"""Compiled scan databases in the user's cache folder, which may be missing, stale, foreign, damaged or read-only."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MAGIC = b"postmortem scan 1\n"  # raise the number when what `needle` makes of a pattern changes
LIMIT = 64 << 20  # bytes


def user_cache() -> Path:
    """The folder for this user's caches (`$XDG_CACHE_HOME/postmortem`, else `~/.cache/postmortem`)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return Path(base if os.path.isabs(base) else os.path.expanduser("~/.cache")) / "postmortem"


def cache_file(folder: Path, patterns: Sequence[str], version: str) -> Path:
    """The file for these patterns; another version of the engine or of us has another name."""
    told = json.dumps([MAGIC.decode(), version, list(patterns)]).encode()
    return folder / f"scan-{hashlib.sha256(told).hexdigest()[:32]}"


def load(file: Path) -> tuple[dict[str, Any], bytes] | None:
    """What `save` wrote, or None: it is not there, not ours, writable by others, or damaged."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as handle:
            status = os.fstat(handle.fileno())
            ours = status.st_uid == os.geteuid() and not status.st_mode & 0o022
            if not stat.S_ISREG(status.st_mode) or not ours or status.st_size > LIMIT:
                return None
            data = handle.read()
    except OSError:
        return None
    digest, body = data[len(MAGIC) : len(MAGIC) + 32], data[len(MAGIC) + 32 :]
    if not data.startswith(MAGIC) or hashlib.sha256(body).digest() != digest:
        return None
    head, _, database = body.partition(b"\n")
    return json.loads(head), database


def save(file: Path, head: dict[str, Any], database: bytes) -> None:
    """Keep it for the next time; where that is not possible nothing happens."""
    body = json.dumps(head).encode() + b"\n" + database
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".scan-", dir=file.parent)
    except OSError:
        return
    try:
        with open(descriptor, "wb") as handle:
            handle.write(MAGIC + hashlib.sha256(body).digest() + body)
        os.replace(name, file)
    except OSError:
        os.unlink(name)
