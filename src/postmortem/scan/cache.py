"""What was compiled, in the user's cache folder, which may be missing, stale, foreign, damaged or read-only.

A file is named by what it was made of and begins with the digest of its content. It counts only where it and its folder
are this user's and no one else can write them; anything else is as if it was not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MAGIC = b"postmortem scan 4\n"
LIMIT = 64 << 20  # bytes
KEEP = 12  # files of one sort; older ones are removed
OTHERS_WRITE = 0o022


def user_cache() -> Path:
    """The folder for this user's caches (`$XDG_CACHE_HOME/postmortem`, else `~/.cache/postmortem`)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return Path(base if os.path.isabs(base) else os.path.expanduser("~/.cache")) / "postmortem"


def named(folder: Path, sort: str, made_of: object) -> Path:
    """The file for what is made of these JSON values."""
    return folder / f"{sort}-{hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:32]}"


def cache_file(folder: Path, patterns: Sequence[str], version: str) -> Path:
    """The file for these patterns; another version of the engine or of us has another name."""
    return named(folder, "scan", [MAGIC.decode(), version, code(Path(__file__).parent), list(patterns)])


def code(folder: Path) -> list[tuple[str, int, int]]:
    """What tells one state of a package's code from another; nothing where it is not in a folder."""
    if not folder.is_dir():
        return []
    files = [entry for entry in os.scandir(folder) if entry.name.endswith(".py")]
    return sorted((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files)


def load(file: Path) -> tuple[dict[str, Any], bytes] | None:
    """What `save` wrote, or None: it is not there, not ours, writable by others, or damaged."""
    body = kept(file, MAGIC)
    return None if body is None else unpacked(body)


def save(file: Path, head: dict[str, Any], database: bytes) -> None:
    """Keep it for the next time; where that is not possible nothing happens."""
    keep(file, MAGIC, packed(head, database))


def packed(head: dict[str, Any], database: bytes) -> bytes:
    return json.dumps(head).encode() + b"\n" + database


def unpacked(body: bytes) -> tuple[dict[str, Any], bytes]:
    """What `packed` put together."""
    head, _, database = body.partition(b"\n")
    return json.loads(head), database


def kept(file: Path, magic: bytes) -> bytes | None:
    """What `keep` wrote with this magic, or None where the file cannot be trusted or is not there."""
    try:
        if not _ours(os.stat(file.parent)):
            return None
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as handle:
            status = os.fstat(handle.fileno())
            if not stat.S_ISREG(status.st_mode) or not _ours(status) or status.st_size > LIMIT:
                return None
            data = handle.read()
    except OSError:
        return None
    return unsealed(data, magic)


def sealed(magic: bytes, body: bytes) -> bytes:
    """The body behind the digest by which `unsealed` knows it again."""
    return magic + hashlib.sha256(body).digest() + body


def unsealed(data: bytes, magic: bytes) -> bytes | None:
    """The body that was sealed with this magic, or None where the data are damaged."""
    at = len(magic) + hashlib.sha256().digest_size
    body = data[at:]
    sound = data.startswith(magic) and hashlib.sha256(body).digest() == data[len(magic) : at]
    return body if sound else None


def keep(file: Path, magic: bytes, body: bytes) -> None:
    """Writes a file that `kept` reads, whole or not at all; where that is not possible nothing happens."""
    import tempfile

    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".new-", dir=file.parent)
    except OSError:
        return
    try:
        with open(descriptor, "wb") as handle:
            handle.write(sealed(magic, body))
        os.replace(name, file)
        _forget(file)
    except OSError:
        Path(name).unlink(missing_ok=True)


def _ours(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & OTHERS_WRITE


def _forget(newest: Path) -> None:
    """Removes all but the newest files of this sort."""
    sort = newest.name.partition("-")[0]
    files = sorted(newest.parent.glob(f"{sort}-*"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[KEEP:]:
        file.unlink(missing_ok=True)
