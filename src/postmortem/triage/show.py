"""The summary in every form that was asked for, and the files in OUT."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

from postmortem.errors import UsageError
from postmortem.triage import table
from postmortem.triage.job import Options
from postmortem.triage.row import COLUMNS
from postmortem.triage.store import Rows, read_rows
from postmortem.triage.summary import columns, summary_of


def show(wanted: Any, out: Path, start: int, options: Options, colour: bool) -> str:
    """The text for standard output; summary.json, the dashboard, reports and exports are written on the way."""
    summary, frame = summary_of(out, start, wanted.since, asked(wanted.by))
    text = json.dumps(summary, indent=1, ensure_ascii=False) + "\n"
    written(out / "summary.json", text)
    if wanted.prom:
        from postmortem.triage.prom import prom

        written(wanted.prom, prom(summary))
    if wanted.junit:
        from postmortem.triage.junit import junit

        with Rows(out) as whole:
            written(wanted.junit, junit(frame, whole))
    if wanted.form == "html":
        return dashboard(wanted, out, summary, frame, options)
    if wanted.form == "csv":
        return as_csv(out)
    return text if wanted.form == "json" else table.render(summary, colour)


def asked(by: str | None) -> tuple[str, ...]:
    try:
        return columns(by)
    except ValueError as error:
        raise UsageError(f"--by: {error}") from None


def dashboard(wanted: Any, out: Path, summary: Any, frame: Any, options: Options) -> str:
    from postmortem.triage.dashboard import page
    from postmortem.triage.examples import reports

    if wanted.out and wanted.reports == "examples":
        reports(out, summary, wanted.paths, options)
    linked = {p.stem for p in (out / "reports").glob("*.html")} if wanted.out else set()
    with Rows(out) as whole:
        html = page(summary, frame, whole, linked)
    written(out / "dashboard.html", html)
    return html


def as_csv(out: Path) -> str:
    """One line for each bundle; lists and mappings are JSON. A text that a spreadsheet would run is quoted."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for _, row in read_rows(out):
        writer.writerow([cell(row.get(c)) for c in COLUMNS])
    return file.getvalue()


def cell(value: Any) -> Any:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")) else value


def written(file: Path, text: str) -> None:
    """The whole file or the old one, never a part."""
    from postmortem.errors import PostmortemError

    part = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        part.write_text(text, encoding="utf-8", errors="replace")
        part.replace(file)
    except OSError as error:
        raise PostmortemError(f"cannot write {file}: {error.strerror}") from error
