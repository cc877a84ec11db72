"""Logs that fall silent without a farewell while others go on, and logs that are named but were not kept."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from postmortem.detect.looking import apart, base, matching, tail
from postmortem.lazy import lazy
from postmortem.model import READABLE, Event, Fact, Instant, Kind
from postmortem.scene import Reading, Scene

NAMED = (
    r"(?i)\b(?:logs?|log ?file|logging|output|stdout|stderr)\b(?: (?:is|are|in|at|to|file|written|goes|saved|"
    r"under|go))*[:=( ]+"
    r"[\"'`]?/[^\s\"'`)]+\.(?:log|out|err)\b"
)
MISSED = r"(?:cannot (?:stat|open|access)|can't open|No such file).*?\.log\b"
NEEDLES = (NAMED, MISSED)
_PATH = lazy(r"(?<![\w.])(?P<path>/[^\s\"'`(),:;|]+\.(?:log|out|err))\b")
_FAREWELL = lazy(
    r"(?i)\b(?:shut(?:ting)? ?down|clean(?:ing|ed)? ?up|stopp(?:ed|ing)|exit(?:ed|ing|s)?|goodbye|bye|"
    r"finish(?:ed)?|done|complet\w+|clos(?:ed|ing)|"
    r"terminat\w+|killed|abort\w*|fatal|panic\w*|draining|traceback|signal|SIG[A-Z]+)\b"
)


def find(scene: Scene) -> Iterator[Event | Fact]:
    """`log.silence` and `log.missing` events."""
    yield from _missing(scene)
    ends = [(reading, *_last(reading)) for reading in scene.of_kind(Kind.LOG, Kind.JOURNAL)]
    moments = {
        zone: sorted(when.utc for _, _, when in ends if when and when.zone_known is zone) for zone in (True, False)
    }
    for reading, line, when in ends:
        if reading.source.kind is not Kind.LOG or when is None:
            continue
        gap = _longest_after(when, moments[when.zone_known])
        if gap > max(30.0, 5 * usual_gap(reading)) and not _says_farewell(reading):
            fields = {"file": reading.path, "last_line": str(line), "last_text": (reading.raw(line) or "")[:160]}
            yield reading.event("log.silence", line, fields | {"gap_s": f"{gap:.0f}"})


def _longest_after(when: Instant, moments: Sequence[datetime]) -> float:
    """Seconds to the last of the sorted moments that lies less than a day after this one."""
    at = bisect_left(moments, when.utc + timedelta(days=1)) - 1
    return (moments[at] - when.utc).total_seconds() if at >= 0 else 0.0


def _last(reading: Reading) -> tuple[int, Instant | None]:
    """The last line with a stamp of its own, and its time."""
    for line in reversed(tail(reading, 40)):
        if line.stamp is not None:
            return line.number, reading.when(line.number)
    return 0, None


def usual_gap(reading: Reading) -> float:
    """The longest pause, in seconds, between the last lines of the log: it may speak once a minute."""
    times = [
        when for line in tail(reading, 60) if line.stamp is not None and (when := reading.when(line.number)) is not None
    ]
    return max((gap for a, b in pairwise(times) if (gap := apart(a, b)) is not None), default=60.0)


def _says_farewell(reading: Reading) -> bool:
    return any(_FAREWELL.search(line.message) for line in tail(reading, 6))


def _missing(scene: Scene) -> Iterator[Event]:
    """Logs that a line names as such and that are not in the bundle."""
    there = {base(r.path) for r in scene.readings if r.source.state in READABLE}
    stems = {name.split(".")[0] for name in there}
    told: set[str] = set()
    for reading in scene.of_kind(Kind.LOG, Kind.JOURNAL, Kind.SCRIPT, Kind.PS):
        for needle in NEEDLES if reading.source.kind in (Kind.LOG, Kind.JOURNAL) else ():
            for line in matching(reading, needle):
                for match in _PATH.finditer(line.message):
                    name = base(match["path"])
                    if name in there or name in told or _kept_elsewhere(match["path"], there, stems):
                        continue
                    told.add(name)
                    fields = {"file": match["path"], "named_by": f"{reading.path}:{line.number}"}
                    yield reading.event("log.missing", line.number, fields)


def _kept_elsewhere(path: str, there: set[str], stems: set[str]) -> bool:
    """A collector may flatten a path (`var_log_x.log`) or add to a name (`x.log.tail`)."""
    flat = path.strip("/").replace("/", "_")
    name = base(path)
    return (
        any(other.endswith((name, flat)) or other.startswith((name, flat)) for other in there)
        or name.split(".")[0] in stems
    )


DETECTOR = find
