"""OUT: rows.jsonl, append-only and the same in every mode; beside it what is not: work.jsonl and runs.jsonl."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Self

from postmortem.errors import PostmortemError
from postmortem.triage.job import Done
from postmortem.triage.row import Row, line_of

# how `line_of` begins a row: the texts between the path and the fingerprint hold no quote
HEAD = re.compile(
    rb'\{"path":("(?:[^"\\]|\\.)*"),"status":"\w*","class":(?:null|"[^"\\]*"),"confidence":(?:null|"\w*"),'
    rb'"fingerprint":(?:null|"([0-9a-f]*)")'
)
ROWS, WORK, RUNS = "rows.jsonl", "work.jsonl", "runs.jsonl"


@dataclass(slots=True)
class Seen:
    """What earlier runs read with the same catalogue: where the row of each content and of each path stands."""

    by_id: dict[str, int] = field(default_factory=dict)  # content hash -> offset of a row
    by_path: dict[str, str] = field(default_factory=dict)  # path -> content hash
    by_stamp: dict[str, str] = field(default_factory=dict)  # an object's stamp -> content hash


class Store:
    """The folder of one fleet's rows, open for appending."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            mend(folder / ROWS)
            mend(folder / WORK)
            self._rows = open(folder / ROWS, "ab")  # noqa: SIM115  # closed by close()
            self._work = open(folder / WORK, "ab")  # noqa: SIM115
        except OSError as error:
            raise PostmortemError(
                f"cannot write to {folder}: {error.strerror}; give another folder with --out"
            ) from error
        self.start = self._rows.tell()  # where this run's rows begin

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._rows.close()
        self._work.close()

    def append(self, done: Iterable[Done]) -> None:
        """The rows, and beside them who made them and how long it took; on disk when this returns."""
        finished = [d for d in done if d.row is not None]
        self._rows.write("".join(f"{line_of(d.row)}\n" for d in finished if d.row).encode("utf-8", "replace"))
        self._rows.flush()
        told = [
            {"path": d.item.path, "id": d.id, "stamp": d.item.stamp, "seconds": d.seconds, "worker": d.worker}
            for d in finished
        ]
        self._work.write("".join(json.dumps(t) + "\n" for t in told).encode())
        self._work.flush()

    def note_run(self, told: Mapping[str, Any]) -> None:
        """One line about this run in runs.jsonl."""
        with open(self.folder / RUNS, "a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")

    def seen(self, catalogue: str, version: str, may_keep: Any) -> Seen:
        """What need not be read again; `may_keep(row)` says no to a row that other limits may change."""
        seen = Seen()
        with open(self.folder / ROWS, "rb") as file:
            for offset, line in lines(file):
                row = parsed(line)
                if row and row["id"] and (row["catalogue"], row["version"]) == (catalogue, version) and may_keep(row):
                    seen.by_path[row["path"]] = row["id"]
                    if row["kind"] != "file":
                        seen.by_id[row["id"]] = offset
        with open(self.folder / WORK, "rb") as file:
            for _, line in lines(file):
                told = parsed(line)
                if told and told.get("stamp") and told["id"] in seen.by_id:
                    seen.by_stamp[told["stamp"]] = told["id"]
        return seen

    def row_at(self, offset: int) -> Row:
        """The row that begins at an offset."""
        with open(self.folder / ROWS, "rb") as file:
            file.seek(offset)
            row: Row = json.loads(file.readline())
            return row


def mend(file: Path) -> None:
    """Cut off a last line that a killed run left unfinished."""
    if not file.exists() or not file.stat().st_size:
        return
    with open(file, "r+b") as handle:
        end = handle.seek(0, os.SEEK_END)
        while end and not ends_line(handle, end):
            end -= 1
        handle.truncate(end)


def ends_line(handle: Any, end: int) -> bool:
    handle.seek(end - 1)
    return bool(handle.read(1) == b"\n")


def lines(file: Any) -> Iterator[tuple[int, bytes]]:
    offset = 0
    for line in file:
        yield offset, line
        offset += len(line)


def parsed(line: bytes) -> dict[str, Any] | None:
    try:
        told = json.loads(line)
    except ValueError:
        return None
    return told if isinstance(told, dict) and "path" in told else None


@dataclass(slots=True)
class Standing:
    """Which rows stand: of rows for one path the last one; and what was known before the last run."""

    replaced: set[int] = field(default_factory=set)  # offsets of the rows that do not stand
    fingerprints: set[str] = field(default_factory=set)  # before the last run
    paths: set[str] = field(default_factory=set)


def standing(folder: Path, start: int = 0) -> Standing:
    """A first look at all rows; the last run's begin at the offset `start`. Raises PostmortemError."""
    found = Standing()
    last: dict[str, int] = {}
    with rows_of(folder) as file:
        for offset, line in lines(file):
            if head := head_of(line):
                path = head[0]
                if path in last:
                    found.replaced.add(last[path])
                last[path] = offset
                if offset < start:
                    found.paths.add(path)
                    found.fingerprints.add(head[1])
    return found


def read_rows(folder: Path, known: Standing | None = None) -> Iterator[tuple[int, Row]]:
    """(offset, row) of every row that stands, in their order. Raises PostmortemError."""
    replaced = (known or standing(folder)).replaced
    with rows_of(folder) as file:
        for offset, line in lines(file):
            row = parsed(line) if offset not in replaced else None
            if row:
                yield offset, row


@contextmanager
def rows_of(folder: Path) -> Iterator[BinaryIO]:
    try:
        with open(folder / ROWS, "rb") as file:
            yield file
    except OSError as error:
        raise PostmortemError(f"there are no rows in {folder}: {error.strerror}; run postmortem triage first") from None


def head_of(line: bytes) -> tuple[str, str] | None:
    """The path and the fingerprint of a row, found without reading all of it; None for what is no row."""
    found = HEAD.match(line)
    if found and line.endswith(b"}\n"):
        return json.loads(found[1]), (found[2] or b"").decode()
    row = parsed(line)
    return (row["path"], row.get("fingerprint") or "") if row else None


class Rows:
    """Single rows by where they stand, from one open file."""

    def __init__(self, folder: Path) -> None:
        self._file = open(folder / ROWS, "rb")  # noqa: SIM115  # closed by close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def at(self, offset: int) -> Row:
        """The row that begins at an offset."""
        self._file.seek(offset)
        row: Row = json.loads(self._file.readline())
        return row
