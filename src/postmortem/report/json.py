"""The report as JSON text, the same bytes for the same report."""

from __future__ import annotations

import json

from postmortem.report import Report


def render(report: Report) -> str:
    """The report as indented JSON with a final newline."""
    return json.dumps(report, ensure_ascii=False, indent=2) + "\n"
