"""All sources -> one clock each."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from math import isnan, nan

from postmortem.clock import boot
from postmortem.clock.calendar import clock_seconds, day_steps, only_date, with_years
from postmortem.clock.disagree import widened
from postmortem.clock.marks import Track, notes_of, seconds, track_of
from postmortem.clock.timeline import YEAR_UNKNOWN, Clock
from postmortem.clock.zone import Zone, host_zone, machine_zone, zone_for
from postmortem.lines import Stamp
from postmortem.model import READABLE, Instant, Kind
from postmortem.sources import Source

DAY = timedelta(days=1)
NO_CLOCK = Clock()  # one for all sources without a stamp
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Times:
    """What becomes of a track's stamps, one value each."""

    zone: Zone
    utc: list[float]
    plus_minus: list[float]
    order: list[float]
    zones: bytearray
    local: list[datetime | None] = field(default_factory=list)


def make_clocks(
    sources: Sequence[Source], now: datetime | None = None, tz: tzinfo | None = None
) -> tuple[dict[str, Clock], Instant | None]:
    """A clock for each source by path, and the moment of the analysis: as given, else the newest stamp with a year."""
    if now is not None and now.tzinfo is None:
        now = now.replace(tzinfo=tz or UTC)
    tracks = [track_of(s) for s in sources if s.state in READABLE]
    notes = notes_of(sources)
    machine, host = machine_zone(notes), host_zone(tracks)
    newest, slack = _anchor(tracks, now)
    times = {}
    for t in tracks:
        of_host = host if t.kind in (Kind.KERNEL, Kind.JOURNAL) else None
        times[t.path] = _wall_times(t, zone_for(t, tz, machine or of_host, now), newest, slack)
    for t in tracks:
        _date_clock_times(t, times, tracks)
    _boot_times(tracks, times, boot.from_notes(notes))
    for t in tracks:
        widened(t, times[t.path].utc, times[t.path].plus_minus)
        _deltas(t, times[t.path])
        _orders(t, times[t.path])
    moment = Instant(now.astimezone(UTC), 0.0, True) if now else _newest_instant(tracks, times)
    none = {s.path: NO_CLOCK for s in sources}
    return none | {t.path: _clock(t, times[t.path]) for t in tracks if t.numbers}, moment


def _anchor(tracks: Sequence[Track], now: datetime | None) -> tuple[datetime, timedelta]:
    """What a year is reckoned back from: no stamp is later than this moment plus the slack."""
    if now is not None:
        return now.astimezone(UTC).replace(tzinfo=None), DAY
    with_year = [_latest([seconds(s.wall) for s in t.stamps if s.wall and s.has_year and s.has_date]) for t in tracks]
    with_year += [utc for t in tracks for _, utc in (t.booted or t.rtc)[-1:]]
    if known := [x for x in with_year if x is not None]:
        return (_EPOCH + timedelta(seconds=max(known))).replace(tzinfo=None), timedelta(days=182)
    ends = [w[-1] for t in tracks if (w := [s.wall for s in t.stamps if s.wall and not s.has_year and s.has_date])]
    newest = datetime(YEAR_UNKNOWN, 12, 31, 23, 59, 59)
    if ends and max(ends) - min(ends) > timedelta(days=182):  # they lie on both sides of a turn of the year
        early = max(e for e in ends if e - min(ends) <= timedelta(days=182))
        return early.replace(year=YEAR_UNKNOWN), DAY
    return newest, timedelta(0)


def _latest(values: list[float]) -> float | None:
    """The largest, unless it stands alone by more than a day among five or more."""
    if not values:
        return None
    values = sorted(values)
    return values[-2] if len(values) >= 5 and values[-1] - values[-2] > DAY.total_seconds() else values[-1]


def _wall_times(track: Track, zone: Zone, newest: datetime, slack: timedelta) -> Times:
    """UTC for every wall stamp with a date; what has none stays open."""
    count = len(track.stamps)
    times = Times(zone, [nan] * count, [1.0] * count, [nan] * count, bytearray(count))
    times.local = [s.wall if s.wall and s.has_year else None for s in track.stamps]
    bare = [i for i, s in enumerate(track.stamps) if s.wall and s.has_date and not s.has_year]
    days = [w.replace(tzinfo=None) for i in bare if (w := track.stamps[i].wall)]
    for i, when in zip(bare, with_years(days, newest, slack), strict=True):
        stamp = track.stamps[i]
        times.local[i] = when.replace(tzinfo=stamp.wall.tzinfo) if when and stamp.wall else None
    for i, local in enumerate(times.local):
        if local is not None:
            _put(track, times, i, local)
    return times


def _put(track: Track, times: Times, i: int, local: datetime) -> None:
    aware = local.tzinfo is not None
    times.utc[i] = seconds(local if aware else local.replace(tzinfo=times.zone.tz))
    times.zones[i] = aware or times.zone.known
    times.plus_minus[i] = _plus_minus(track, track.stamps[i])


def _plus_minus(track: Track, stamp: Stamp) -> float:
    """Uncertainty in seconds: `dmesg -T` computes its times and drifts; whole seconds are cut off."""
    if track.kind is Kind.KERNEL and stamp.has_year and (stamp.text.startswith("[") or "," in stamp.text):
        return 2.0
    return max(stamp.resolution_s, 0.05)


def _date_clock_times(track: Track, times: dict[str, Times], tracks: Sequence[Track]) -> None:
    """Dates for times of day: from the dated lines around them, else the one date on which the other sources lie."""
    open_ = [i for i, s in enumerate(track.stamps) if s.wall and not s.has_date]
    if not open_:
        return
    mine = times[track.path]
    clocks = [clock_seconds(w) for i in open_ if (w := track.stamps[i].wall)]
    before = next((x for x in reversed(mine.local[: open_[0]]) if x), None)
    after = next((x for x in mine.local[open_[-1] :] if x), None)
    steps = day_steps(clocks, clock_seconds(before) if before else None)
    if before:
        first = before.date()
    elif after:
        first = after.date() - timedelta(days=steps[-1] + (clocks[-1] > clock_seconds(after) + 43200))
    else:
        span = _span(track, times, tracks)
        guess = only_date(min(clocks), clocks[-1], steps[-1], span) if span else None
        if guess is None:
            for i, step, clock in zip(open_, steps, clocks, strict=True):
                mine.order[i] = step * 86400 + clock
            return
        first = guess
    for i, step, clock in zip(open_, steps, clocks, strict=True):
        local = datetime.combine(first, datetime.min.time()) + timedelta(days=step, seconds=clock)
        mine.local[i] = local
        _put(track, mine, i, local)


def _span(track: Track, times: dict[str, Times], tracks: Sequence[Track]) -> tuple[datetime, datetime] | None:
    """First and last date of the other sources' logs, in whatever zone they are."""
    seen = [
        x.replace(tzinfo=None)
        for t in tracks
        if t is not track and t.kind in (Kind.LOG, Kind.JOURNAL, Kind.SMI, Kind.CONTAINER)
        for x, s in zip(times[t.path].local, t.stamps, strict=True)
        if x and s.has_date
    ]
    return (min(seen), max(seen)) if seen else None


def _boot_times(tracks: Sequence[Track], times: dict[str, Times], noted: boot.Anchors | None) -> None:
    """UTC for the kernel's seconds, where some pair of clocks ties them to the wall."""
    utc = {t.path: times[t.path].utc for t in tracks}
    known = {t.path: bool(times[t.path].zone.known or _all_aware(t)) for t in tracks}
    syslog = boot.from_syslog(tracks, utc, known)
    for t in tracks:
        if not any(s.clock == "boot" for s in t.stamps):
            continue
        alone = boot.is_earlier_boot(t.path)
        mine = boot.own(t)
        exact = mine if t.booted and not boot.clock_set_later(mine, noted) else None
        anchors = exact or (None if alone else noted or syslog or boot.beside(t, tracks, utc, known)) or mine
        if anchors is None:
            continue
        out = times[t.path]
        for i, s in enumerate(t.stamps):
            if s.clock == "boot" and s.seconds is not None:
                out.utc[i] = anchors.utc(s.seconds)
                out.plus_minus[i] = anchors.plus_minus_s
                out.zones[i] = anchors.zone_known


def _all_aware(track: Track) -> bool:
    return all(s.wall is None or s.wall.tzinfo is not None for s in track.stamps)


def _deltas(track: Track, times: Times) -> None:
    """`[  +0.000012]` counts from the line before, as far as no line in between is missing."""
    total, base = 0.0, nan
    for i, s in enumerate(track.stamps):
        if s.clock != "delta":
            total, base = 0.0, times.utc[i]
            continue
        if i and track.numbers[i] != track.numbers[i - 1] + 1:
            base = nan
        total += s.seconds or 0.0
        if not isnan(base) and i:
            times.utc[i], times.zones[i] = base + total, times.zones[i - 1]
            times.plus_minus[i] = times.plus_minus[i - 1]


def _orders(track: Track, times: Times) -> None:
    """The order of lines: by UTC where all have it, else by the one clock that most stamps are of."""
    if not any(isnan(u) for u in times.utc):
        times.order = list(times.utc)
        return
    clocks = Counter(s.clock for s in track.stamps)
    most = clocks.most_common(1)[0][0] if clocks else ""
    total = 0.0
    for i, s in enumerate(track.stamps):
        total += s.seconds or 0.0
        if s.clock != most:
            times.order[i] = nan
        elif s.clock == "delta":
            times.order[i] = total
        elif s.clock == "wall":
            times.order[i] = times.order[i] if isnan(times.utc[i]) else times.utc[i]
        else:
            times.order[i] = s.seconds if s.seconds is not None else nan


def _newest_instant(tracks: Sequence[Track], times: dict[str, Times]) -> Instant | None:
    """The newest wall stamp of the input whose year is known."""
    best: tuple[float, float, bool] | None = None
    for t in tracks:
        mine = times[t.path]
        walls = [i for i, s in enumerate(t.stamps) if s.wall and (x := mine.local[i]) and x.year > YEAR_UNKNOWN]
        top = _latest([mine.utc[i] for i in walls])
        if top is None:
            continue
        i = next(i for i in reversed(walls) if mine.utc[i] == top)
        if best is None or top > best[0]:
            best = (top, mine.plus_minus[i], bool(mine.zones[i]))
    return Instant(_EPOCH + timedelta(seconds=best[0]), best[1], best[2]) if best else None


def _clock(track: Track, times: Times) -> Clock:
    stamped = len(track.numbers)
    return Clock(
        array("Q", track.numbers), array("d", times.utc), array("d", times.plus_minus), array("d", times.order),
        bytes(times.zones), stamped * 5 >= track.kept, track.kind is Kind.SMI,
    )  # fmt: skip
