"""From moments to the picture's own units: which stretch is drawn, and which part of it is seen first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from postmortem.report.moment import parsed

WIDTH = 1000.0  # of the picture, in its own units
ALONE = 5.0  # seconds around a moment that stands alone


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, in seconds since 1970."""

    start: float
    end: float

    def x(self, second: float) -> float:
        return round((second - self.start) / (self.end - self.start) * WIDTH, 3)

    def holds(self, second: float) -> bool:
        return self.start <= second <= self.end


def second(row: Any) -> float:
    """Where the row stands on the axis."""
    at = parsed(row.get("when"))
    return at.timestamp() if at else float(row.get("at", 0))


def domain(told: list[float], all_of_them: list[float]) -> Span:
    """All rows, but no more than a wide margin around the chain: a boot a week ago must not flatten a second."""
    width = max(told) - min(told)
    margin = max(900.0, 25 * width)
    start, end = max(min(all_of_them), min(told) - margin), min(max(all_of_them), max(told) + margin)
    pad = max((end - start) * 0.04, 0.05) if end > start else ALONE
    return Span(start - pad, end + pad)


def first_view(span: Span, told: list[float]) -> tuple[float, float]:
    """The whole; or the chain alone, where it lasts and is a small part of it."""
    left, right = span.x(min(told)), span.x(max(told))
    if right - left > WIDTH / 6 or right == left:
        return 0.0, WIDTH
    width = min(WIDTH, max((right - left) * 1.6, WIDTH / 12))
    x = min(max(0.0, (left + right - width) / 2), WIDTH - width)
    return round(x, 3), round(width, 3)
