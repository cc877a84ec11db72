"""A line that is news, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from postmortem.model import Evidence, Kind
from postmortem.report.moment import when
from postmortem.report.safe import plain

LOGS = (Kind.LOG, Kind.JOURNAL, Kind.KERNEL)
MOST = 12  # lines in a report
LINES_READ = 200_000  # of one log


@dataclass(frozen=True, slots=True)
class News:
    """A line that a person should read first; `grave` ones speak of trouble themselves."""

    evidence: Evidence
    why: str
    what: Literal["new", "number", "missing", "trouble", "progress"]
    grave: bool = False


def as_json(news: Sequence[News]) -> list[dict[str, Any]]:
    """The report's key `news`."""
    return [
        {
            "source": plain(n.evidence.source),
            "line": n.evidence.line,
            "text": plain(n.evidence.text),
            "when": when(n.evidence.when),
            "why": n.why,
        }
        for n in news
    ]


def first(news: Sequence[News]) -> tuple[News, ...]:
    """The most telling: lines of trouble before others, each in the order in which they were found."""
    return (*(n for n in news if n.grave), *(n for n in news if not n.grave))[:MOST]
