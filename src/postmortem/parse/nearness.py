"""How far apart two lines of one source were written."""

from __future__ import annotations

from postmortem.scene import Reading


def seconds_of(reading: Reading, number: int) -> float | None:
    """A number of seconds that grows with time within the source, also where only the time since boot is known."""
    order = reading.clock.order(number)
    if order is not None:
        return order
    when = reading.when(number)
    return when.utc.timestamp() if when else None


def within(one: float | None, other: float | None, seconds: float) -> bool:
    """Whether two moments are at most so far apart; where one is unknown nothing speaks against it."""
    return one is None or other is None or abs(other - one) <= seconds
