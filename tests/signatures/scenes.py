"""Small scenes for tests of the signature engine: lines, events and facts by hand, times in seconds after START."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from textwrap import dedent, indent

from postmortem.clock import Clock
from postmortem.model import Event, Evidence, Fact, Finding, Instant, Kind, State
from postmortem.scene import Reading, Scene
from postmortem.signatures import Catalogue, Hits, confirm, match, parse
from postmortem.sources import Source
from postmortem.text import text_of

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def at(seconds: float, plus_minus_s: float = 0.0) -> Instant:
    return Instant(START + timedelta(seconds=seconds), plus_minus_s)


@dataclass(frozen=True, slots=True)
class Times(Clock):
    """Line number -> seconds after START; the other lines have no time."""

    seconds: Mapping[int, float] = field(default_factory=dict)

    def instant(self, number: int) -> Instant | None:
        return at(self.seconds[number]) if number in self.seconds else None


def lines(
    kind: Kind, text: str, path: str = "", times: Mapping[int, float] | None = None, state: State = State.WHOLE
) -> Reading:
    """A source of such a kind; `scene` nominates its lines."""
    return Reading(Source(path or f"{kind}.txt", kind, state, text_of(text)), Times(seconds=times or {}))


def event(kind: str, time: float | None = None, source: str = "kernel.txt", line: int = 1, **fields: str) -> Event:
    when = None if time is None else at(time)
    return Event(kind, source, line, f"{source}:{line} {kind} {sorted(fields.items())}", when, fields)


def fact(name: str, value: str | int | float | bool, source: str = "facts.txt", **entity: str) -> Fact:
    return Fact(name, value, "", Evidence(source, 1, f"{name} {value}"), entity)


def catalogue(*entries: str) -> Catalogue:
    """A catalogue of entries, each written from the key after `- ` on; what every entry must have is added."""
    return parse([("t.yaml", "schema: 1\nsignatures:\n" + "".join(map(entry, entries)))])


def entry(text: str) -> str:
    """An entry with an id, a title, a role and samples where it names none."""
    body = dedent(text).strip("\n") + "\n"
    defaults = {"id": "a.b", "title": "T", "role": "root", "yes": "['x']", "no": "['y']"}
    if not any(f"{head}: '" in body for head in ("log", "kernel", "smi", "script", "container")):
        del defaults["yes"], defaults["no"]
    missing = "".join(f"{k}: {v}\n" for k, v in defaults.items() if f"\n{k}:" not in f"\n{body}")
    return "- " + indent(missing + body, "  ")[2:]


def scene(
    book: Catalogue, readings: Sequence[Reading] = (), events: Sequence[Event] = (), facts: Sequence[Fact] = ()
) -> tuple[Scene, Hits]:
    """The scene with every line nominated for every pattern, and what is confirmed."""
    nominated = []
    for r in readings:
        numbers = tuple(range(1, r.source.text.count + 1))
        nominated.append(replace(r, source=replace(r.source, hits=dict.fromkeys(book.patterns, numbers))))
    return Scene(tuple(nominated), tuple(events), tuple(facts)), confirm(book, nominated)


def findings(
    entries: str | Sequence[str],
    readings: Sequence[Reading] = (),
    events: Sequence[Event] = (),
    facts: Sequence[Fact] = (),
) -> tuple[Finding, ...]:
    """What the entries make of the scene."""
    book = catalogue(*([entries] if isinstance(entries, str) else entries))
    seen, hits = scene(book, readings, events, facts)
    return match(book, seen, hits)
