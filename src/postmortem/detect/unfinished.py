"""A run that counts its phases and stops before the last one: it ended with no result."""

from __future__ import annotations

from collections.abc import Iterator

from postmortem.detect.looking import base, matching
from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Reading, Scene

COUNTED = r"(?i)\b(?:phase|stage|step|round) +[1-9]\d{0,3} ?(?:/|of) ?[1-9]\d{0,3}\b"
NEEDLES = (COUNTED,)
_PARTS = lazy(r"(?i)\b(?P<word>phase|stage|step|round) +(?P<at>\d{1,4}) ?(?:/|of) ?(?P<of>\d{1,4})\b")
_BENCHMARK = lazy(r"(?i)bench(?:mark)?\b|throughput")
_TITLE_LINES = 40


def find(scene: Scene) -> Iterator[Event | Fact]:
    """One `run.unfinished` for each log whose last counted phase is not the last of the plan."""
    for reading in scene.of_kind(Kind.LOG):
        counted = [(line.number, m) for line in matching(reading, COUNTED) if (m := _PARTS.search(line.raw))]
        if not counted or int(counted[-1][1]["at"]) >= int(counted[-1][1]["of"]):
            continue
        number, parts = counted[-1]
        fields = {"file": base(reading.path), "phase": parts["at"], "phases": parts["of"]}
        yield reading.event("run.unfinished", number, fields | ({"benchmark": "yes"} if is_benchmark(reading) else {}))


def is_benchmark(reading: Reading) -> bool:
    """Whether the log's name or its first lines say that it measures something."""
    head = (reading.raw(number) or "" for number in range(1, _TITLE_LINES))
    return any(_BENCHMARK.search(text) for text in (base(reading.path), *head))


DETECTOR = find
