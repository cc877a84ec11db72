"""File order that is not event order: late flushes, stderr before stdout, broken phase order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from postmortem.detect.late_flush import late_at_exit
from postmortem.detect.looking import SMALL, kept, tail
from postmortem.detect.order import Entry, entries, kin, starts_anew, unstamped_tag
from postmortem.detect.uniform import lines_at, uniform
from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Reading, Scene

NUMBERED = r"(?i)\b(?:phase|stage)[ #]*\d"
NEEDLES = (NUMBERED,)
_HALF_HOUR = 1800.0
_MOST = 5  # events of one file; a log that is merged throughout would give hundreds


@dataclass(frozen=True, slots=True)
class Back:
    """A place where stamps go back: entries `ahead` stand before `late` ones that are older by `seconds`."""

    late: tuple[Entry, ...]
    ahead: tuple[Entry, ...]
    seconds: float
    returns: bool  # the late lines end where the time had already been
    reason: str = ""


def find(scene: Scene) -> Iterator[Event | Fact]:
    """`log.reorder` events: which lines stand late, behind which, by how many seconds."""
    for reading in scene.of_kind(Kind.LOG):
        if in_order(reading) or len(lines := kept(reading)) < 4:
            continue
        seen = entries(lines)
        found = [event for back in judged(backs(seen), seen) for event in _event(reading, back)]
        found.extend(late_at_exit(scene, reading, seen))
        found.extend(_phases(reading, seen))
        yield from found[:_MOST]


def in_order(reading: Reading) -> bool:
    """Whether a look at the form of its stamps shows that nothing in a log can be out of order."""
    source = reading.source
    if source.text.count > SMALL or NUMBERED not in source.asked or source.hits.get(NUMBERED):
        return source.text.count > SMALL
    if not reading.clock.numbers:
        return True  # no stamp that could be behind another
    alike = uniform(reading)
    if alike is None or alike.back_s > 1.0 or any(unstamped_tag(line) for line in tail(reading, 1)):
        return False
    return all(line.stamp is None for line in lines_at(reading, alike.others))


def backs(seen: Sequence[Entry]) -> list[Back]:
    """The places where a stamp is older than one before it by more than jitter and the stamps' own resolution."""
    found: list[Back] = []
    top: Entry | None = None
    i = 0
    while i < len(seen):
        entry = seen[i]
        if starts_anew(entry.line) or (top is not None and entry.at is not None and entry.clock != top.clock):
            top = None
        if entry.at is None:
            i += 1
            continue
        gap = _gap(top, entry)
        if top is None or gap is None:
            top = entry
        elif gap > _slack(entry):
            end = _until(seen, i, top)
            found.append(_back(seen, i, end, top, gap))
            i = end
            continue
        elif gap < 0:
            top = entry
        i += 1
    return found


def _gap(top: Entry | None, entry: Entry) -> float | None:
    """How far the entry is behind; None where midnight, a change of summer time or of the zone explains it."""
    if top is None or top.at is None or entry.at is None:
        return None
    gap = top.at - entry.at
    if entry.clock == "time-of-day" and gap > 6 * 3600:
        return None
    rest = gap % _HALF_HOUR
    if gap >= _HALF_HOUR - 5 and entry.clock != "zoned" and min(rest, _HALF_HOUR - rest) < 5:
        return None
    return gap


def _slack(entry: Entry) -> float:
    return max(1.0, 1.5 * entry.resolution)


def _until(seen: Sequence[Entry], start: int, top: Entry) -> int:
    """The index after the late lines: where the time is again what it had been."""
    assert top.at is not None
    for i in range(start, len(seen)):
        at = seen[i].at
        if starts_anew(seen[i].line) or (at is not None and at >= top.at - seen[i].resolution / 2):
            return i
    return len(seen)


def _back(seen: Sequence[Entry], start: int, end: int, top: Entry, gap: float) -> Back:
    late = tuple(entry for entry in seen[start:end] if entry.at is not None)
    first = late[0].at
    assert first is not None
    assert top.at is not None
    ahead: list[Entry] = []
    for entry in reversed(seen[:start]):
        if entry.at is None:
            continue
        if entry.clock != top.clock or entry.at <= first:
            break
        ahead.append(entry)
    last = late[-1].at
    assert last is not None
    jump = (seen[end].at or 0) - last if end < len(seen) and seen[end].at is not None else top.at - last
    steps = [b.at - a.at for a, b in pairwise(late) if a.at is not None and b.at is not None]
    usual = sorted(steps)[len(steps) // 2] if steps else 0.0
    return Back(late, tuple(reversed(ahead)), gap, jump <= max(3 * usual, 2.0))


def judged(found: list[Back], seen: Sequence[Entry]) -> list[Back]:
    """Those that buffering explains; not a clock that was set back, nor hosts, ranks or zones merged into one file."""
    named = [_with_reason(back, seen, len(found)) for back in found]
    return sorted((back for back in named if back.reason), key=lambda back: -back.seconds)


def _with_reason(back: Back, seen: Sequence[Entry], count: int) -> Back:
    return Back(back.late, back.ahead, back.seconds, back.returns, _reason(back, seen, count))


def _reason(back: Back, seen: Sequence[Entry], count: int) -> str:
    late, ahead = {e.writer for e in back.late}, {e.writer for e in back.ahead}
    if _foreign(late, ahead, seen):
        return ""
    if len(back.ahead) <= 10 and _first(back, seen) and (_banner(back, seen) or _louder(back)):
        return "stderr before stdout"
    if len(back.ahead) <= 3 and _louder(back):
        return "stderr before stdout"
    long_enough = len(back.late) >= 3 or back.seconds >= 5
    if late.isdisjoint(ahead) and long_enough and back.returns and all(late):
        return "late flush of another writer"
    if not late.isdisjoint(ahead) and long_enough and count >= 2 and back.returns and _blocks(seen):
        return "late flush"
    return ""


def _foreign(late: set[str], ahead: set[str], seen: Sequence[Entry]) -> bool:
    """Other hosts, or ranks of one job whose logs were put one after the other."""
    hosts = {entry.line.host for entry in seen if entry.line.host}
    if len(hosts) > 1:
        return True
    crossing = {(a, b) for a in late for b in ahead if kin(a, b)}
    if not crossing:
        return False
    order = [entry.writer for entry in seen if entry.at is not None and entry.writer]
    changes = sum(a != b for a, b in pairwise(order))
    return changes < len(set(order)) * 2  # one run each: files set one after the other, not blocks that alternate


def _first(back: Back, seen: Sequence[Entry]) -> bool:
    """Whether nothing with a stamp stands before the lines that are ahead."""
    first = next((entry for entry in seen if entry.at is not None), None)
    return bool(back.ahead) and first is back.ahead[0]


def _banner(back: Back, seen: Sequence[Entry]) -> bool:
    """Whether lines without a stamp, as a start-up banner has, stand between the early and the late lines."""
    low, high = back.ahead[-1].number, back.late[0].number
    return any(low < entry.number < high and entry.at is None and entry.line.raw.strip() for entry in seen)


def _louder(back: Back) -> bool:
    return all(entry.loud for entry in back.ahead) and not all(entry.loud for entry in back.late)


def _blocks(seen: Sequence[Entry]) -> bool:
    """Whether the log has more than one writer without saying who writes: blocks of two programs take turns."""
    return len({entry.writer for entry in seen if entry.at is not None}) != 1


def _event(reading: Reading, back: Back) -> Iterator[Event]:
    late, before = back.late[0], (back.ahead or back.late)[-1]
    fields = {"file": reading.path, "writer": late.writer, "back_s": f"{back.seconds:.3f}".rstrip("0").rstrip(".")}
    fields |= {"late_line": str(late.number), "before_line": str(before.number), "reason": back.reason}
    fields |= {"last_late_line": str(back.late[-1].number)}
    yield reading.event("log.reorder", late.number, {k: v for k, v in fields.items() if v}, (before.number,))


_PHASE = lazy(r"(?i)\b(?P<word>phase|stage)[ #]*(?P<number>\d{1,3})(?:\s*(?:/|of)\s*\d+)?\b")


def _phases(reading: Reading, seen: Sequence[Entry]) -> Iterator[Event]:
    """A phase of which the first line comes after the next one's, among lines that no stamp puts in order."""
    first: dict[tuple[str, int], Entry] = {}
    for entry in seen:
        if match := _PHASE.search(entry.line.message):
            first.setdefault((match["word"].lower(), int(match["number"])), entry)
    for (word, number), entry in first.items():
        following = first.get((word, number + 1))
        if following is None or following.number > entry.number or (entry.at is not None and following.at is not None):
            continue
        fields = {"file": reading.path, "late_line": str(entry.number), "before_line": str(following.number)}
        fields |= {"reason": f"{word} {number} after {word} {number + 1}", "writer": entry.writer}
        yield reading.event("log.reorder", entry.number, {k: v for k, v in fields.items() if v}, (following.number,))


DETECTOR = find
