"""The content hash of a bundle: of a file its bytes, of a folder its names and bytes."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

BLOCK = 1 << 20


def identity(path: Path) -> str:
    """32 hex digits; empty for what is neither a plain file nor a folder. Raises OSError when it cannot be read."""
    mode = os.stat(path).st_mode
    if stat.S_ISREG(mode):
        return hashed(path).hex()[:32]
    if not stat.S_ISDIR(mode):
        return ""
    digest = hashlib.sha256(b"folder\0")
    for name in files(path):
        digest.update(os.fsencode(name) + b"\0")
        digest.update(hashed(path / name))
    return digest.hexdigest()[:32]


def hashed(path: Path) -> bytes:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.digest()


def files(folder: Path) -> Iterator[str]:
    """The plain files of a folder, relative, in sorted order; links are not followed."""
    for top, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if stat.S_ISREG(os.lstat(os.path.join(top, name)).st_mode):
                yield os.path.relpath(os.path.join(top, name), folder)
