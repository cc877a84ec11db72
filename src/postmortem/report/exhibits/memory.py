"""Memory against its limits: what each cgroup held, its peak and limit, and the moments at which the killer came."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postmortem.model import Diagnosis, Event, Fact, Instant
from postmortem.report.moment import when
from postmortem.report.safe import plain
from postmortem.scene import Scene

LEVELS = {"cgroup.memory.limit": "limit", "cgroup.memory.soft_limit": "soft limit", "cgroup.memory.peak": "peak"}
HOST_LEVELS = {"host.mem.total": "total", "host.mem.available": "available"}
MOST_GROUPS, MOST_POINTS = 4, 200
OOM = ("oom.kill", "oom.invoked")


def make(diagnosis: Diagnosis, scene: Scene) -> Iterator[dict[str, Any]]:
    """One series for each cgroup that says more than one number, and one for the machine."""
    groups: dict[str, None] = {}
    for event in kills(scene):
        groups.setdefault(event.fields.get("oom_memcg") or event.fields.get("task_memcg", ""))
    for fact in scene.facts:
        if fact.name.startswith("cgroup.memory.") and "cgroup" in fact.entity:
            groups.setdefault(fact.entity["cgroup"])
    made = [one for name in groups if (one := of_group(name, scene))]
    yield from made[:MOST_GROUPS]
    yield from of_host(scene)


def kills(scene: Scene) -> list[Event]:
    return [e for e in scene.events if e.kind in OOM and e.fields.get("scope") != "host" and "usage_kb" in e.fields]


def of_group(name: str, scene: Scene) -> dict[str, Any] | None:
    """Levels, points and marks of one cgroup; None when there is nothing to compare."""
    facts = [f for f in scene.facts if f.entity.get("cgroup", "") == name and f.name.startswith("cgroup.memory.")]
    told = [e for e in kills(scene) if (e.fields.get("oom_memcg") or e.fields.get("task_memcg", "")) == name]
    levels = [level(LEVELS[f.name], f) for f in facts if f.name in LEVELS and not isinstance(f.value, str)]
    levels += [kib("limit", e, "limit_kb") for e in told[-1:] if "limit_kb" in e.fields and not named(levels, "limit")]
    points = [level("in use", f) for f in facts if f.name == "cgroup.memory.current"]
    points += [kib("in use", e, "usage_kb") for e in told[:MOST_POINTS]]
    if len(levels) + len(points) < 2:
        return None
    return {
        "kind": "series",
        "name": "memory",
        "title": "Memory of the container" if name in ("", "own", "/") else f"Memory of cgroup {plain(name)}",
        "unit": "bytes",
        "entity": {"cgroup": plain(name)},
        "levels": unique(levels),
        "points": sorted(points, key=lambda p: (p["when"] or {}).get("utc", "")),
        "marks": [mark(e) for e in told[:MOST_POINTS]],
    }


def of_host(scene: Scene) -> Iterator[dict[str, Any]]:
    """What the machine has, and what was left when it was looked at."""
    levels = [level(HOST_LEVELS[f.name], f) for f in scene.facts if f.name in HOST_LEVELS]
    marks = [mark(e) for e in scene.events if e.kind in OOM and e.fields.get("scope") == "host"]
    if named(levels, "total") and named(levels, "available"):
        yield {
            "kind": "series",
            "name": "memory",
            "title": "Memory of the machine",
            "unit": "bytes",
            "entity": {},
            "levels": unique(levels),
            "points": [],
            "marks": marks[:MOST_POINTS],
        }


def level(name: str, fact: Fact) -> dict[str, Any]:
    return point(name, fact.value, fact.evidence.when, fact.evidence.source, fact.evidence.line)


def kib(name: str, event: Event, key: str) -> dict[str, Any]:
    return point(name, int(event.fields[key]) * 1024, event.when, event.source, event.line)


def point(name: str, value: Any, moment: Instant | None, source: str, line: int) -> dict[str, Any]:
    return {"name": name, "value": value, "when": when(moment), "source": plain(source), "line": line}


def mark(event: Event) -> dict[str, Any]:
    victim = event.fields.get("victim") or event.fields.get("invoker", "")
    said = f"OOM kill of {victim}" if event.kind == "oom.kill" else f"OOM killer asked by {victim}"
    return {"text": plain(said), "when": when(event.when), "source": plain(event.source), "line": event.line}


def named(levels: list[dict[str, Any]], name: str) -> bool:
    return any(one["name"] == name for one in levels)


def unique(levels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One level of each name: the last that was read."""
    return list({one["name"]: one for one in levels}.values())
