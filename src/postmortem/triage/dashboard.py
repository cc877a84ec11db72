"""One self-contained HTML page of a fleet, in the style and under the policy of the reports."""

from __future__ import annotations

import json
from collections.abc import Set
from importlib.resources import files
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from postmortem.report.html import page as report_page  # its style, and how a policy is made
from postmortem.triage.figures import all_of
from postmortem.triage.store import Rows
from postmortem.triage.summary import Summary
from postmortem.triage.table import day, duration

HERE = "postmortem.triage"
PAGE, STYLE, SCRIPT = "dashboard.html.j2", "dashboard.css", "dashboard.js"
MOST_ROWS = 20_000  # in the page's table; the store has all
SHOWN = ("path", "status", "class", "host", "when", "summary", "error", "group", "id")


def page(summary: Summary, frame: Any, whole: Rows, linked: Set[str] = frozenset()) -> str:
    """The whole file; `linked` are the content hashes of bundles whose report stands in reports/."""
    env = Environment(
        loader=DictLoader({PAGE: text(PAGE)}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters |= {"day": day, "duration": duration}
    style, script = report_page.text(report_page.STYLE) + text(STYLE), text(SCRIPT)
    rows = table_rows(frame, whole)
    return env.get_template(PAGE).render(
        s=summary,
        pictures=all_of(summary, frame),
        linked=linked,
        rows=Markup(data([[*row[:-1], row[-1] if row[-1] in linked else ""] for row in rows])),
        shown=len(rows),
        columns=SHOWN,
        policy=f"default-src 'none'; style-src {report_page.digest(style)}; script-src {report_page.digest(script)}; "
        "base-uri 'none'; form-action 'none'",
        style=Markup(style),
        script=Markup(script),
    )


def table_rows(frame: Any, whole: Rows) -> list[list[str]]:
    """Failures and what could not be read first."""
    order = {"failed": 0, "unread": 1, "stopped": 1, "undecided": 2, "healthy": 3}
    ranked = frame.assign(rank=frame["status"].map(order)).sort_values(["rank", "path"], kind="stable")
    shown = ((whole.at(int(at)), group) for at, group in ranked[["offset", "group"]].head(MOST_ROWS).to_numpy())
    return [[str((row | {"group": group}).get(c) or "") for c in SHOWN] for row, group in shown]


def data(rows: list[list[str]]) -> str:
    """JSON that no text inside it can leave: a browser ends the element only at `</`."""
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def text(name: str) -> str:
    return files(HERE).joinpath(name).read_text(encoding="utf-8")
