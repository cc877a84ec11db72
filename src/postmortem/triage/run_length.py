"""How long a run lasted, where its log says so."""

from __future__ import annotations

from datetime import datetime

from postmortem.clock.timeline import year_known
from postmortem.report import Report
from postmortem.scene import Scene

LONGEST = 400 * 86400.0  # seconds; more than that is a wrong year


def run_seconds(report: Report, scene: Scene) -> float | None:
    """Seconds from the first dated line of the log that tells the end, to the end; None where either is not known."""
    end = report["outcome"] or {}
    told = end.get("evidence") or []
    if report["status"] == "undecided" or not told or not end.get("when"):
        return None
    reading = scene.reading(told[0]["source"])
    if reading is None or not len(reading.clock.numbers) or reading.clock.snapshot:
        return None
    first = reading.when(reading.clock.numbers[0])
    if first is None or not year_known(first):
        return None
    seconds = (datetime.fromisoformat(end["when"]["utc"]) - first.utc).total_seconds()
    return round(seconds, 1) if 0 < seconds < LONGEST else None
