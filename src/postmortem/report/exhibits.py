"""Exhibits: the lines around the evidence, the script around the line that failed, the tasks of an OOM record."""

from __future__ import annotations

from typing import Any

from postmortem.model import Diagnosis, Evidence, Kind
from postmortem.report.safe import plain
from postmortem.scene import Reading, Scene

AROUND = 3
MOST = 6


def exhibits(diagnosis: Diagnosis, scene: Scene) -> list[dict[str, Any]]:
    """What a person wants to see beside the verdict."""
    root = diagnosis.root
    if root is None:
        return []
    shown = [context(e, scene) for e in root.evidence[:MOST]]
    shown += [
        script(reading, root.facts.get("line"), root.entity.get("script", "")) for reading in scene.of_kind(Kind.SCRIPT)
    ]
    return [s for s in shown if s]


def context(item: Evidence, scene: Scene) -> dict[str, Any]:
    """The lines around one line of evidence."""
    reading = scene.reading(item.source)
    if reading is None or item.line < 1:
        return {}
    lines = around(reading, item.line)
    return {
        "kind": "context",
        "title": f"{plain(item.source)}:{item.line}",
        "source": plain(item.source),
        "line": item.line,
        "lines": lines,
    }


def script(reading: Reading, line: object, name: str) -> dict[str, Any]:
    """The script around the line that a shell complained about."""
    if not isinstance(line, int) or not name or reading.path.rsplit("/", 1)[-1] != name.rsplit("/", 1)[-1]:
        return {}
    return {
        "kind": "script",
        "title": f"{plain(reading.path)}:{line}",
        "source": plain(reading.path),
        "line": line,
        "lines": around(reading, line),
    }


def around(reading: Reading, number: int) -> list[dict[str, Any]]:
    rows = ((n, reading.raw(n)) for n in range(max(1, number - AROUND), number + AROUND + 1))
    return [{"line": n, "text": plain(text)} for n, text in rows if text is not None]
