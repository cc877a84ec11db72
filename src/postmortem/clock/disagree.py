"""Two writers in one file whose clocks disagree: neither may be believed to less than the disagreement."""

from __future__ import annotations

from collections.abc import Sequence

from postmortem.clock.marks import Track
from postmortem.lines import Stamp
from postmortem.model import Kind

SLACK_S = 2.0  # two writers may put their lines down in another order than they made them
MOST_S = 30.0  # more is a late flush, or another zone


def form(stamp: Stamp) -> tuple[bool, bool, float]:
    """What tells the stamps of two writers apart."""
    return stamp.has_year, stamp.has_date, stamp.resolution_s


def widened(track: Track, utc: Sequence[float], plus_minus: list[float]) -> None:
    """Raises the uncertainty of the stamps of a writer that go back behind those of another one in the same file.

    A progress bar's stamp that stands still for seconds, or a logger that keeps the time of its first line, looks so.
    """
    if track.kind is not Kind.LOG:
        return
    forms = [form(s) for s in track.stamps]
    if len(set(forms)) < 2:
        return
    behind: dict[tuple[bool, bool, float], float] = {}
    for i in range(1, len(utc)):
        back = utc[i - 1] - utc[i]
        if forms[i] != forms[i - 1] and SLACK_S < back <= MOST_S:
            behind[forms[i]] = max(behind.get(forms[i], 0.0), back)
    for i, own in enumerate(forms):
        plus_minus[i] = max(plus_minus[i], behind.get(own, 0.0))
