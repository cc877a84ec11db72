"""The task table of an OOM record: who held the memory when the killer came."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from postmortem.model import Diagnosis, Event
from postmortem.parse.oom_table import Task, read_table
from postmortem.report.moment import when
from postmortem.report.safe import plain
from postmortem.scene import Reading, Scene

MOST_TABLES, MOST_ROWS = 4, 25
LOOK_BACK = 3000  # lines from the kill up to the head of its table
_HEAD = re.compile(r"\[ *pid *\] +uid ")
_CALLER = re.compile(r" invoked oom-killer:")
COLUMNS = [
    {"key": "pid", "label": "pid"},
    {"key": "name", "label": "program"},
    {"key": "rss", "label": "resident", "unit": "bytes", "bar": True},
    {"key": "total_vm", "label": "virtual", "unit": "bytes"},
    {"key": "uid", "label": "uid"},
]


def make(diagnosis: Diagnosis, scene: Scene) -> Iterator[dict[str, Any]]:
    """A table for each of the last OOM records that printed one."""
    seen: set[tuple[str, int]] = set()
    for event in reversed([e for e in scene.events if e.kind in ("oom.kill", "oom.invoked")]):
        reading = scene.reading(event.source)
        head = head_of(reading, event) if reading else 0
        if reading is None or not head or (event.source, head) in seen or len(seen) == MOST_TABLES:
            continue
        seen.add((event.source, head))
        tasks = read_table(reading, head, max(event.line, head + MOST_ROWS * 80))
        if tasks:
            yield table(event, head, tasks)


def head_of(reading: Reading, event: Event) -> int:
    """The line of the table's head that belongs to this record, or 0."""
    for number in range(event.line, max(0, event.line - LOOK_BACK), -1):
        raw = reading.raw(number)
        if raw is None or (_CALLER.search(raw) and event.kind == "oom.kill"):
            return 0
        if _HEAD.search(raw):
            return number
    return 0


def table(event: Event, head: int, tasks: tuple[Task, ...]) -> dict[str, Any]:
    """The biggest holders first; the victim's row is marked."""
    ranked = sorted(tasks, key=lambda task: (-task.rss_kb, int(task.pid)))
    victim = event.fields.get("pid", "") if event.kind == "oom.kill" else ""
    shown = [t for at, t in enumerate(ranked) if at < MOST_ROWS or t.pid == victim]
    who = event.fields.get("victim") or event.fields.get("invoker", "")
    return {
        "kind": "table",
        "name": "oom-tasks",
        "title": plain(f"Who held the memory when {who} was {'killed' if victim else 'refused'}"),
        "source": plain(event.source),
        "line": head,
        "when": when(event.when),
        "columns": COLUMNS,
        "rows": [row(task, victim) for task in shown],
        "left_off": len(ranked) - len(shown),
    }


def row(task: Task, victim: str) -> dict[str, Any]:
    values = {
        "pid": task.pid,
        "name": plain(task.comm),
        "rss": task.rss_kb * 1024,
        "total_vm": task.total_vm_kb * 1024,
        "uid": task.uid,
    }
    return {"values": values, "abnormal": {}, "note": "killed" if task.pid == victim else ""}
