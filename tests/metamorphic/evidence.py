"""The files of a case as values, so that a transform is a function from files to files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from postmortem.analysis import analyze
from postmortem.bundle import open_bundle
from postmortem.clock import make_clocks
from postmortem.model import Kind
from postmortem.scan import build
from postmortem.scene import Reading
from postmortem.sources import identify, read_sources
from scoring import Case, Report, files_of, said

Files = Mapping[str, bytes]
Transform = Callable[[Files], Files]
LOGS = frozenset({Kind.KERNEL, Kind.JOURNAL, Kind.LOG})


class DoesNotApply(Exception):
    """The case has nothing that this transform changes."""


@cache
def files(case: Case) -> Files:
    root = case.folder / "files"
    return {str(p.relative_to(root)): p.read_bytes() for p in files_of(case)}


def write(given: Files, folder: Path) -> Path:
    for path, data in given.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


def run(given: Files) -> Report:
    """The report on these files."""
    with tempfile.TemporaryDirectory() as place:
        return analyze(write(given, Path(place) / "evidence"))


@cache
def base(case: Case) -> Report:
    """The report on the case as it is."""
    return run(files(case))


def answer(report: Report) -> tuple[str, str | None]:
    """What has to stay the same: the status and the class of the root cause."""
    return report["status"], said(report)


def readings(given: Files) -> dict[str, Reading]:
    """The files as sources with clocks."""
    with tempfile.TemporaryDirectory() as place:
        folder = write(given, Path(place) / "evidence")
        with open_bundle(folder) as bundle:
            sources = read_sources(bundle, build(("no such line",)), {})
    clocks, _ = make_clocks(sources)
    return {s.path: Reading(s, clocks[s.path]) for s in sources}


def kind(path: str, data: bytes) -> Kind:
    return identify(path, data[: 64 << 10]).kind


def lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").split("\n")


def joined(rows: list[str]) -> bytes:
    return "\n".join(rows).encode("utf-8", "surrogateescape")


def each(given: Files, change: Callable[[str], str], kinds: frozenset[Kind] | None = None) -> Files:
    """The files with their texts changed; DoesNotApply when nothing changed."""
    changed = {}
    for path, data in given.items():
        wanted = b"\0" not in data[:4096] and (kinds is None or kind(path, data) in kinds)
        changed[path] = (
            change(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape") if wanted else data
        )
    if changed == dict(given):
        raise DoesNotApply
    return changed
