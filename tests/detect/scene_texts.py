"""A scene of a few texts, parsed by the real parsers."""

from __future__ import annotations

from dataclasses import replace

from postmortem.clock import make_clocks
from postmortem.detect import needles as detector_needles
from postmortem.model import Event, Fact, Kind
from postmortem.parse import needles, parse
from postmortem.scene import Detector, Scene
from reading import reading

Texts = dict[str, tuple[Kind, str]]


def scene(texts: Texts) -> Scene:
    wanted = (*needles(), *detector_needles())
    readings = tuple(reading(text, kind, path, wanted) for path, (kind, text) in texts.items())
    clocks, now = make_clocks([r.source for r in readings])
    timed = tuple(replace(r, clock=clocks[r.path]) for r in readings)
    return Scene(timed, now=now).plus(parse(timed))


def log(text: str, path: str = "run.log") -> Texts:
    return {path: (Kind.LOG, text)}


def seen(detector: Detector, texts: Texts) -> tuple[list[Event], list[Fact]]:
    found = list(detector(scene(texts)))
    return [f for f in found if isinstance(f, Event)], [f for f in found if isinstance(f, Fact)]
