"""Sources -> events and facts: one file per kind of source, found by walking this folder."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module

from postmortem.model import READABLE, Event, Fact
from postmortem.scene import Parser, Reading

Join = Callable[[Iterable[Event | Fact]], Iterator[Event | Fact]]


@cache
def parsers() -> tuple[Parser, ...]:
    """Every parser of this folder by file name: a module's PARSER, or its PARSERS."""
    return tuple(parser for module in pkgutil.iter_modules(__path__) for parser in _of_module(module.name))


def _of_module(name: str) -> tuple[Parser, ...]:
    module = import_module(f"{__name__}.{name}")
    one = getattr(module, "PARSER", None)
    return (one,) if one is not None else tuple(getattr(module, "PARSERS", ()))


def needles() -> tuple[str, ...]:
    """The patterns that the parsers want nominated, each once."""
    return tuple(margins())


@cache
def margins() -> dict[str, tuple[int, int]]:
    """Needle -> how many lines before and after a nominated one its parsers look at."""
    wanted: dict[str, tuple[int, int]] = {}
    for parser in parsers():
        for needle in parser.needles:
            before, after = wanted.get(needle, (0, 0))
            wanted[needle] = (max(before, parser.before), max(after, parser.after))
    return wanted


def parse(readings: Iterable[Reading], chosen: tuple[Parser, ...] | None = None) -> tuple[Event | Fact, ...]:
    """What the parsers (all of them, or the chosen ones) read in the readable sources, in the order of the sources."""
    use = parsers() if chosen is None else chosen
    found = tuple(each for reading in readings for parser in use for each in read(parser, reading))
    return found + tuple(each for join in _joins(use) for each in join(found))


def _joins(use: tuple[Parser, ...]) -> Iterator[Join]:
    """The JOIN of each parser's module: what only the finds of several sources together say."""
    for parser in use:
        join: Join | None = getattr(sys.modules[parser.read.__module__], "JOIN", None)
        if join is not None:
            yield join


def read(parser: Parser, reading: Reading) -> Iterator[Event | Fact]:
    """What one parser reads in one source; nothing where the kind, the state or the nominations say no."""
    if reading.source.kind not in parser.kinds or reading.source.state not in READABLE:
        return
    if parser.needles and not reading.source.hits:
        return
    nominated = sorted({number for needle in parser.needles for number in reading.hits(needle)})
    if nominated or not parser.needles:
        yield from parser.read(replace(reading, nominated=tuple(nominated)))
