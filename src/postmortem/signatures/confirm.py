"""Nominated lines -> `line` events: what the patterns really say of each line, in bounded time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from postmortem.lines import Line
from postmortem.model import READABLE, Event, Kind
from postmortem.scene import Reading
from postmortem.signatures.language import HEADS, Catalogue, LineItem, line_items
from postmortem.signatures.passed_tests import names_a_passed_test
from postmortem.signatures.patterns import LINE_TIMEOUT_S, Found, search

ITEM_BUDGET_S = 1.0
BUDGET_S = 15.0
LONGEST_FIELD = 500  # characters of a named group


@dataclass(frozen=True, slots=True)
class Hits:
    """The confirmed lines of every line item, and the items whose pattern ran out of time (they are unknown)."""

    events: Mapping[str, tuple[Event, ...]] = field(default_factory=dict)
    messages: Mapping[tuple[str, int], str] = field(default_factory=dict)  # (source, line) -> message of the line
    gave_up: frozenset[str] = frozenset()
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)  # what each signature's patterns took

    def __getitem__(self, key: str) -> tuple[Event, ...]:
        return self.events.get(key, ())


@dataclass(slots=True)
class _Run:
    """Confirmation while it goes on: lines taken apart so far, and the time that is left."""

    clock: Callable[[], float]
    left_s: float
    lines: dict[tuple[str, int], Line | None] = field(default_factory=dict)
    messages: dict[tuple[str, int], str] = field(default_factory=dict)

    def line(self, reading: Reading, number: int) -> Line | None:
        key = (reading.path, number)
        if key not in self.lines:
            self.lines[key] = reading.line(number)
        return self.lines[key]


def confirm(
    catalogue: Catalogue,
    readings: Sequence[Reading],
    budget_s: float = BUDGET_S,
    clock: Callable[[], float] = time.monotonic,
) -> Hits:
    """The lines that each line item really matches, by the item's key; takes at most about `budget_s` seconds."""
    run = _Run(clock, budget_s)
    nominated = _by_pattern(readings)
    events: dict[str, tuple[Event, ...]] = {}
    gave_up = set()
    seconds: dict[str, float] = {}
    for signature in catalogue.signatures:
        left_s = run.left_s
        for item in line_items(signature):
            by_kind = nominated.get(item.pattern, {})
            places = [r for kind in sorted(HEADS[item.head]) for r in by_kind.get(kind, ())]
            found, finished = _confirmed(item, places, run, not signature.outcome) if places else ((), True)
            if found:
                events[item.key] = found
            if not finished:
                gave_up.add(item.key)
        if run.left_s < left_s:
            seconds[signature.id] = left_s - run.left_s
    return Hits(events, run.messages, frozenset(gave_up), seconds)


def _by_pattern(readings: Sequence[Reading]) -> dict[str, dict[Kind, list[Reading]]]:
    """The readable sources in which a pattern was nominated, by pattern and kind."""
    found: dict[str, dict[Kind, list[Reading]]] = {}
    for reading in readings:
        if reading.source.state in READABLE:
            for pattern, lines in reading.source.hits.items():
                if lines:
                    found.setdefault(pattern, {}).setdefault(reading.source.kind, []).append(reading)
    return found


def _confirmed(
    item: LineItem, places: Iterable[Reading], run: _Run, fault: bool = False
) -> tuple[tuple[Event, ...], bool]:
    """The lines that an item matches, and whether it was finished in time; a test that passed is no `fault`."""
    found = []
    finished = True
    began = run.clock()
    limit = min(ITEM_BUDGET_S, run.left_s)
    for reading, number in _nominated(item, places):
        if run.clock() - began >= limit:
            finished = False
            break
        line = run.line(reading, number)
        if line is None or not _looks_at(item, line):
            continue
        text = line.message if item.head in ("kernel", "log") else line.raw
        result = _verdict(item, line, text)
        finished = finished and not result.gave_up
        if result.match is not None and not (fault and item.head == "log" and names_a_passed_test(text)):
            found.append(reading.event("line", number, _fields(item, result, reading, number)))
            run.messages[(reading.path, number)] = text
    run.left_s -= run.clock() - began
    return tuple(found), finished


def _nominated(item: LineItem, places: Iterable[Reading]) -> Iterator[tuple[Reading, int]]:
    return ((reading, number) for reading in places for number in reading.hits(item.pattern))


def _looks_at(item: LineItem, line: Line) -> bool:
    if item.head in ("kernel", "log"):
        return (line.channel == "kernel") == (item.head == "kernel")
    return True


def _verdict(item: LineItem, line: Line, text: str) -> Found:
    """What the whole item says of a line; where the writer has no name, `program` asks nothing."""
    found = search(item.pattern, text, LINE_TIMEOUT_S)
    if found.match is None:
        return found
    if item.program and line.program and search(item.program, line.program).match is None:
        return Found()
    for pattern in item.unless:
        spoken = search(pattern, text, LINE_TIMEOUT_S)
        if spoken.match is not None or spoken.gave_up:
            return Found(gave_up=spoken.gave_up)
    return found


def _fields(item: LineItem, found: Found, reading: Reading, number: int) -> dict[str, str]:
    """The named groups; a line of a script also says which script and which line it is."""
    groups = found.match.groupdict() if found.match else {}
    fields = {name: value[:LONGEST_FIELD].strip() for name, value in groups.items() if value and value.strip()}
    return {"script": reading.path, "line": str(number), **fields} if item.head == "script" else fields
