"""The process that reads bundles for a worker, one after the other: single-threaded, and limited in memory and time.

Lines of JSON in, lines of JSON out. It ends when its input does, and by its own alarm when its worker is gone.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO
from zoneinfo import ZoneInfo

from postmortem import __version__
from postmortem.analysis import examine
from postmortem.engine import Engine, engine
from postmortem.errors import BundleError, PostmortemError
from postmortem.sources.scanning import stay_alone
from postmortem.triage.identity import identity
from postmortem.triage.row import Row, row_of, without_report

ROWS_KEPT = 256  # of the bundles read last, for copies of them
ALARM_GRACE_S = 5.0  # the worker's own limit comes first


class Reader:
    """Reads one bundle after the other with one engine."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.engine = engine_of(told["signatures"])
        self.now = datetime.fromisoformat(told["now"]) if told["now"] else None
        self.tz = ZoneInfo(told["tz"]) if told["tz"] else None
        self.reports = Path(told["reports"]) if told["reports"] else None
        self.kept: OrderedDict[str, Row] = OrderedDict()

    def read(self, path: str, name: str, only_identify: bool, hashed: Callable[[str], None]) -> tuple[str, Row | None]:
        """The content hash and the row of the bundle at a local path; `name` is the path that the row shows."""
        content = ""
        try:
            content = identity(Path(path))
            hashed(content)
            if only_identify:
                return content, None
            row = self.kept[content] if content and content in self.kept else self.fresh(path, content)
        except (BundleError, OSError) as error:
            why = str(error) if isinstance(error, BundleError) else f"cannot read {path}: {error.strerror}"
            row = self.broken(why.replace(path, name))
        except MemoryError:
            raise
        except Exception as error:  # a mistake of ours in one bundle must not cost the others
            row = self.broken(f"a mistake in postmortem: {type(error).__name__}: {error}".replace(path, name))
        return content, row | {"path": name, "id": content}

    def fresh(self, path: str, content: str) -> Row:
        report, scene = examine(self.engine, path, now=self.now, tz=self.tz)
        row = row_of(report, scene)
        if self.reports:
            write_report(self.reports / f"{content}.html", report)
        if row["kind"] != "file":  # a single file is judged by its name too
            self.kept[content] = row
            if len(self.kept) > ROWS_KEPT:
                self.kept.popitem(last=False)
        return row

    def broken(self, why: str) -> Row:
        return without_report("", "unread", why, self.engine.catalogue.digest, __version__)


def engine_of(texts: list[tuple[str, str]]) -> Engine:
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, (name, text) in enumerate(texts):
            file = Path(folder) / f"{number}-{Path(name).name}"
            file.write_text(text, encoding="utf-8")
            files.append(file)
        return engine(files)


def write_report(file: Path, report: Any) -> None:
    from postmortem.report import html

    part = file.with_name(f".{file.name}.{os.getpid()}")
    part.write_text(html.render(report), encoding="utf-8")
    part.replace(file)


def limit(memory_bytes: int) -> None:
    if memory_bytes:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def serve(jobs: BinaryIO, answers: BinaryIO) -> None:
    """Reads the options, then one job a line, and answers each with a line."""

    def answer(**told: Any) -> None:
        answers.write(json.dumps(told, ensure_ascii=True, separators=(",", ":")).encode() + b"\n")
        answers.flush()

    told = json.loads(jobs.readline() or b"null")
    if told is None:
        return
    try:
        reader = Reader(told)
    except (PostmortemError, OSError) as error:
        answer(fatal=str(error))
        return
    limit(told["memory_bytes"])
    answer(catalogue=reader.engine.catalogue.digest)
    for line in jobs:
        job = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, told["wall_s"] + ALARM_GRACE_S)
        try:
            content, row = reader.read(job["path"], job["name"], job["only_identify"], lambda i: answer(hashed=i))
        except MemoryError:
            reader.kept.clear()
            answer(stopped="memory")
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        answer(id=content, row=row)


def main() -> None:
    """`python -m postmortem.triage.child`: only answers reach the real standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stay_alone()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, answers)
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    main()
