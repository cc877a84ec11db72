"""Whether the kernel's log could be read, and whether it reaches over the moment of a death."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from postmortem.detect.looking import apart, base, matching
from postmortem.lazy import lazy
from postmortem.model import READABLE, Event, Evidence, Fact, Instant, Kind, State
from postmortem.parse.ending import finished_at
from postmortem.scene import Reading, Scene

_REFUSED = lazy(
    r"(?i)read kernel buffer failed|klogctl|/dev/kmsg.*(?:not permitted|denied)|dmesg: .*(?:not permitted|denied)"
)
_NAMED = lazy(r"(?i)dmesg|kmsg|kern(?:el)?[._-]|kernel$")
_MTIME = lazy(r"\bmtime (\d{9,11})\b")  # in the collector's note on a log
LAST_LINES = 3
NEAR_S = 60.0
_RING = lazy(r"\[|<\d+>|\d+,\d+,\d+,")  # dmesg, a console, /dev/kmsg
_ANY_ZONE = 26 * 3600.0  # the widest that two zones lie apart
LOST = r"messages suppressed|callbacks suppressed|Missed \d+ kernel messages|kmsg buffer overrun|messages lost"
NEEDLES = (LOST,)


def find(scene: Scene) -> Iterator[Event | Fact]:
    """`kernel.readable` once, and `kernel.covers_death` for each death whose time is known."""
    witness = [r for r in scene.of_kind(Kind.KERNEL, Kind.JOURNAL) if _has_kernel_lines(r)]
    refusal = _refusal(scene)
    if witness:
        yield Fact("kernel.readable", True, "", witness[0].evidence(1))
    elif refusal is not None:
        yield Fact("kernel.readable", False, "", refusal)
        return
    for death, entity in _deaths(scene):
        for reading in witness:
            covered = covers(reading, death)
            if covered is not None:
                yield Fact("kernel.covers_death", covered, "", reading.evidence(1), entity)
                if covered and not any(may_be(kill, death, entity, scene) for kill in scene.named("oom.kill")):
                    yield Fact("kernel.no_kill_for", True, "", reading.evidence(1), entity)
                break


def may_be(kill: Event, death: Instant, entity: dict[str, str], scene: Scene) -> bool:
    """Whether a kill line may tell of this death: by its pid, or near in time where pids cannot be compared."""
    if kill.fields.get("pid") == entity.get("pid"):
        return True
    gap = apart(kill.when, death)
    return not host_pids(scene) and (gap is None or abs(gap) < NEAR_S)


def host_pids(scene: Scene) -> bool:
    """Whether the process table counts pids as the kernel does: kthreadd is pid 2 of the first namespace only."""
    return any(f.value == "kthreadd" for f in scene.facts_of("proc.comm", pid="2"))


def _has_kernel_lines(reading: Reading) -> bool:
    for number in range(1, min(reading.source.text.count, 400) + 1):
        line = reading.line(number)
        if line is not None and line.channel == "kernel" and line.raw.strip() and not _REFUSED.search(line.raw):
            return True
    return False


def _refusal(scene: Scene) -> Evidence | None:
    """The line, state or probe that says why the kernel log is not there."""
    for reading in scene.readings:
        if not _NAMED.search(base(reading.path)) and reading.source.kind is not Kind.KERNEL:
            continue
        if reading.source.state not in READABLE and reading.source.state is not State.MISSING:
            return Evidence(reading.path, 0, reading.source.reason or str(reading.source.state))
        for number in range(1, 4):
            if _REFUSED.search(reading.raw(number) or ""):
                return reading.evidence(number)
    for probe in scene.probes:
        if probe.name.startswith(("kernel", "kmsg", "dmesg")) and probe.state in (
            State.DENIED,
            State.TIMEOUT,
            State.HUNG,
        ):
            return Evidence(probe.member or probe.name, 0, probe.reason or str(probe.state))
    return None


def _deaths(scene: Scene) -> Iterator[tuple[Instant, dict[str, str]]]:
    """Ends by a signal, or by a status that may mean one, with the entity that they are about."""
    seen: set[tuple[str, str]] = set()
    for event in scene.named("exit"):
        when = event.when or finished_at(event.fields.get("finished", "")) or _last_written(event, scene)
        if "signal" not in event.fields or when is None:
            continue
        entity = {key: event.fields[key] for key in ("pid", "comm", "container") if key in event.fields}
        key = (entity.get("pid", ""), entity.get("comm", "") or entity.get("container", ""))
        if key not in seen:
            seen.add(key)
            yield when, entity


def _last_written(event: Event, scene: Scene) -> Instant | None:
    """When the log that ends with this line was last written, as the collector saw it: the line is no later."""
    reading = scene.reading(event.source)
    if reading is None or event.line < reading.source.text.count - LAST_LINES:
        return None
    for probe in scene.probes:
        found = _MTIME.search(probe.reason) if probe.member == event.source else None
        if found:
            return Instant(datetime.fromtimestamp(int(found[1]), UTC), 5.0)
    return None


def covers(reading: Reading, death: Instant | None) -> bool | None:
    """Whether the kernel log holds the moment; None where its times cannot be told.

    A ring that was read after the death reaches up to the reading, however old its last line is; a log file only up
    to its last line.
    """
    first, last = _edge(reading, range(1, 50)), _edge(reading, range(reading.source.text.count, 0, -1))
    after_start = _apart(first, death)
    if after_start is None or first is None or last is None or death is None:
        return None
    slack = 2 + first.plus_minus_s + death.plus_minus_s
    if after_start < -slack:
        return False
    if not _is_ring(reading):
        before_end = _apart(death, last)
        if before_end is None or before_end < -slack:
            return False
    lost = [reading.when(line.number) for line in matching(reading, LOST)]
    return not any(abs(gap) < 60 for when in lost if (gap := apart(when, death)) is not None)


def _apart(a: Instant | None, b: Instant | None) -> float | None:
    """b - a in seconds; where only one zone is known, only a distance that no zone could turn round counts."""
    exact = apart(a, b)
    if exact is not None or a is None or b is None:
        return exact
    rough = (b.utc - a.utc).total_seconds()
    return rough if abs(rough) > _ANY_ZONE else None


def _edge(reading: Reading, numbers: range) -> Instant | None:
    for number in numbers:
        when = reading.when(number) if reading.raw(number) else None
        if when is not None:
            return when
    return None


def _is_ring(reading: Reading) -> bool:
    """dmesg's own output: every line is the kernel's and has the boot clock, or the clock computed from it."""
    if reading.source.kind is not Kind.KERNEL:
        return False
    first = next((line for number in range(1, 20) if (line := reading.line(number)) is not None and line.stamp), None)
    return first is not None and _RING.match(first.raw.lstrip()) is not None and not first.host


DETECTOR = find
