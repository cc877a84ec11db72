"""One self-contained page: no request ever leaves it, and everything from a log is text."""

from __future__ import annotations

from postmortem.report import Report


def render(report: Report) -> str:
    """The report as one HTML file with inline style, script and pictures, under a policy that forbids all else."""
    from postmortem.report.html.page import page

    return page(report)
