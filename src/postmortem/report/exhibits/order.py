"""Where times tell no order: the order of the chain's lines, by seconds since boot or by line number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postmortem.model import Diagnosis, Evidence, Kind
from postmortem.report.safe import plain
from postmortem.report.timeline import MOST_EVIDENCE, MOST_LINKS
from postmortem.scene import Scene


def make(diagnosis: Diagnosis, scene: Scene) -> Iterator[dict[str, Any]]:
    """One exhibit, only when the chain has no two times: `at` of each row is in `unit`, `s` or `line`.

    Where one moment is known, such as when a container ended, lines stand by seconds since boot or not at all.
    """
    items = list(lines(diagnosis))[:MOST_LINKS]
    if len({item.when.utc for item, _, _ in items if item.when}) > 1:
        return
    dated = any(item.when for item, _, _ in items) or any(event.when for event in scene.events)
    if dated:
        items = [one for one in items if seconds(one[0], scene) is not None]
    since_boot = [seconds(item, scene) for item, _, _ in items]
    if not items or (dated and len(set(since_boot)) < 2):
        return
    in_seconds = None not in since_boot
    yield {
        "kind": "series",
        "name": "order",
        "title": "Order of the lines",
        "unit": "s" if in_seconds else "line",
        "rows": [
            {
                "at": second if in_seconds else item.line,
                "source": plain(item.source),
                "line": item.line,
                "text": plain(item.text),
                "class": class_id,
                "place": place,
            }
            for (item, class_id, place), second in zip(items, since_boot, strict=True)
        ],
    }


def lines(diagnosis: Diagnosis) -> Iterator[tuple[Evidence, str, str]]:
    """(line, class, place) of the chain's evidence, each line once."""
    seen: set[tuple[str, int]] = set()
    for one in diagnosis.chain:
        for item in one.finding.evidence[:MOST_EVIDENCE]:
            if item.line > 0 and (item.source, item.line) not in seen:
                seen.add((item.source, item.line))
                yield item, one.finding.class_id, str(one.place)


def seconds(item: Evidence, scene: Scene) -> float | None:
    """Seconds since boot, of a kernel's log."""
    reading = scene.reading(item.source)
    if reading is None or reading.source.kind is not Kind.KERNEL:
        return None
    return reading.clock.order(item.line)
