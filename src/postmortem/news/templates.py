"""Messages -> templates: what is the same in each occurrence, and the numbers that are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from postmortem.diagnose.trouble import is_trouble
from postmortem.lines import Line
from postmortem.news.news import LINES_READ, LOGS
from postmortem.report.masks import LONGEST, MASKS, masked
from postmortem.scene import Reading, Scene

_NUMBER = re.compile(r"(?<![\w.<])-?\d+(?:\.\d+)?(?!\w*>)")
_NEAR = 0.7  # share of equal words that makes two templates one, where the others are names
_NUMBERS = 2  # the last of MASKS mask numbers


@dataclass(slots=True)
class Shape:
    """A template: how often it was seen, the last line, and the range of each of its numbers."""

    count: int = 0
    last: tuple[str, int] = ("", 0)  # source and line
    ranges: list[tuple[float, float]] = field(default_factory=list)


@dataclass(slots=True)
class Templates:
    """All templates of a scene's logs."""

    shapes: dict[str, Shape] = field(default_factory=dict)
    by_length: dict[int, list[list[str]]] = field(default_factory=dict)
    exact: set[str] = field(default_factory=set)  # messages with only times, addresses and hex masked

    def add(self, line: Line, source: str) -> str:
        template = masked(line.message)
        shape = self.shapes.get(template)
        if shape is None:
            shape = self.shapes[template] = Shape()
            words = template.split()
            self.by_length.setdefault(len(words), []).append(words)
        exact = without_names(line.message)
        self.exact.add(exact)
        widen(shape, numbers(exact), shape.count == 0)
        shape.count += 1
        shape.last = (source, line.number)
        return template

    def near(self, template: str) -> bool:
        """Whether a template of as many words differs from this one in a few words only."""
        words = template.split()
        return any(
            sum(a == b for a, b in zip(words, other, strict=True)) >= _NEAR * len(words)
            for other in self.by_length.get(len(words), ())
        )


def without_names(message: str) -> str:
    """The message with times, addresses and hex masked and its numbers kept."""
    text = message[:LONGEST]
    for pattern, stand_in in MASKS[:-_NUMBERS]:
        text = pattern.sub(stand_in, text)
    return " ".join(text.split())


def numbers(exact: str) -> list[float]:
    return [float(n) for n in _NUMBER.findall(exact)]


def widen(shape: Shape, values: list[float], is_first: bool) -> None:
    """Takes the numbers into the ranges; a template whose count of numbers varies has none."""
    if is_first:
        shape.ranges = [(v, v) for v in values]
    elif len(values) == len(shape.ranges):
        shape.ranges = [(min(lo, v), max(hi, v)) for (lo, hi), v in zip(shape.ranges, values, strict=True)]
    else:
        shape.ranges = []


def log_lines(scene: Scene) -> Iterator[tuple[Reading, Line]]:
    """The lines of all logs that say something, log by log."""
    for reading in scene.of_kind(*LOGS):
        for line in reading.lines():
            if line.number > LINES_READ:
                break
            if line.message.strip():
                yield reading, line


def templates_of(scene: Scene) -> Templates:
    found = Templates()
    for reading, line in log_lines(scene):
        found.add(line, reading.path)
    return found


__all__ = ["Shape", "Templates", "is_trouble", "log_lines", "numbers", "templates_of", "without_names"]
