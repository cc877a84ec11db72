"""What parsers, detectors and signatures look at: sources with their clocks, and what was read so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from postmortem.clock import Clock
from postmortem.lines import Line, split
from postmortem.model import NOTHING, READABLE, Damage, Event, Evidence, Fact, Instant, Kind, Probe, State
from postmortem.naming import without_words
from postmortem.sources import Source, rotation

LOGS = frozenset({Kind.KERNEL, Kind.JOURNAL, Kind.LOG})
PROSE = frozenset({Kind.LOG, Kind.CONTAINER, Kind.LISTING, Kind.PROBE})


@dataclass(frozen=True, slots=True)
class Reading:
    """A source with its clock, as one parser sees it."""

    source: Source
    clock: Clock
    nominated: tuple[int, ...] = ()  # the lines that one of this parser's needles nominated, sorted

    @property
    def path(self) -> str:
        return self.source.path

    def raw(self, number: int) -> str | None:
        """The line as it stands in the source, or None where it was not kept or does not exist."""
        return self.source.text.line(number)

    def line(self, number: int) -> Line | None:
        """The line split into stamp, writer and message, or None as for `raw`."""
        raw = self.raw(number)
        return None if raw is None else split(raw, number, self.source.dialect, kernel=self.source.kind is Kind.KERNEL)

    def lines(self) -> Iterator[Line]:
        """All lines that were kept, in file order; for small structured sources."""
        for number, raw in self.source.text.kept():
            yield split(raw, number, self.source.dialect, kernel=self.source.kind is Kind.KERNEL)

    def hits(self, needle: str) -> tuple[int, ...]:
        """The lines that the scanner nominated for this pattern."""
        return self.source.hits.get(needle, ())

    def when(self, number: int) -> Instant | None:
        return self.clock.instant(number)

    def evidence(self, number: int) -> Evidence:
        """The line as evidence; line 0 stands for the whole source."""
        return Evidence(self.path, number, self.raw(number) or "", self.when(number) if number else None)

    def event(self, kind: str, number: int, fields: Mapping[str, str] = NOTHING, more: tuple[int, ...] = ()) -> Event:
        """An event of this line; `more` are further lines of the same record. A word of a sentence names no process."""
        others = tuple(self.evidence(n) for n in more if n != number)
        prose = kind == "exit" or (kind == "line" and self.source.kind in PROSE)
        told = without_words(fields, prose)
        return Event(kind, self.path, number, self.raw(number) or "", self.when(number), told, others)

    def fact(
        self,
        name: str,
        value: int | float | str | bool,
        number: int,
        unit: str = "",
        entity: Mapping[str, str] = NOTHING,
    ) -> Fact:
        return Fact(name, value, unit, self.evidence(number), entity)


@dataclass(slots=True)
class _Index:
    """The sources by path, and rotated logs by their stem; made once for the same sources."""

    readings: tuple[Reading, ...] = ()
    by_path: dict[str, Reading] = field(default_factory=dict)
    rotated: dict[str, list[tuple[int, Reading]]] = field(default_factory=dict)  # stem -> (age, part)

    def of(self, readings: tuple[Reading, ...]) -> _Index:
        if self.readings is readings:
            return self
        self.readings, self.by_path, self.rotated = readings, {}, {}
        for reading in readings:
            self.by_path.setdefault(reading.path, reading)
            if reading.source.kind in LOGS and reading.source.state is not State.OVER_BUDGET:
                stem, age = rotation(reading.path)
                self.rotated.setdefault(stem, []).append((age, reading))
        return self


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that was read of one machine."""

    readings: tuple[Reading, ...]
    events: tuple[Event, ...] = ()
    facts: tuple[Fact, ...] = ()
    probes: tuple[Probe, ...] = ()
    damage: tuple[Damage, ...] = ()
    now: Instant | None = None
    _index: _Index = field(default_factory=_Index, compare=False, repr=False)

    def of_kind(self, *kinds: Kind) -> tuple[Reading, ...]:
        """The readable sources of these kinds."""
        return tuple(r for r in self.readings if r.source.kind in kinds and r.source.state in READABLE)

    def reading(self, path: str) -> Reading | None:
        return self._index.of(self.readings).by_path.get(path)

    def parts(self, reading: Reading) -> tuple[Reading, ...]:
        """The parts of a rotated log, oldest first; a log of which nothing was rotated is its own only part."""
        kin = self._index.of(self.readings).rotated.get(rotation(reading.path)[0], [])
        whole = any(age == 0 for age, _ in kin)  # without the newest, numbers may be of ranks or tasks
        if not whole or len(kin) < 2:
            return (reading,)
        return tuple(part for _, part in sorted(kin, key=lambda told: (-told[0], told[1].path)))

    def named(self, kind: str) -> tuple[Event, ...]:
        """The events of this kind, in reading order."""
        return tuple(e for e in self.events if e.kind == kind)

    def facts_of(self, name: str, **entity: str) -> tuple[Fact, ...]:
        """The facts of this name whose entity agrees with the given keys."""
        return tuple(f for f in self.facts if f.name == name and all(f.entity.get(k) == v for k, v in entity.items()))

    def plus(self, found: tuple[Event | Fact, ...]) -> Scene:
        """The same scene with more events and facts."""
        events = tuple(f for f in found if isinstance(f, Event))
        facts = tuple(f for f in found if isinstance(f, Fact))
        return replace(self, events=self.events + events, facts=self.facts + facts)


@dataclass(frozen=True, slots=True)
class Parser:
    """One file of `parse/`: which kinds of source it reads, which lines it wants nominated, and how it reads them."""

    name: str
    kinds: frozenset[Kind]
    read: Callable[[Reading], Iterator[Event | Fact]]
    needles: tuple[str, ...] = ()
    before: int = 0  # neighbours of a nominated line that a big text must keep
    after: int = 0


Detector = Callable[[Scene], Iterator[Event | Fact]]
