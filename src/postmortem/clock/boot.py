"""When the machine booted: what puts the kernel's seconds on the wall clock."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan

from postmortem.clock.marks import Notes, Track

LONG = 60  # characters of a line that is hardly written twice
REBOOT_S = 60.0  # boot seconds that fall by more belong to another boot
CLOCK_SET_S = 600.0  # by then a machine has asked for the time
EARLIER_BOOT = ("pstore", "ramoops", "prev", "last-boot")


@dataclass(frozen=True, slots=True)
class Anchors:
    """Pairs (boot seconds, UTC of second 0) of one boot, ascending; a suspend makes later ones grow."""

    pairs: tuple[tuple[float, float], ...]
    plus_minus_s: float
    zone_known: bool = True

    def utc(self, seconds: float) -> float:
        """The UTC seconds of a kernel stamp, by the last pair before it, else the first after it."""
        at = bisect_right(self.pairs, (seconds, float("inf"))) - 1
        return seconds + self.pairs[max(at, 0)][1]


def _falling(pairs: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Pairs without those whose wall time was taken late: none lies later than one that follows it."""
    kept: list[tuple[float, float]] = []
    lowest = float("inf")
    for seconds, zero in reversed(pairs):
        lowest = min(lowest, zero)
        kept.append((seconds, lowest))
    return tuple(reversed(kept))


def in_step(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The pairs after the wall clock was last set back; none where that happened long after the boot and one is left.

    A clock is set back soon after the boot. Records of several machines put together go back and forth.
    """
    ordered = sorted(pairs)
    back = [i for i, (one, two) in enumerate(pairwise(ordered), 1) if two[1] < one[1] - REBOOT_S]
    kept = ordered[back[-1] :] if back else ordered
    return kept if len(kept) > 1 or not back or ordered[back[-1] - 1][0] < CLOCK_SET_S else []


def own(track: Track) -> Anchors | None:
    """What the log itself says: `audit(1714564800.123:4)` in its records, or the hardware clock read at boot."""
    for pairs, plus_minus in ((track.booted, 0.5), (track.rtc, 5.0)):
        if kept := in_step(pairs):
            return Anchors(tuple((s, utc - s) for s, utc in kept), plus_minus)
    return None


def clock_set_later(own: Anchors | None, noted: Anchors | None) -> bool:
    """Whether the log's own pairs were taken before the clock was set: they boot the machine long before it booted.

    A suspend has the other sign: it makes the log's pairs later than the boot time that /proc/stat tells.
    """
    return own is not None and noted is not None and own.pairs[-1][1] < noted.pairs[-1][1] - REBOOT_S


def from_notes(notes: Notes) -> Anchors | None:
    """What /proc/stat or the collector's clock member says, if all agree on one boot."""
    if not notes.boot_s or max(notes.boot_s) - min(notes.boot_s) > REBOOT_S:
        return None
    return Anchors(((0.0, min(notes.boot_s)),), 1.5)


def from_syslog(tracks: Sequence[Track], utc: dict[str, list[float]], known: dict[str, bool]) -> Anchors | None:
    """Lines that carry both clocks: `May  6 00:38:27 host kernel: [ 1564.39] text`; the last boot counts."""
    best: Anchors | None = None
    for track in tracks:
        last: list[tuple[float, float]] = []
        for index, outer, inner in track.both:
            if inner.clock != "boot" or inner.seconds is None or outer.clock != "wall" or isnan(utc[track.path][index]):
                continue
            if last and inner.seconds < last[-1][0] - REBOOT_S:
                last = []
            last.append((inner.seconds, utc[track.path][index] - inner.seconds))
        if last and (best is None or last[-1][1] > best.pairs[-1][1]):
            ordered = tuple(sorted(_falling(last)))
            best = Anchors(ordered, 2.0, known[track.path])
    return best


def beside(
    track: Track, others: Sequence[Track], utc: dict[str, list[float]], known: dict[str, bool]
) -> Anchors | None:
    """The same lines in a form with wall time: dmesg beside dmesg -T or a syslog.

    Three lines must agree, or a long one be there: what came again would stand twice in the kernel's own log.
    """
    for other in others:
        if other is track:
            continue
        pairs, long = [], False
        for text, index in track.messages.items():
            match = other.messages.get(text, -1)
            if index < 0 or match < 0 or other.stamps[match].clock != "wall" or isnan(utc[other.path][match]):
                continue
            seconds = track.stamps[index].seconds
            if seconds is not None:
                pairs.append((seconds, utc[other.path][match] - seconds))
                long = long or len(text) >= LONG
        pairs.sort()
        if (len(pairs) >= 3 or long) and pairs[-1][1] - pairs[0][1] < REBOOT_S:
            return Anchors(_falling(pairs), 2.0, known[other.path])
    return None


def is_earlier_boot(path: str) -> bool:
    """Whether the name says that this log is of the boot before, so that no other source dates it."""
    return any(word in path.lower() for word in EARLIER_BOOT)
