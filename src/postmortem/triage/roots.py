"""PATH, GLOB, s3://bucket/prefix -> the bundles in them, in a fixed order."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from postmortem.errors import UsageError
from postmortem.triage.job import Item

ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.partial", ".tar.gz.partial", ".tgz.partial")
OWN_MARKS = ("manifest.json", "START")  # a bundle or a capture that was unpacked


def items(roots: Sequence[str], since: datetime | None = None) -> Iterator[Item]:
    """Every bundle below the roots; paths are relative to their root, and begin with its name where there are several.

    With `since`, files and objects that were written before are left out: they cannot tell of anything later.
    Raises UsageError for a root that is not there.
    """
    names = labels(roots)
    for root, label in zip(roots, names, strict=True):
        for item in of_root(root, since):
            yield Item(f"{label}/{item.path}", item.place, item.stamp) if label else item


def labels(roots: Sequence[str]) -> list[str]:
    """A short name for each of several roots."""
    if len(roots) == 1:
        return [""]
    found: list[str] = []
    for root in roots:
        name = base = root.rstrip("/").rsplit("/", 1)[-1] or "root"
        number = 2
        while name in found:
            name, number = f"{base}~{number}", number + 1
        found.append(name)
    return found


def of_root(root: str, since: datetime | None) -> Iterator[Item]:
    if "://" in root:
        yield from of_store(root, since)
        return
    found: Iterator[Item]
    if os.path.isdir(root):
        top = Path(root)
        found = (Item(relative(p, top), str(p)) for p in bundles(top.absolute()))
    elif os.path.lexists(root):
        found = iter([Item(os.path.basename(root), os.path.abspath(root))])
    else:
        found = of_glob(root)
    yield from (item for item in found if since is None or written(item.place) >= since.timestamp())


def of_store(root: str, since: datetime | None) -> Iterator[Item]:
    from postmortem.triage.objects import SCHEMES, listed

    if not root.startswith(SCHEMES):
        raise UsageError(f"{root} is no address that can be listed; give s3://bucket/prefix, gs:// or az://")
    yield from (i for i in listed(root, since) if i.path.endswith(ARCHIVES) or i.place == root)


def of_glob(pattern: str) -> Iterator[Item]:
    """What a pattern names; paths are relative to its longest part without a magic character."""
    matches = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else []
    if not matches:
        raise UsageError(f"{pattern} is not there; give a file, a folder, a pattern or s3://bucket/prefix")
    parts = Path(pattern).parts
    fixed = parts[: next(i for i, p in enumerate(parts) if glob.has_magic(p))]
    top = Path(*fixed).absolute() if fixed else Path.cwd()
    for match in matches:
        path = Path(match).absolute()
        inner = bundles(path) if path.is_dir() else iter([path])
        yield from (Item(relative(p, top), str(p)) for p in inner)


def bundles(folder: Path) -> Iterator[Path]:
    """The archives below a folder; a folder that holds no archive at all but files is one bundle itself."""
    try:
        entries = sorted(os.scandir(folder), key=lambda e: e.name)
    except OSError:
        return
    files = [e for e in entries if e.is_file()]
    folders = [e for e in entries if e.is_dir(follow_symlinks=False)]
    if any(e.name in OWN_MARKS for e in files) or (files and not holds_archive(folder)):
        yield folder
        return
    for entry in entries:
        if entry in folders:
            yield from bundles(Path(entry.path))
        elif entry.name.endswith(ARCHIVES):
            yield Path(entry.path)


def holds_archive(folder: Path) -> bool:
    return any(name.endswith(ARCHIVES) for _, _, names in os.walk(folder) for name in names)


def relative(path: Path, top: Path) -> str:
    told = os.path.relpath(path, top.absolute())
    return path.name if told == "." else told


def written(place: str) -> float:
    """Seconds since 1970 when a file was written; of a folder, its newest file. The future, when it cannot be said."""
    try:
        status = os.stat(place)
        if not stat.S_ISDIR(status.st_mode):
            return status.st_mtime
        times = [os.lstat(os.path.join(t, n)).st_mtime for t, _, names in os.walk(place) for n in names]
        return max(times, default=status.st_mtime)
    except OSError:
        return float("inf")
