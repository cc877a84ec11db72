"""What was made when this package was built (`postmortem/ready/`, written by `prepare.py`), as bytes.

A file there is named by the content of what it was made of, code and data, and begins with the digest of its own. Where
the code or the data is another, the file has another name: it is not found, and what it holds is made anew. The folder
is trusted as the code beside it is.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from postmortem.scan.cache import named, sealed, unsealed

MAGIC = b"postmortem ready 1\n"
PACKAGE = Path(__file__).resolve().parent.parent
FOLDER = PACKAGE / "ready"


def ready(sort: str, code: Sequence[str], data: Sequence[str] = ()) -> bytes | None:
    """What `write` wrote of this sort, made by this code of these data; None where it is stale, damaged or missing."""
    if not FOLDER.is_dir():
        return None
    try:
        return unsealed(_file(FOLDER, sort, code, data).read_bytes(), MAGIC)
    except OSError:
        return None


def write(folder: Path, sort: str, code: Sequence[str], data: Sequence[str], body: bytes) -> None:
    """Writes what `ready` reads instead of older files of the sort. Raises OSError.

    `code` are files and folders of the package. The file is there whole or not at all: the package may be in use.
    """
    folder.mkdir(exist_ok=True)
    file = _file(folder, sort, code, data)
    part = folder / f".{file.name}.{os.getpid()}"
    part.write_bytes(sealed(MAGIC, body))
    part.replace(file)
    for old in set(folder.glob(f"{sort}-*")) - {file}:
        old.unlink(missing_ok=True)


def _file(folder: Path, sort: str, code: Sequence[str], data: Sequence[str]) -> Path:
    return named(folder, sort, [[_content(PACKAGE / name) for name in code], list(data)])


def _content(place: Path) -> str:
    """The digest of a file's content, or of the names and contents of a folder's modules."""
    files = sorted(place.glob("*.py")) if place.is_dir() else [place]
    whole = hashlib.sha256()
    for file in files:
        body = file.read_bytes()
        whole.update(f"{file.name} {len(body)}\n".encode() + body)
    return whole.hexdigest()
