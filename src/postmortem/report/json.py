"""The report as JSON text, the same bytes for the same report."""

from __future__ import annotations

import io
import json

from postmortem.report import Report


def render(report: Report) -> str:
    """The report as indented JSON with a final newline."""
    out = io.StringIO()  # json.dumps holds every piece at once: ten times the text
    json.dump(report, out, ensure_ascii=False, indent=2)
    out.write("\n")
    return out.getvalue()
