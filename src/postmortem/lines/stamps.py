"""Pieces of text -> `Stamp`; each reader starts at a position and says where the stamp ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from postmortem.lazy import lazy
from postmortem.lines.types import Stamp

Read = tuple[Stamp, int]
_MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTHS = {m: i for i, m in enumerate(_MONTH_NAMES, 1)}
YEARS = range(1970, 2200)  # a stamp of another year is a placeholder (0000-00-00, 9999-12-31), not a time
NO_YEAR = 4  # a leap year, so that 29 February can be held

# Abbreviations with one meaning only; CST, IST and their like stay unknown.
ZONES: dict[str, float] = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2,
    "EEST": 3, "MSK": 3, "EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9,
    "AKDT": -8, "HST": -10, "JST": 9, "KST": 9, "HKT": 8, "SGT": 8, "AWST": 8, "AEST": 10, "AEDT": 11, "ACST": 9.5,
    "NZST": 12, "NZDT": 13, "BRT": -3, "SAST": 2,
}  # fmt: skip

_ISO = lazy(
    r"(\d{4}-\d\d-\d\d[T _]\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?"
    r"(?: ?(Z(?![A-Za-z])|[+-]\d\d(?::?\d\d)?(?![\d:.]))| ([A-Z]{3,4})\b)?"
)
_SLASH = lazy(r"(\d{4})/(\d\d)/(\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?")
_COMPACT = lazy(r"(\d{4})(\d\d)(\d\d)[T _-]\s*(\d\d):?(\d\d):?(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d{4})?(?!\d)")
_SHORT_YEAR = lazy(r"(\d\d)(\d\d)(\d\d) {1,2}(\d?\d):(\d\d):(\d\d)(?!\d)")
_MONTH_DAY = lazy(r"(\d\d)[-/](\d\d) (\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?![\d:])")
_NAMED = lazy(
    r"([A-Z][a-z]{2}) {1,2}(\d{1,2}),?(?: (\d{4}),?)? (\d{1,2}:\d\d:\d\d)(?:[.,](\d{1,9}))?"
    r"(?: ([AP]M))?(?: (\d{4})(?= ))?"
)
_DAY_FIRST = lazy(
    r"(\d{1,2})[-/ ]([A-Z][a-z]{2})[-/ ](\d{4})[: ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?: ([+-]\d{4}|[A-Z]{3,4}\b))?"
)
_WEEKDAY = lazy(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:([A-Z][a-z]{2}) +(\d{1,2})|(\d{1,2}) +([A-Z][a-z]{2})),? +(?:(\d{4}),? +)?"
    r"(\d{1,2}:\d\d:\d\d)(?:\.(\d{1,9}))?(?: ([AP]M))?(?: ([A-Z]{2,5}|[+-]\d\d(?::?\d\d)?)(?![\w]))?(?: (\d{4})\b)?"
)
_CLOCK = lazy(r"(\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?![\d:])")


def zone_of(text: str) -> timezone | None:
    """The zone of `Z`, `+0200`, `+02:00`, `+08` or an unambiguous abbreviation, or None."""
    hours = ZONES.get(text)
    if hours is not None:
        return timezone(timedelta(hours=hours)) if hours else UTC
    digits = text[1:].replace(":", "")
    if text[:1] not in ("+", "-") or not digits.isdigit() or len(digits) not in (2, 4):
        return None
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    if minutes >= 24 * 60:
        return None
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes)) if minutes else UTC


_RESOLUTION = tuple(10.0**-digits for digits in range(10))  # by digits behind the decimal point


def fraction(digits: str | None) -> tuple[int, float]:
    """(microseconds, resolution in seconds) of the up to nine digits behind the decimal point."""
    if not digits:
        return 0, 1.0
    return int(digits[:6].ljust(6, "0")), _RESOLUTION[len(digits)]


def wall(
    text: str,
    date: tuple[int, int, int] | None,
    clock: str,
    digits: str | None = None,
    zone: str | None = None,
    pm: str | None = None,
) -> Stamp | None:
    """A wall-clock stamp; or None if invalid; year 0: the text has none; no `date`: a time of day only."""
    micro, resolution = fraction(digits)
    year, month, day = date or (NO_YEAR, 1, 1)
    if date and year and year not in YEARS:
        return None
    hour, minute, second = (int(p) for p in clock.split(":"))
    if pm:
        hour = hour % 12 + (12 if pm == "PM" else 0)
    try:
        tz = zone_of(zone) if zone else None
        when = datetime(year or NO_YEAR, month, day, hour, minute, min(second, 59), micro, tz)
    except ValueError:
        return None
    return Stamp(text, "wall", when, None, resolution, bool(year) and date is not None, date is not None)


def iso(text: str, at: int = 0) -> Read | None:
    """`2026-05-01T12:00:00.123Z`, `2026-05-01 12:00:00,123`, `… +0000`, `… CEST`: most loggers."""
    m = _ISO.match(text, at)
    if not m:
        return None
    base, digits, offset, name = m.groups()
    end = m.end()
    zone = offset or name
    if name and zone_of(name) is None:
        zone, end = None, m.start(4) - 1
    when = _second(base, zone)
    if when is None:
        return None
    if not digits:
        return Stamp(text[at:end], "wall", when, None, 1.0 if len(base) > 16 else 60.0), end
    micro, resolution = fraction(digits)
    precise = when.replace(microsecond=micro)
    return Stamp(text[at:end], "wall", precise, None, resolution if len(base) > 16 else 60.0), end


@lru_cache(4096)  # many lines of a log are of one second
def _second(base: str, zone: str | None) -> datetime | None:
    """The time of `2026-05-01T12:00:00` in this zone; None where there is no such day or year."""
    try:
        when = datetime.fromisoformat(base.replace("_", "T"))
    except ValueError:
        return None
    return when.replace(tzinfo=zone_of(zone) if zone else None) if when.year in YEARS else None


def numeric(text: str, at: int = 0) -> Read | None:
    """Other all-digit dates: Go's `2026/05/01 12:00:00`, `20260501T120000Z`, MySQL's `160622 15:25:31`."""
    if m := _SLASH.match(text, at):
        y, mo, d, clock, digits = m.groups()
        return _done(wall(m[0], (int(y), int(mo), int(d)), clock, digits), m.end())
    if m := _COMPACT.match(text, at):
        y, mo, d, h, mi, s, digits, zone = m.groups()
        return _done(wall(m[0], (int(y), int(mo), int(d)), f"{h}:{mi}:{s}", digits, zone), m.end())
    if m := _MONTH_DAY.match(text, at):
        mo, d, clock, digits = m.groups()
        return _done(wall(m[0], (0, int(mo), int(d)), clock, digits), m.end())
    if m := _SHORT_YEAR.match(text, at):
        y, mo, d, h, mi, s = m.groups()
        return _done(wall(m[0], (2000 + int(y), int(mo), int(d)), f"{h}:{mi}:{s}"), m.end())
    return None


def named(text: str, at: int = 0) -> Read | None:
    """`May  6 00:38:27` (syslog, no year), `Jul 23 2024 07:53:55` (fabric manager)."""
    m = _NAMED.match(text, at)
    if not m or m[1] not in MONTHS:
        return None
    year = int(m[3] or m[7] or 0)
    return _done(wall(m[0], (year, MONTHS[m[1]], int(m[2])), m[4], m[5], None, m[6]), m.end())


def day_first(text: str, at: int = 0) -> Read | None:
    """`10/Oct/2000:13:55:36 -0700` (web servers), `22-Jun-2016 15:25:58 UTC` (PHP)."""
    m = _DAY_FIRST.match(text, at)
    if not m or m[2] not in MONTHS:
        return None
    known = not m[6] or zone_of(m[6]) is not None
    end = m.end() if known else m.start(6) - 1
    return _done(wall(text[at:end], (int(m[3]), MONTHS[m[2]], int(m[1])), m[4], m[5], m[6]), end)


def weekday(text: str, at: int = 0) -> Read | None:
    """`Fri May  1 12:00:00 UTC 2026` (date), `Tue Feb 27 10:00:00 2024` (ctime), `Fri, 01 May 2026 12:00:00 GMT`."""
    if text[at + 4 : at + 8].isdigit() and (got := iso(text, at + 4)):  # journalctl -o short-full
        return got
    m = _WEEKDAY.match(text, at)
    if not m or (m[1] or m[4]) not in MONTHS:
        return None
    year = int(m[5] or m[10] or 0)
    date = (year, MONTHS[m[1] or m[4]], int(m[2] or m[3]))
    return _done(wall(m[0], date, m[6], m[7], m[9], m[8]), m.end())


def clock_time(text: str, at: int = 0) -> Read | None:
    """`12:00:00.123`: a time of day without a date."""
    m = _CLOCK.match(text, at)
    return _done(wall(m[0], None, m[1], m[2]), m.end()) if m else None


def epoch(digits: str, decimals: str = "") -> Stamp | None:
    """Seconds, ms, µs or ns since 1970 by the number of digits (10, 13, 16, 19), if between 2001 and 2040."""
    unit = {10: 0, 13: 3, 16: 6, 19: 9}.get(len(digits))
    if unit is None or not digits.isdigit():
        return None
    whole, rest = digits[:10], digits[10:] + decimals
    if not 1_000_000_000 <= int(whole) < 2_208_988_800:
        return None
    micro, resolution = fraction(rest[:9])
    when = datetime.fromtimestamp(int(whole), UTC).replace(microsecond=micro)
    return Stamp(digits + ("." + decimals if decimals else ""), "wall", when, None, resolution)


def _done(stamp: Stamp | None, end: int) -> Read | None:
    return (stamp, end) if stamp else None
