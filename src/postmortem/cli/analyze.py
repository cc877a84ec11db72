"""analyze: a bundle to a report."""

from __future__ import annotations

import gc
import sys
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import click

from postmortem.cli.group import cli
from postmortem.cli.showing import emit, showing

STATUS = {"healthy": 0, "undecided": 5}
FAILED_WITH_CAUSE, FAILED_WITHOUT = 3, 4
SELDOM = 200_000  # new objects before cycles are looked for: nearly all that a diagnosis makes lives until its end


def moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """An RFC 3339 time with a zone."""
    if value is None:
        return None
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a time like 2026-11-30T12:00:00Z") from None
    if when.tzinfo is None:
        raise click.BadParameter(f"{value!r} has no zone; add Z or +02:00")
    return when


def zone(ctx: click.Context, param: click.Parameter, value: str | None) -> tzinfo | None:
    """A zone name such as Europe/Berlin, or UTC."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(value) if value else None
    except (ZoneInfoNotFoundError, ValueError):
        raise click.BadParameter(f"{value!r} is not a time zone such as Europe/Berlin or UTC") from None


@cli.command()
@click.argument("path")
@showing
@click.option(
    "--signatures",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="More signatures; may be given several times.",
)
@click.option(
    "--now", callback=moment, help="The moment of the analysis; default: the bundle's end or its newest stamp."
)
@click.option("--tz", callback=zone, help="The zone of stamps that have none; default: unknown, read as UTC.")
@click.option("--baseline", metavar="GOOD", help="A healthy run of the same kind: what it has too is not news.")
@click.option(
    "--exit-code", is_flag=True, help="Exit 0 healthy, 3 failed with a cause, 4 failed without one, 5 undecided."
)
@click.option("--profile", is_flag=True, help="Say on standard error where the time goes, by stage and by signature.")
def analyze(
    path: str,
    signatures: tuple[Path, ...],
    now: datetime | None,
    tz: tzinfo | None,
    baseline: str | None,
    exit_code: bool,
    profile: bool,
    **given: Any,
) -> None:
    """Say what happened: PATH is a bundle, a capture, a tar, a folder or one log file; - is standard input.

    \b
    postmortem analyze bundle.tar.gz
    postmortem analyze bundle.tar.gz --format html=report.html --format json=report.json
    postmortem analyze /var/log/myapp --quiet --exit-code
    dmesg | postmortem analyze -
    """
    from postmortem.cli.progress import progress
    from postmortem.watch import Watch

    watch = Watch()
    with progress(watch):
        report = _report(watch, path, now=now, tz=tz, signatures=signatures, baseline=baseline)
    with watch.stage("output"):
        emit(report, **given)
    if profile:
        click.echo(watch.table(), err=True, nl=False)
    sys.exit(exit_status(report) if exit_code else 0)


def _report(watch: Any, path: str, **given: Any) -> Any:
    """The report; while the program's own code is imported, a big bundle is unpacked already."""
    gc.set_threshold(SELDOM, 10, 10)
    with watch.stage("imports"):
        from postmortem.bundle import open_bundle

        bundle = open_bundle(path, unbuffered(sys.stdin.buffer) if path == "-" else None)
        from postmortem.analysis import analyze as run
    return run(bundle, watch=watch, **given)


def unbuffered(stream: Any) -> Any:
    """The stream below its buffer, whose lock a thread that waits for input would hold at exit."""
    return getattr(stream, "raw", stream)


def exit_status(report: Any) -> int:
    """The exit status that --exit-code promises."""
    if report["status"] == "failed":
        return FAILED_WITH_CAUSE if report["root_cause"] else FAILED_WITHOUT
    return STATUS[report["status"]]
