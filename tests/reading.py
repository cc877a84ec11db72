"""Readings for tests of parsers and detectors: real text, real line splitting, plain nominations, the real clock."""

from __future__ import annotations

from collections.abc import Iterable

from postmortem.clock import make_clocks
from postmortem.lines import dialect_of
from postmortem.model import Event, Fact, Kind, State
from postmortem.parse import needles, parse
from postmortem.scan import build
from postmortem.scene import Parser, Reading
from postmortem.sources import Source
from postmortem.text import text_of


def reading(
    text: str, kind: Kind = Kind.KERNEL, path: str = "dmesg.txt", wanted: Iterable[str] | None = None
) -> Reading:
    """A reading of `text`; `wanted` are the patterns to nominate for (default: every parser's needles)."""
    made = text_of(text, raw=kind is Kind.SCRIPT)
    lines = [(number, line) for number, line in made.kept()]
    dialect = dialect_of([line for _, line in lines])
    patterns = tuple(needles() if wanted is None else wanted)
    hits = _nominated(text.encode("utf-8", "surrogateescape"), patterns)
    state = State.WHOLE if text else State.EMPTY
    source = Source(path, kind, state, made, dialect, hits=hits, asked=frozenset(patterns))
    clocks, _ = make_clocks([source])
    return Reading(source, clocks[path])


def _nominated(data: bytes, patterns: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    scanner, hits = build(patterns, "plain"), dict[str, list[int]]()
    for pattern, line in scanner.scan(data):
        hits.setdefault(scanner.patterns[pattern], []).append(line + 1)
    return {pattern: tuple(lines) for pattern, lines in hits.items()}


def found(parser: Parser, text: str, kind: Kind = Kind.KERNEL, path: str = "dmesg.txt") -> tuple[Event | Fact, ...]:
    """What one parser reads in `text`."""
    return parse([reading(text, kind, path, parser.needles)], (parser,))


def events(parser: Parser, text: str, kind: Kind = Kind.KERNEL, path: str = "dmesg.txt") -> list[dict[str, str]]:
    """The fields of the events, with the kind of each under `kind`."""
    return [{"kind": e.kind, **e.fields} for e in found(parser, text, kind, path) if isinstance(e, Event)]


def facts(parser: Parser, text: str, kind: Kind, path: str) -> dict[str, int | float | str | bool]:
    """The facts by name, with the entity's values behind it in brackets (`disk.use[/data]`)."""
    read = [f for f in found(parser, text, kind, path) if isinstance(f, Fact)]
    return {f.name + (f"[{','.join(f.entity.values())}]" if f.entity else ""): f.value for f in read}
