"""The formats by name; each renderer is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from postmortem.report import Report
from postmortem.report.look import Look
from postmortem.report.terminal import one_line
from postmortem.report.terminal import render as render_terminal

FORMATS = ("terminal", "markdown", "html", "json", "junit")


def render(report: Report, form: str, look: Look | None = None, quiet: bool = False) -> str:
    """The report in one of FORMATS; `look` and `quiet` shape the terminal's."""
    if form == "terminal":
        return one_line(report) if quiet else render_terminal(report, look)
    renderer: Callable[[Report], str] = import_module(f"postmortem.report.{form}").render
    return renderer(report)


def compared(a: Report, b: Report, form: str, names: Mapping[str, str]) -> str:
    """Two reports side by side, for the terminal, as markdown or as json."""
    from postmortem.report.compare import compare, in_words

    return compare(a, b).text(names) if form == "json" else in_words(compare(a, b), names, form)
