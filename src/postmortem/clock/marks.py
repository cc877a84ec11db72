"""Sources -> their stamps, and what else they say about clocks: zones, boot time, pairs of two clocks in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from postmortem.lazy import lazy
from postmortem.lines import Stamp, best_stamp, stamps_of
from postmortem.lines.stamps import iso, weekday
from postmortem.model import READABLE, Kind
from postmortem.sources import Source

KERNEL_TAG = " kernel: "
STAMPED = frozenset({Kind.KERNEL, Kind.JOURNAL, Kind.LOG, Kind.PROBE, Kind.CONTAINER, Kind.LISTING})
_SMI = lazy(r"(?:Timestamp\s*: |<timestamp>|^)((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [^<]+)")
_AUDIT = lazy(r"audit\((\d{10}\.\d{3}):\d+\)")
_RTC = lazy(r"setting system clock to \S+ \S+ \((\d{10})\)")
_NOTE = lazy(
    r"(?P<btime>btime|boot_epoch:) (?P<boot>\d{9,10})$|epoch: (?P<epoch>\d{10})$|uptime_s: (?P<up>\d+\.\d+)$"
    r"|local: (?P<local>\S+)(?: \S+)?$|(?:timezone: |localtime: \S*zoneinfo/)(?P<name>[\w+/-]+)$"
    r"|\s+Time zone: (?P<area>[\w+/-]+) \([^,]+, (?P<offset>[+-]\d{4})\)"
)


@dataclass(slots=True)
class Track:
    """The stamped lines of one source, and the pairs of clocks that were seen in it."""

    path: str
    kind: Kind
    numbers: list[int] = field(default_factory=list)
    stamps: list[Stamp] = field(default_factory=list)
    both: list[tuple[int, Stamp, Stamp]] = field(default_factory=list)  # (index, outer, inner) of two clocks in a line
    booted: list[tuple[float, float]] = field(default_factory=list)  # (boot seconds, UTC seconds) that one line states
    rtc: list[tuple[float, float]] = field(default_factory=list)  # the same by the hardware clock, which may be wrong
    messages: dict[str, int] = field(default_factory=dict)  # kernel lines by text, for dmesg beside dmesg -T
    kept: int = 0


@dataclass(slots=True)
class Notes:
    """What the bundle says of the machine's clock: boot time, time zone by name or offset, local time."""

    boot_s: list[float] = field(default_factory=list)
    zone_names: set[str] = field(default_factory=set)
    offsets: set[str] = field(default_factory=set)


def track_of(source: Source) -> Track:
    """The stamps of a source, read line by line from what was kept of it."""
    track = Track(source.path, source.kind)
    if source.state not in READABLE:
        return track
    if source.kind is Kind.SMI:
        _smi(source, track)
    elif source.kind in STAMPED:
        _log(source, track)
    return track


def _smi(source: Source, track: Track) -> None:
    """nvidia-smi's own stamps: first line of the table, `Timestamp : Tue Feb 27 …`, `<timestamp>…`."""
    for number, raw in source.text.kept():
        track.kept += 1
        if (m := _SMI.search(raw)) and (got := weekday(m[1])):
            _add(track, number, (got[0],))


def _log(source: Source, track: Track) -> None:
    kernel = source.kind is Kind.KERNEL
    dialect = source.dialect
    for number, raw in source.text.kept():
        track.kept += 1
        if stamps := stamps_of(raw, dialect, kernel):
            _add(track, number, stamps)
            if kernel and stamps[-1].clock != "delta":
                _kernel_line(track, raw, stamps[-1])
            elif source.kind is Kind.JOURNAL and KERNEL_TAG in raw:
                text = raw.partition(KERNEL_TAG)[2]
                _noted(track, text.partition("] ")[2] if text.startswith("[") else text)


def _add(track: Track, number: int, stamps: tuple[Stamp, ...]) -> None:
    best = best_stamp(stamps)
    if best is None:
        return
    if len(stamps) > 1:
        track.both.append((len(track.numbers), stamps[0], stamps[-1]))
    track.numbers.append(number)
    track.stamps.append(best)


def _kernel_line(track: Track, raw: str, stamp: Stamp) -> None:
    """Keeps what lets a kernel line be found in another form of the same log, and a wall time that its text states."""
    _noted(track, raw.partition("] ")[2])
    if stamp.clock == "boot" and stamp.seconds is not None:
        if "audit(" in raw and (m := _AUDIT.search(raw)):
            track.booted.append((stamp.seconds, float(m[1])))
        elif "setting system clock" in raw and (m := _RTC.search(raw)):
            track.rtc.append((stamp.seconds, float(m[1])))


def _noted(track: Track, text: str) -> None:
    if text and len(track.messages) < 4000:
        track.messages[text] = -1 if text in track.messages else len(track.stamps) - 1


def notes_of(sources: Sequence[Source]) -> Notes:
    """What copies of /proc/stat, timedatectl's output and the collector's own clock members say.

    `btime 1714564800` (/proc/stat), `Time zone: Asia/Singapore (+08, +0800)` (timedatectl), `epoch: 1714564800`.
    """
    notes = Notes()
    for source in sources:
        if source.state in READABLE and source.text.count <= 2000 and source.kind not in (Kind.KERNEL, Kind.SCRIPT):
            _note(source, notes)
    return notes


def _note(source: Source, notes: Notes) -> None:
    epoch = up = 0.0
    for _, raw in source.text.kept():
        if ":" not in raw and not raw.startswith("btime "):
            continue
        m = _NOTE.match(raw)
        if not m:
            continue
        epoch = float(m["epoch"] or epoch)
        up = float(m["up"] or up)
        if m["boot"]:
            notes.boot_s.append(float(m["boot"]))
        notes.zone_names.update(n for n in (m["name"], m["area"]) if n)
        if m["offset"]:
            notes.offsets.add(m["offset"])
        if m["local"] and (got := iso(m["local"])) and got[0].wall and got[0].wall.tzinfo:
            notes.offsets.add(got[0].wall.strftime("%z"))
    if epoch and up:
        notes.boot_s.append(epoch - up)


def seconds(when: datetime) -> float:
    """Seconds since 1970; a time without a zone is read as UTC."""
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
