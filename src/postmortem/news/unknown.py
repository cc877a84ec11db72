"""A first look at a failure that nothing explains: its first lines of trouble, and how far it had got."""

from __future__ import annotations

import re
from collections.abc import Iterator

from postmortem.model import Diagnosis, Kind
from postmortem.news.news import LOGS, News, first
from postmortem.news.templates import Templates, is_trouble
from postmortem.scene import Reading, Scene

PER_LOG = 3
SPEAKS = "speaks of trouble, the first of its kind in this log"
USUAL = 4  # a line of trouble that comes this often before the end is how this log always reads
PROGRESS = re.compile(
    r"(?i)\b\d+ ?(?:/|of) ?\d+\b|\b\d{1,3}(?:\.\d+)? ?%|\b(?:step|epoch|iter\w*|batch|phase|stage|round|block|chunk"
    r"|frame|height|test|file|task|proof|sector|layer|shard|part|page|row)s?\b\D{0,12}\d"
)


def first_look(scene: Scene, diagnosis: Diagnosis) -> tuple[News, ...]:
    """The first lines of trouble of each log, that of the outcome first, then the last progress of each."""
    told = {e.source for e in diagnosis.outcome.evidence} if diagnosis.outcome else set()
    logs = sorted(scene.of_kind(*LOGS), key=lambda r: (r.path not in told, LOGS.index(r.source.kind)))
    found = [n for reading in logs for n in (*trouble(reading), *progress(reading))]
    return first(found)


def trouble(reading: Reading) -> Iterator[News]:
    """A line each of the first templates that speak of trouble and are not frequent, and of the last one."""
    known = Templates()
    at: dict[str, int] = {}
    for line in reading.lines():
        if is_trouble(line):
            at.setdefault(known.add(line, reading.path), line.number)
    rare = [number for template, number in at.items() if known.shapes[template].count < USUAL] or list(at.values())
    for number in dict.fromkeys((*rare[: PER_LOG - 1], *rare[-1:])):
        yield News(reading.evidence(number), SPEAKS, "trouble", True)


def progress(reading: Reading) -> Iterator[News]:
    """The last line that tells how far a program was."""
    if reading.source.kind is not Kind.LOG:
        return
    last = 0
    for line in reading.lines():
        if PROGRESS.search(line.message) and not is_trouble(line):
            last = line.number
    if last:
        yield News(reading.evidence(last), "the last progress that this log tells", "progress")
