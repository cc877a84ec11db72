"""The HTML report of one bundle of each group, beside the dashboard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from postmortem.errors import PostmortemError
from postmortem.triage.engines import local
from postmortem.triage.job import Batch, Options
from postmortem.triage.roots import items

MOST = 200  # groups; a report costs as much as reading the bundle again


def reports(out: Path, summary: Any, roots: Any, options: Options) -> None:
    """Reads the example bundles again, on this machine, and writes reports/ID.html of those that are not there yet."""
    folder = out / "reports"
    folder.mkdir(exist_ok=True)
    wanted = {g["example"]: g["example_id"] for g in summary["groups"][:MOST]}
    missing = {path for path, content in wanted.items() if content and not (folder / f"{content}.html").exists()}
    found = [item for item in items(roots) if item.path in missing] if missing else []
    pool = local()
    own = replace(options, reports=str(folder.absolute()))
    try:
        for future in [pool.submit(Batch((item,), own)) for item in found]:
            future.result()
    except PostmortemError:  # the catalogue changed since the rows were made: the page has fewer links
        pass
    finally:
        pool.close(False)
