"""Zombies that pile up under one parent: a parent that does not reap is a fault of its own."""

from __future__ import annotations

from collections.abc import Iterator

from postmortem.model import Event, Fact
from postmortem.scene import Scene

PILE = 5  # a parent that is only slow to reap has one or two at a time


def detect(scene: Scene) -> Iterator[Event | Fact]:
    """One `zombie.pile` event for each parent with at least `PILE` dead children."""
    children: dict[tuple[str, str], dict[str, Event]] = {}
    for event in scene.named("zombie"):
        key = (event.fields.get("ppid", ""), event.source)
        children.setdefault(key, {}).setdefault(event.fields.get("pid", ""), event)
    for (ppid, _), dead in sorted(children.items()):
        first = next(iter(dead.values()))
        if ppid and len(dead) >= PILE:
            fields = {"ppid": ppid, "parent": first.fields.get("parent", ""), "dead": str(len(dead))}
            more = tuple(e.evidence[0] for e in list(dead.values())[1:])
            yield Event("zombie.pile", first.source, first.line, first.text, first.when, fields, more)


DETECTOR = detect
