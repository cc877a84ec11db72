"""The time line: what the chain rests on, and what else parsers saw happen, binned where it is too much."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from postmortem.model import Diagnosis, Event, Evidence
from postmortem.report.moment import when
from postmortem.report.safe import plain
from postmortem.scene import Scene

MOST_EVIDENCE = 12  # of one finding
MOST_LINKS = 400  # rows of the chain
MOST_EVENTS = 300  # single rows of other events; of more, those of one kind, source and stretch of time are one row
STRETCHES = (100, 30, 10, 3, 1)  # how finely rows are binned: as finely as MOST_ROWS allows
MOST_ROWS = 1000
LONGEST = 500
Key = tuple[datetime, str, int]


def timeline(diagnosis: Diagnosis, scene: Scene) -> list[dict[str, Any]]:
    """Every dated line that the chain rests on, and the other dated events, in time order."""
    rows = dict(list(of_chain(diagnosis))[:MOST_LINKS])
    others = [(key, one) for key, one in of_events(scene) if key not in rows]
    if len(others) > MOST_EVENTS:
        tries = (list(binned(others, count)) for count in STRETCHES)
        others = next((some for some in tries if len(some) <= MOST_ROWS), others[:0]) or list(binned(others, 1))
    for key, row in others:
        rows.setdefault(key, row)
    return [row for _, row in sorted(rows.items(), key=lambda one: one[0])]


def of_chain(diagnosis: Diagnosis) -> Iterator[tuple[Key, dict[str, Any]]]:
    seen: set[Key] = set()
    for one in diagnosis.chain:
        for item in one.finding.evidence[:MOST_EVIDENCE]:
            if item.when is not None and (key := (item.when.utc, item.source, item.line)) not in seen:
                seen.add(key)
                yield key, row(item, one.finding.class_id, str(one.place))


def of_events(scene: Scene) -> Iterator[tuple[Key, dict[str, Any]]]:
    for event in scene.events:
        if event.when is not None and event.line > 0:
            yield (event.when.utc, event.source, event.line), {**row(first(event), "", "event"), "event": event.kind}


def first(event: Event) -> Evidence:
    return event.evidence[0]


def row(item: Evidence, class_id: str, place: str) -> dict[str, Any]:
    return {
        "when": when(item.when),
        "source": plain(item.source),
        "line": item.line,
        "text": plain(item.text, LONGEST) if place == "event" else plain(item.text),
        "class": class_id,
        "place": place,
    }


def binned(rows: list[tuple[Key, dict[str, Any]]], stretches: int) -> Iterator[tuple[Key, dict[str, Any]]]:
    """One row for all events of one kind, one source and one stretch of time."""
    rows = sorted(rows, key=lambda one: one[0])
    begin, end = rows[0][0][0], rows[-1][0][0]
    width = max((end - begin).total_seconds() / stretches, 0.001)
    groups: dict[tuple[int, str, str], list[tuple[Key, dict[str, Any]]]] = {}
    for key, one in rows:
        stretch = int((key[0] - begin).total_seconds() / width)
        groups.setdefault((stretch, one["source"], one["event"]), []).append((key, one))
    for group in groups.values():
        key, one = group[0]
        yield key, one if len(group) == 1 else {**one, "count": len(group), "until": group[-1][1]["when"]}
