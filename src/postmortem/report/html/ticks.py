"""Round moments for an axis of time; the page's script draws the same ones after a zoom."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

STEPS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30),
    *(60 * m for m in (1, 2, 5, 10, 15, 30)),
    *(3600 * h for h in (1, 2, 3, 6, 12)),
    *(86400 * d for d in (1, 2, 7, 14, 30, 90, 365)),
)
PLAIN = tuple(digit * 10**power for power in range(-3, 9) for digit in (1, 2, 5))
WANTED = 7
EDGE = 0.03  # share of the width where a label would be cut


@dataclass(frozen=True, slots=True)
class Tick:
    """A label under the picture, and where it stands in percent of what is seen."""

    percent: float
    text: str


def ticks(start: float, end: float, x: float, width: float, unit: str = "time") -> tuple[Tick, ...]:
    """The ticks of the part of the stretch that begins at share `x` and is `width` wide."""
    first, seconds = start + (end - start) * x, (end - start) * width
    step = next(
        (s for s in (STEPS if unit == "time" else PLAIN) if (s >= 1 or unit != "line") and seconds / s <= WANTED),
        STEPS[-1],
    )
    at = -(-(first + EDGE * seconds) // step) * step
    made = []
    while at <= first + seconds * (1 - EDGE):
        made.append(
            Tick(round((at - first) / seconds * 100, 2), label(at, step) if unit == "time" else plain(at, unit))
        )
        at += step
    return tuple(made)


def plain(at: float, unit: str) -> str:
    """A number of a source without a clock."""
    return f"line {at:.0f}" if unit == "line" else f"{round(at, 3):.10g} s"


def label(at: float, step: float) -> str:
    moment = datetime.fromtimestamp(round(at, 3), UTC)
    if step >= 86400:
        return f"{moment:%Y-%m-%d}"
    if step >= 60:
        return f"{moment:%H:%M}" if moment.hour or moment.minute else f"{moment:%m-%d}"
    return f"{moment:%H:%M:%S}" if step >= 1 else f"{moment:%H:%M:%S.%f}"[:-3]
