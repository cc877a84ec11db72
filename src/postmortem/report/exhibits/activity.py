"""How many lines each source wrote when: a lane that falls silent is seen at once."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

from postmortem.clock.timeline import YEAR_UNKNOWN
from postmortem.model import READABLE, Diagnosis
from postmortem.report.safe import plain
from postmortem.scene import Reading, Scene

BINS, MOST_SOURCES, SAMPLES = 240, 24, 6000
LEAST = 20  # stamped lines; fewer are not worth a picture
DAY = 86400.0
_BEFORE_YEARS = (YEAR_UNKNOWN + 1 - 1970) * 365.25 * DAY  # earlier seconds have no year


def make(diagnosis: Diagnosis, scene: Scene) -> Iterator[dict[str, Any]]:
    """One exhibit: seconds since 1970 of the first and last bin, and the counts of each source."""
    stamped = {r.path: times(r) for r in scene.readings if r.source.state in READABLE}
    told = sorted(((p, t) for p, t in stamped.items() if len(t[0]) >= LEAST), key=lambda one: -len(one[1][0]))
    if not told:
        return
    shown = told[:MOST_SOURCES]
    start, end = min(min(t) for _, (t, _) in shown), max(max(t) for _, (t, _) in shown)
    width = max((end - start) / BINS, 0.001)
    yield {
        "kind": "series",
        "name": "activity",
        "title": "Lines written",
        "unit": "lines",
        "start": round(start, 3),
        "width": round(width, 6),
        "sampled": any(weight > 1 for _, (_, weight) in shown),
        "sources": [{"source": plain(path), "counts": binned(t, weight, start, width)} for path, (t, weight) in shown],
    }


def times(reading: Reading) -> tuple[list[float], int]:
    """Seconds since 1970 of the stamped lines with a year, and how many lines each stands for."""
    clock = reading.clock
    step = max(1, len(clock.utc_s) // SAMPLES)
    if clock.snapshot:
        return [], 1
    return [s for s in clock.utc_s[::step] if not isnan(s) and s > _BEFORE_YEARS], step


def binned(seconds: list[float], weight: int, start: float, width: float) -> list[int]:
    counts = [0] * BINS
    for second in seconds:
        counts[min(BINS - 1, int((second - start) / width))] += weight
    return counts
