"""OUT: rows.jsonl, append-only and the same in every mode; beside it what is not: work.jsonl and runs.jsonl."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from postmortem.errors import PostmortemError
from postmortem.triage.job import Done
from postmortem.triage.row import Row, line_of

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


@dataclass(slots=True)
class Before:
    """What was known before the last run: the failures by fingerprint, and the paths."""

    fingerprints: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)


def before(folder: Path, start: int) -> Before:
    """From the rows that stand before the offset at which the last run began."""
    known = Before()
    with open(folder / ROWS, "rb") as file:
        for offset, line in lines(file):
            if offset >= start:
                break
            row = parsed(line)
            if row:
                known.paths.add(row["path"])
                known.fingerprints.add(row["fingerprint"])
    return known


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


def read_rows(folder: Path) -> Iterator[tuple[int, Row]]:
    """(offset, row) of every row that stands: of rows for one path the last one. Raises PostmortemError."""
    path = folder / ROWS
    try:
        last: dict[str, int] = {}
        with open(path, "rb") as file:
            for offset, line in lines(file):
                row = parsed(line)
                if row:
                    last[row["path"]] = offset
        with open(path, "rb") as file:
            for offset, line in lines(file):
                row = parsed(line)
                if row and last[row["path"]] == offset:
                    yield offset, row
    except OSError as error:
        raise PostmortemError(f"there are no rows in {folder}: {error.strerror}; run postmortem triage first") from None
