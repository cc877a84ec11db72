"""A report of any size -> as much of it as a page below two megabytes holds; what is left off stands in the JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from markupsafe import escape

from postmortem.report import Report

LIMIT = 1_900_000  # bytes of a page
SHARES = (1.0, 0.4, 0.1, 0.02)
SOURCES, CONTEXTS, TIMES = 650_000, 400_000, 200_000  # characters as a page writes them, of the whole share
MOST_ROWS = 1000  # of the time line, of the list of sources
CHAIN_TEXT, EVENT_TEXT = 300, 160  # characters of a line in the time line


def fitted(report: Report, share: float) -> Report:
    """The report with that share of what takes the room; `left_off` says whether anything is missing."""
    given, exhibits = report["input"], report["exhibits"]
    times = kept([cut(row) for row in ranked(report["timeline"])], TIMES * share, MOST_ROWS * share, text)
    sources = kept([e for e in exhibits if e["kind"] == "source"], SOURCES * share, MOST_ROWS, text)
    contexts = kept([e for e in exhibits if e["kind"] == "context"], CONTEXTS * share, MOST_ROWS, lines)
    listed = given["sources"][: int(MOST_ROWS * share)]
    shown = [e for e in exhibits if e["kind"] not in ("source", "context") or is_in(e, sources) or is_in(e, contexts)]
    fewer = (len(times) < len(report["timeline"]), len(shown) < len(exhibits), len(listed) < len(given["sources"]))
    return {
        **report,
        "timeline": in_order(times),
        "exhibits": shown,
        "input": {**given, "sources": listed, "all": len(given["sources"])},
        "left_off": any(fewer),
    }


def is_in(one: Any, some: Iterable[Any]) -> bool:
    return any(one is other for other in some)


def ranked(rows: list[Any]) -> list[Any]:
    """The chain's rows before the others, each in order of time."""
    return sorted(rows, key=lambda row: row["place"] == "event")


def in_order(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: (row["when"] or {"utc": ""})["utc"])


def cut(row: Any) -> Any:
    longest = EVENT_TEXT if row["place"] == "event" else CHAIN_TEXT
    return row if len(row["text"]) <= longest else {**row, "text": row["text"][:longest] + " ..."}


def text(one: Any) -> str:
    return str(one["text"])


def lines(one: Any) -> str:
    return "\n".join(row["text"] for row in one["lines"])


def kept(items: list[Any], room: float, most: float, words: Callable[[Any], str]) -> list[Any]:
    """The first items whose words, escaped, fit into the room."""
    chosen: list[Any] = []
    for one in items[: int(most)]:
        room -= len(escape(words(one)))
        if room < 0:
            break
        chosen.append(one)
    return chosen
