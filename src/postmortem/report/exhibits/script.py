"""A script around the line that a shell complained about, and around what hides its failures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postmortem.model import Diagnosis, Finding, Kind
from postmortem.report.exhibits.context import around
from postmortem.report.safe import plain
from postmortem.scene import Reading, Scene

AROUND = 12
MOST = 6


def make(diagnosis: Diagnosis, scene: Scene) -> Iterator[dict[str, Any]]:
    """One exhibit for each script line that a finding of the chain names, the root's first."""
    seen: set[tuple[str, int]] = set()
    for finding in findings(diagnosis):
        for reading in scene.of_kind(Kind.SCRIPT):
            line = line_of(finding, reading)
            if line and (reading.path, line) not in seen and len(seen) < MOST:
                seen.add((reading.path, line))
                yield shown(reading, line, finding)


def findings(diagnosis: Diagnosis) -> Iterator[Finding]:
    if diagnosis.root:
        yield diagnosis.root
    yield from (k.finding for k in diagnosis.chain if k.finding is not diagnosis.root)


def line_of(finding: Finding, reading: Reading) -> int:
    """The line of this script that the finding is about, or 0."""
    named = str(finding.entity.get("script", ""))
    if not named or base(named) != base(reading.path):
        return 0
    told = finding.facts.get("line", finding.entity.get("line", ""))
    if str(told).isdigit() and reading.raw(int(told)) is not None:
        return int(told)
    return next((e.line for e in finding.evidence if e.source == reading.path and e.line), 0)


def base(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def shown(reading: Reading, line: int, finding: Finding) -> dict[str, Any]:
    return {
        "kind": "script",
        "title": f"{plain(reading.path)}:{line}",
        "source": plain(reading.path),
        "line": line,
        "class": finding.class_id,
        "note": plain(finding.summary or finding.title),
        "lines": around(reading, line, line, frozenset({line}), AROUND),
    }
