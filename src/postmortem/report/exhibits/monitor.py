"""What a monitor wrote over time: temperature, power and load of each GPU from `nvidia-smi dmon`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from postmortem.model import Diagnosis, Instant, Kind
from postmortem.report.moment import when
from postmortem.report.safe import plain
from postmortem.scene import Reading, Scene

WANTED = {"pwr": ("power", "W"), "gtemp": ("temperature", "C"), "sm": ("load", "%"), "fb": ("memory", "MiB")}
MOST_POINTS, MOST_SERIES = 400, 24
_HEAD = re.compile(r"^#\s*(?:Date\s+Time\s+|Time\s+)?gpu\b")


def make(diagnosis: Diagnosis, scene: Scene) -> Iterator[dict[str, Any]]:
    """One series for each measured quantity, with a line for each GPU."""
    for reading in scene.of_kind(Kind.SMI):
        lines: dict[str, dict[str, list[tuple[str, float]]]] = {}
        for moment, gpu, key, value in rows(reading):
            lines.setdefault(key, {}).setdefault(gpu, []).append((moment, value))
        for key, by_gpu in lines.items():
            if max(len(points) for points in by_gpu.values()) > 2:
                yield series(reading, key, by_gpu, diagnosis)


def rows(reading: Reading) -> Iterator[tuple[str, str, str, float]]:
    """(time as written, gpu, column, value) of ` 20210804   11:29:43      0   215    66 ...`, printed by dmon -o DT."""
    columns: list[str] = []
    for _, raw in reading.source.text.kept():
        if _HEAD.match(raw):
            columns = raw.lstrip("# ").split()
            continue
        cells = raw.split()
        if raw.startswith("#") or len(cells) != len(columns) or "Time" not in columns or not cells[2].isdigit():
            continue
        row = dict(zip(columns, cells, strict=True))
        for key in WANTED:
            if re.fullmatch(r"\d+(?:\.\d+)?", row.get(key, "")):
                yield f"{row.get('Date', '')} {row['Time']}".strip(), row["gpu"], key, float(row[key])


def series(
    reading: Reading, key: str, by_gpu: dict[str, list[tuple[str, float]]], diagnosis: Diagnosis
) -> dict[str, Any]:
    name, unit = WANTED[key]
    root = diagnosis.root
    at = root.evidence[0] if root and root.evidence[0].when else None
    return {
        "kind": "series",
        "name": "gpu-" + name,
        "title": f"GPU {name} by {plain(reading.path)}",
        "unit": unit,
        "source": plain(reading.path),
        "levels": [],
        "marks": [{"text": root.title, "when": when(at.when), "source": plain(at.source), "line": at.line}]
        if root and at
        else [],
        "lines": [
            {"name": f"GPU {gpu}", "points": [dated(m, v) for m, v in thinned(points)]}
            for gpu, points in sorted(by_gpu.items())[:MOST_SERIES]
        ],
    }


def thinned(points: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """At most so many points, the last one among them."""
    step = max(1, -(-len(points) // MOST_POINTS))
    return points[::-1][::step][::-1]


def dated(moment: str, value: float) -> dict[str, Any]:
    """The point with its time; a monitor writes the machine's wall clock without a zone."""
    try:
        at = datetime.strptime(moment, "%Y%m%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return {"when": None, "value": value}
    return {"when": when(Instant(at, 0.5, False)), "value": value}
