"""The zone of stamps that have none: as asked for, as lines with both forms show it, or as the machine says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from postmortem.clock.calendar import dated
from postmortem.clock.marks import Notes, Track
from postmortem.lines import Stamp
from postmortem.lines.stamps import zone_of
from postmortem.model import Kind

QUARTER = timedelta(minutes=15)
IN_ONE_LINE = timedelta(minutes=5)  # a wrapper may read a line late
IN_NEIGHBOURS = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Zone:
    """The zone for the stamps of one source that name none; UTC stands in for an unknown one."""

    tz: tzinfo = UTC
    known: bool = False


def zone_for(track: Track, given: tzinfo | None, machine: tzinfo | None, now: datetime | None) -> Zone:
    """The zone asked for, else what the source itself shows, else the machine's, if that puts none after now."""
    if given is not None:
        return Zone(given, True)
    offset = offset_of(track)
    if offset is not None:
        return Zone(timezone(offset) if offset else UTC, True)
    if machine is not None and not _after(track, machine, now):
        return Zone(machine, True)
    return Zone()


def _after(track: Track, tz: tzinfo, now: datetime | None) -> bool:
    """Whether a stamp read in this zone would lie after the end of the collection."""
    walls = [s.wall for s in track.stamps if s.wall and s.has_year and s.wall.tzinfo is None]
    return now is not None and bool(walls) and max(walls).replace(tzinfo=tz) > now + 2 * IN_ONE_LINE


def offset_of(track: Track) -> timedelta | None:
    """The offset that lines with a stamp of each kind show, or lines of each kind that stand side by side."""
    votes: Counter[timedelta] = Counter()
    for _, outer, inner in track.both:
        _vote(votes, outer, inner, IN_ONE_LINE)
    enough = 1
    if not votes:
        enough = 2
        for i in range(len(track.stamps) - 1):
            if track.numbers[i + 1] - track.numbers[i] <= 2:
                _vote(votes, track.stamps[i], track.stamps[i + 1], IN_NEIGHBOURS)
    if not votes:
        return None
    offset, count = votes.most_common(1)[0]
    named = any(s.wall is not None and s.wall.utcoffset() == offset for s in track.stamps)
    agreed = count >= 0.8 * votes.total() and (count >= enough or (named and bool(offset)))
    return offset if agreed else None


def _vote(votes: Counter[timedelta], a: Stamp, b: Stamp, tolerance: timedelta) -> None:
    """Counts the offset between a stamp with a zone and one without that were written together."""
    if a.wall is None or b.wall is None or not (a.has_date and b.has_date):
        return
    if (a.wall.tzinfo is None) == (b.wall.tzinfo is None):
        return
    bare, aware = (a, b.wall) if a.wall.tzinfo is None else (b, a.wall)
    utc = aware.astimezone(UTC).replace(tzinfo=None)
    local = nearest_year(bare, utc)
    if local is None:
        return
    offset = round((local - utc) / QUARTER) * QUARTER
    if abs(local - utc - offset) <= tolerance and timedelta(hours=-12) <= offset <= timedelta(hours=14):
        votes[offset] += 1


def nearest_year(stamp: Stamp, other: datetime) -> datetime | None:
    """The stamp's time in its own year, or, if it has none, in the year that brings it nearest to the other time."""
    if stamp.wall is None or stamp.has_year:
        return stamp.wall
    years = (other.year - 1, other.year, other.year + 1)
    found = [w for y in years if (w := dated(stamp.wall, y)) is not None]
    return min(found, key=lambda w: abs(w - other), default=None)


def machine_zone(notes: Notes) -> tzinfo | None:
    """The zone that the bundle says its machine is set to, if it names one only."""
    if len(notes.zone_names) == 1:
        name = next(iter(notes.zone_names))
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            pass
    return zone_of(next(iter(notes.offsets))) if len(notes.offsets) == 1 else None


def host_zone(tracks: list[Track]) -> tzinfo | None:
    """The offset that every journal with stamps of both kinds shows: then it is the host's, and its kernel log's."""
    offsets = {o for t in tracks if t.kind is Kind.JOURNAL and (o := offset_of(t)) is not None}
    if len(offsets) != 1:
        return None
    offset = offsets.pop()
    return timezone(offset) if offset else UTC
