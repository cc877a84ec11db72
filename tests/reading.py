"""Readings for tests of parsers and detectors: real text, real line splitting, plain nominations, a simple clock."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from postmortem.clock import Clock
from postmortem.lines import dialect_of, split
from postmortem.model import Event, Fact, Instant, Kind, State
from postmortem.parse import needles, parse
from postmortem.scene import Parser, Reading
from postmortem.sources import Source
from postmortem.text import Text, text_of

BOOT = datetime(2026, 5, 1, 8, 0, 0, tzinfo=UTC)


class StampClock(Clock):
    """Takes each line's own stamp, wall stamps as UTC and boot stamps from BOOT on."""

    def __init__(self, text: Text, dialect: str) -> None:
        self.text, self.dialect = text, dialect

    def instant(self, number: int) -> Instant | None:
        raw = self.text.line(number)
        stamp = split(raw, number, self.dialect).stamp if raw else None
        if stamp is None:
            return None
        if stamp.wall is not None:
            return Instant(stamp.wall if stamp.wall.tzinfo else stamp.wall.replace(tzinfo=UTC), stamp.resolution_s)
        return Instant(BOOT + timedelta(seconds=stamp.seconds or 0.0))


def reading(
    text: str, kind: Kind = Kind.KERNEL, path: str = "dmesg.txt", wanted: Iterable[str] | None = None
) -> Reading:
    """A reading of `text`; `wanted` are the patterns to nominate for (default: every parser's needles)."""
    made = text_of(text, raw=kind is Kind.SCRIPT)
    lines = [(number, line) for number, line in made.kept()]
    dialect = dialect_of([line for _, line in lines])
    patterns = needles() if wanted is None else wanted
    hits = {p: tuple(n for n, line in lines if re.search(p, line)) for p in patterns}
    source = Source(path, kind, State.WHOLE if text else State.EMPTY, made, dialect, hits=hits)
    return Reading(source, StampClock(made, dialect))


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
