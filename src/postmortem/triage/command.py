"""The whole of `postmortem triage`: read, keep, count, show."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from postmortem import __version__
from postmortem.errors import UsageError
from postmortem.signatures import load
from postmortem.triage.engines import Pool, dask, local
from postmortem.triage.job import Options
from postmortem.triage.progress import Progress
from postmortem.triage.roots import items
from postmortem.triage.row import Row
from postmortem.triage.run import Count, Run
from postmortem.triage.store import Store
from postmortem.triage.work import stopped

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for on the command line."""

    paths: Sequence[str]
    form: str = "table"
    out: Path | None = None
    jobs: int | None = None
    scheduler: str | None = None
    since: datetime | None = None
    by: str | None = None
    resume: bool = False
    reports: str = "examples"
    wall_limit: float = 60.0
    memory_limit: int = 2048  # MiB
    prom: Path | None = None
    junit: Path | None = None
    signatures: Sequence[Path] = ()
    now: str = ""
    tz: str = ""


def triage(wanted: Wanted, progress: bool = False, colour: bool = False) -> tuple[str, int]:
    """(what to print, exit status). Raises PostmortemError when nothing can be read or written at all."""
    if wanted.resume and not wanted.out:
        raise UsageError("--resume needs the --out folder of the earlier run")
    with folder(wanted.out) as out:
        options = options_of(wanted, out)
        with Store(out) as store:
            started = datetime.now(UTC)
            count, interrupted = read(wanted, options, store, progress)
            note(store, count, started, wanted, options, interrupted)
            start = store.start
        from postmortem.triage.show import show

        return show(wanted, out, start, options, colour), INTERRUPTED if interrupted else 0


def read(wanted: Wanted, options: Options, store: Store, progress: bool) -> tuple[Count, bool]:
    """Everything that was given, into the store; the second value is whether Ctrl-C ended it early."""
    seen = store.seen(options.catalogue, __version__, lambda row: final(row, options)) if wanted.resume else None
    bar = Progress(lambda: sum(1 for _ in items(wanted.paths, wanted.since))) if progress else None
    todo = items(wanted.paths, wanted.since)
    with pool_of(wanted) as pool:
        run = Run(pool, store, options, seen, bar.show if bar else nothing)
        try:
            run.go(todo)
        except KeyboardInterrupt:
            pool.close(True)
            return run.count, True
        finally:
            if bar:
                bar.end(run.count)
    return run.count, False


def nothing(count: Count) -> None:
    """No progress is shown."""


def final(row: Row, options: Options) -> bool:
    """Whether reading the bundle again would say the same: a stop at other limits may not come again."""
    why = str(row["error"] or "")
    return row["status"] != "stopped" or why == stopped(why.split(": ")[1], options)


def options_of(wanted: Wanted, out: Path) -> Options:
    texts = tuple((p.name, p.read_text(encoding="utf-8")) for p in wanted.signatures)
    reports = out / "reports"
    if wanted.reports == "all":
        reports.mkdir(exist_ok=True, parents=True)
    return Options(
        catalogue=load(wanted.signatures).digest,
        wall_s=wanted.wall_limit,
        memory_bytes=wanted.memory_limit << 20,
        signatures=texts,
        now=wanted.now,
        tz=wanted.tz,
        reports=str(reports.absolute()) if wanted.reports == "all" else "",
    )


@contextmanager
def pool_of(wanted: Wanted) -> Iterator[Pool]:
    pool = dask(wanted.scheduler) if wanted.scheduler else local(wanted.jobs or 0)
    fine = False
    try:
        yield pool
        fine = True
    finally:
        pool.close(not fine)


@contextmanager
def folder(out: Path | None) -> Iterator[Path]:
    """OUT, or a folder that is gone afterwards."""
    if out:
        yield out
        return
    made = Path(tempfile.mkdtemp(prefix="postmortem-triage-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def note(store: Store, count: Count, started: datetime, wanted: Wanted, options: Options, interrupted: bool) -> None:
    store.note_run(
        {
            "started": started.isoformat(timespec="seconds"),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "first_byte": store.start,
            "rows": count.rows,
            "read": count.read,
            "kept": count.kept,
            "copied": count.copied,
            "broken": count.broken,
            "mode": wanted.scheduler or "local",
            "catalogue": options.catalogue,
            "version": __version__,
            "interrupted": interrupted,
        }
    )
