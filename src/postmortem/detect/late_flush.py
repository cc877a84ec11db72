"""Lines of one writer that all stand behind the end of the run although they tell of its beginning: a flush at exit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from postmortem.detect.looking import kept
from postmortem.detect.order import Entry, unstamped_tag
from postmortem.lazy import lazy
from postmortem.model import Event, Instant, Kind
from postmortem.scene import Reading, Scene

_END = lazy(
    r"(?i)\b(?:clean ?up|stopp(?:ing|ed)|shut(?:ting)? ?down|exit(?:ed|ing|s)?|terminat\w+|finished|aborted|killed|"
    r"syntax error|traceback|panicked|failed with)\b"
)
_BEGIN = lazy(
    r"(?i)\b(?:init(?:ialis\w+|ializ\w+)?|start(?:ing|ed|up)|opening|opened|loading|loaded|registered|version|"
    r"listening|using|detected|allocat\w+|creat\w+|connect(?:ed|ing))\b"
)
# numbers that two lines share only when they tell of the same thing: measured ones first, then long ones
_RARE = (lazy(r"(?<![\w.])\d{2,}\.\d+(?![\w.])"), lazy(r"(?<![\w.])\d{5,}(?![\w.])"))


def late_at_exit(scene: Scene, reading: Reading, seen: Sequence[Entry]) -> Iterator[Event]:
    """The tail's run of unstamped lines under one tag, where its first lines tell of a beginning long past."""
    run = _tail_run(seen)
    if run is None:
        return
    tag, lines, before = run
    stamped = next((e for e in reversed(seen[: before + 1]) if e.at is not None), None)
    if stamped is None:
        return
    twin = _timed_elsewhere(scene, reading, lines, reading.when(stamped.number))
    begins = any(_BEGIN.search(entry.line.message) for entry in lines[:3])
    ended = any(_END.search(entry.line.message) for entry in seen[max(0, before - 3) : before + 1])
    if twin is None and not (begins and ended):
        return
    fields = {"file": reading.path, "writer": tag, "late_line": str(lines[0].number), "reason": "late flush at exit"}
    fields |= {"before_line": str(seen[before].number), "last_late_line": str(lines[-1].number)}
    more: list[int] = [seen[before].number]
    if twin is not None:
        fields |= {"back_s": f"{twin[2]:.0f}", "twin": f"{twin[1].path}:{twin[3]}", "twin_line": str(twin[0].number)}
        more.append(twin[0].number)
    event = reading.event("log.reorder", lines[0].number, fields, tuple(more))
    yield event


def _tail_run(seen: Sequence[Entry]) -> tuple[str, list[Entry], int] | None:
    """(tag, lines, index of the line before them): the last lines, all with one tag that no earlier line has."""
    last = len(seen) - 1
    while last >= 0 and not seen[last].line.raw.strip():
        last -= 1
    tag = unstamped_tag(seen[last].line) if last >= 0 else ""
    if not tag:
        return None
    first = last
    while first > 0 and (unstamped_tag(seen[first - 1].line) == tag or not seen[first - 1].line.raw.strip()):
        first -= 1
    lines = [entry for entry in seen[first : last + 1] if entry.line.raw.strip()]
    if len(lines) < 3 or first == 0 or any(unstamped_tag(entry.line) == tag for entry in seen[:first]):
        return None
    before = first - 1
    return tag, lines, before


def _timed_elsewhere(
    scene: Scene, reading: Reading, lines: Sequence[Entry], when: Instant | None
) -> tuple[Entry, Reading, float, int] | None:
    """A late line whose rare number a stamped line of another log has too, earlier than the late line's place says."""
    if when is None:
        return None
    for rare in _RARE:
        counts = Counter(number for entry in lines for number in set(rare.findall(entry.line.message)))
        wanted = {n: entry for entry in lines for n in rare.findall(entry.line.message) if counts[n] == 1}
        for other in scene.of_kind(Kind.LOG, Kind.JOURNAL):
            if other.path != reading.path and (twin := _twin(other, rare, wanted, when)) is not None:
                return twin
    return None


def _twin(
    other: Reading, rare: re.Pattern[str], wanted: dict[str, Entry], when: Instant
) -> tuple[Entry, Reading, float, int] | None:
    lines = kept(other)
    counts = Counter(number for line in lines for number in set(rare.findall(line.message)))
    for line in lines:
        for number in rare.findall(line.message):
            if number not in wanted or counts[number] > 1:
                continue
            gap = _behind(other.when(line.number), when)
            if 10 < gap < 86400 and _akin(line.message, wanted[number].line.message):
                return wanted[number], other, gap, line.number
    return None


def _behind(twin: Instant | None, when: Instant) -> float:
    """Seconds from the twin to the place; a zone that only one log names is taken to be the other's as well."""
    return (when.utc - twin.utc).total_seconds() if twin is not None else 0.0


def _akin(a: str, b: str) -> bool:
    """Whether two messages share a word as well as the number."""
    words = [set(re.findall(r"[A-Za-z]{3,}", text.lower())) for text in (a, b)]
    return bool(words[0] & words[1])
