"""Years for stamps that have none, dates for times of day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

ROLLOVER = timedelta(days=330)
HALF_DAY_S = 43200.0


def dated(moment: datetime, year: int) -> datetime | None:
    """The same day in another year, or None for a 29 February that the year does not have."""
    try:
        return moment.replace(year=year)
    except ValueError:
        return None


def with_years(days: Sequence[datetime], newest: datetime, slack: timedelta) -> list[datetime | None]:
    """Years for stamps that stand in file order in one leap year: the last is not later than newest + slack.

    From there back, a step of more than 330 days crosses a turn of the year. A day that fits nowhere stays None and
    moves no other. A 29 February whose neighbours are of the same days pins its run to a leap year.
    """
    pinned = [i for i, d in enumerate(days) if (d.month, d.day) == (2, 29) and _credible(days, i)]
    first: list[datetime | None] | None = None
    for back in range(9):
        limit = dated(newest, newest.year - back) or newest.replace(year=newest.year - back, day=28)
        found = _walk_back(days, limit + slack)
        if all(found[i] is not None for i in pinned):
            return found
        first = first or found
    return first or []


def _credible(days: Sequence[datetime], index: int) -> bool:
    """Whether a neighbour in the file is within two days, or there is none."""
    near = [days[i] for i in (index - 1, index + 1) if 0 <= i < len(days)]
    return not near or any(abs(days[index] - d) <= timedelta(days=2) for d in near)


def _walk_back(days: Sequence[datetime], limit: datetime) -> list[datetime | None]:
    found: list[datetime | None] = [None] * len(days)
    year, later = limit.year, None
    for i in range(len(days) - 1, -1, -1):
        day = days[i]
        guess = _last_year(day, limit) if later is None else _year_before(day, later, year, limit)
        when = dated(day, guess)
        if when is not None and when <= limit:
            found[i], year, later = when, guess, day
    return found


def _last_year(day: datetime, limit: datetime) -> int:
    """The last year in which this day is not after the limit."""
    when = dated(day, limit.year)
    return limit.year if when is not None and when <= limit else limit.year - 1


def _year_before(day: datetime, later: datetime, year: int, limit: datetime) -> int:
    """The year of a day whose line stands before the line of `later`, which is of `year`."""
    gap = day - later
    if gap > ROLLOVER:
        return year - 1
    if gap < -ROLLOVER:
        return year + 1  # a late line: January's among December's
    when = dated(day, year)
    if when is not None and when > limit and gap > timedelta(days=2):
        return year - 1
    return year


def day_steps(clock_s: Sequence[float], start: float | None = None) -> list[int]:
    """Days since the first time of day, for times in file order: a step back of more than 12 hours passes midnight.

    A step forward of more than 12 hours is a late line of the day before.
    """
    day, last = 0, start if start is not None else (clock_s[0] if clock_s else 0.0)
    steps = []
    for t in clock_s:
        if t < last - HALF_DAY_S:
            day, last = day + 1, t
            steps.append(day)
        elif t > last + HALF_DAY_S:
            steps.append(day - 1)
        else:
            last = max(last, t)
            steps.append(day)
    return steps


def clock_seconds(when: datetime) -> float:
    """Seconds since midnight."""
    return when.hour * 3600 + when.minute * 60 + when.second + when.microsecond / 1e6


def only_date(first: float, last: float, days: int, span: tuple[datetime, datetime]) -> date | None:
    """The date of the first of some times of day, if exactly one lets them lie in the span of the other sources."""
    margin = timedelta(hours=1)
    low, high = span[0] - margin, span[1] + margin
    fits: list[date] = []
    day = low.date()
    while day <= high.date() and len(fits) < 2:
        start = datetime.combine(day, datetime.min.time())
        begin, end = start + timedelta(seconds=first), start + timedelta(days=days, seconds=last)
        if begin >= low and end <= high:
            fits.append(day)
        day += timedelta(days=1)
    return fits[0] if len(fits) == 1 else None
