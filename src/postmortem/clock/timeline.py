"""The time of each line of one source, and which of two moments came first."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import isnan, nan

from postmortem.model import Instant

YEAR_UNKNOWN = 1904  # where no source names a year, instants lie in this one (and before, after a turn of the year)
ZONE_SPREAD_S = 14 * 3600.0  # the farthest zone from UTC
NEAR_LINES = 200  # a traceback or table below a stamped line is about so long
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _doubles() -> array[float]:
    return array("d")


@dataclass(frozen=True, slots=True)
class Clock:
    """The time of each line of one source: its stamped lines, and for the others the stamped line before."""

    numbers: array[int] = field(default_factory=lambda: array("Q"))  # of the stamped lines, ascending
    utc_s: array[float] = field(default_factory=_doubles)  # seconds since 1970; nan where only the order is known
    plus_minus_s: array[float] = field(default_factory=_doubles)
    order_s: array[float] = field(default_factory=_doubles)  # nan where the line's stamp is of another clock
    zones: bytes = b""  # 1: the zone is known
    dense: bool = True  # most lines are stamped, so that one without continues the one before
    snapshot: bool = False  # the source was written at once: its one stamp is every line's

    def instant(self, number: int) -> Instant | None:
        """When the line was written: by its own stamp, else by the one before it with more uncertainty; else None."""
        at = bisect_right(self.numbers, number) - 1
        if at < 0 or isnan(self.utc_s[at]):
            return None
        more = 0.0 if self.numbers[at] == number else self._drift(at, number)
        utc = _EPOCH + timedelta(seconds=self.utc_s[at])
        return Instant(utc, round(self.plus_minus_s[at] + more, 6), bool(self.zones[at]))

    def order(self, number: int) -> float | None:
        """A number that grows with time within this source, known also where the wall time is not; else None."""
        at = bisect_right(self.numbers, number) - 1
        if at < 0 or isnan(self.order_s[at]):
            return None
        return self.order_s[at]

    def _drift(self, at: int, number: int) -> float:
        """How much later than the stamp above it a line without one may have been written, in seconds."""
        if self.snapshot:
            return 1.0
        distance = number - self.numbers[at]
        following = self.utc_s[at + 1] if at + 1 < len(self.numbers) else nan
        gap = following - self.utc_s[at] if following >= self.utc_s[at] else nan
        near = 1.0 + 0.02 * distance
        if self.dense and distance <= NEAR_LINES:
            return near if isnan(gap) else min(near, gap)
        return 3600.0 if isnan(gap) else gap


def year_known(moment: Instant) -> bool:
    """Whether the year of this moment was in the text or could be inferred; if not, print it without its year."""
    return moment.utc.year > YEAR_UNKNOWN


def before(a: Instant | None, b: Instant | None) -> bool | None:
    """Whether a came before b; None where the uncertainties overlap or the zones do not allow to say.

    Two moments without a zone are taken to be of one machine, and so of one zone.
    """
    if a is None or b is None or year_known(a) != year_known(b):
        return None
    allowed = a.plus_minus_s + b.plus_minus_s + (0.0 if a.zone_known == b.zone_known else ZONE_SPREAD_S)
    apart = (b.utc - a.utc).total_seconds()
    return apart > 0 if abs(apart) > allowed else None
