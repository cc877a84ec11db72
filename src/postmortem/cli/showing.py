"""The options by which analyze and render show a report, and where each format goes."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from postmortem.cli.output import wants_colour, write
from postmortem.report import Report

NAMES = ("terminal", "markdown", "html", "json", "junit")  # report.formats.FORMATS, without importing the renderers


@dataclass(frozen=True, slots=True)
class Wanted:
    """A format, and the file it goes to; None is standard output or what -o says."""

    form: str
    file: Path | None


def formats(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[Wanted, ...]:
    """`html`, or `html=out.html`; at most one without a file."""
    made = []
    for value in values or ("terminal",):
        form, equals, file = value.partition("=")
        if form not in NAMES or (equals and not file):
            raise click.BadParameter(f"{value!r} is none of {', '.join(NAMES)}, nor one of them with =FILE")
        made.append(Wanted(form, Path(file) if equals else None))
    if sum(one.file is None for one in made) > 1:
        raise click.BadParameter(
            "only one format goes to standard output; give the others a file: --format html=r.html"
        )
    return tuple(made)


def showing(command: Any) -> Any:
    """The options that `analyze` and `render` share."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


OPTIONS = (
    click.option(
        "--format",
        "wanted",
        multiple=True,
        callback=formats,
        metavar="FORM[=FILE]",
        help=f"One of {', '.join(NAMES)}; default terminal. May be given several times: html=r.html json=r.json.",
    ),
    click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report to a file."),
    click.option("-q", "--quiet", is_flag=True, help="One line: class, confidence, summary."),
    click.option("-v", "--verbose", is_flag=True, help="Show all evidence."),
    click.option("--links", is_flag=True, help="Make file names in the terminal report links (OSC 8); off by default."),
)


def emit(
    report: Report, wanted: tuple[Wanted, ...], output: Path | None, quiet: bool, verbose: bool, links: bool
) -> None:
    """Every wanted format to its place. Raises UsageError for -o where all formats have files."""
    from postmortem.errors import UsageError
    from postmortem.report.formats import render

    if output is not None and all(one.file is not None for one in wanted):
        raise UsageError("-o has nothing to hold: every --format names its own file")
    for one in wanted:
        target = one.file or output
        write(render(report, one.form, look(report, target, verbose, links), quiet), target)


def look(report: Report, target: Path | None, verbose: bool, links: bool) -> Any:
    """Colours and width as the place allows: a file or a pipe gets neither."""
    from postmortem.report.look import Look

    terminal = target is None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    folder = os.path.abspath(report["input"]["path"]) if links and report["input"]["kind"] == "folder" else ""
    return Look(target is None and wants_colour(), width, verbose, folder)
