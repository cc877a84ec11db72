"""Ordinary lines of other programs, warnings and errors that they live with, must not be taken for a cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from postmortem.analysis import engine, examine
from postmortem.model import Role, Verdict
from postmortem.signatures import confirm, match

PLACE = Path(__file__).parent / "harmless"
KINDS = {".dmesg": "dmesg.txt", ".journal": "journal.txt", ".log": "app.log"}
HELD = (Verdict.CONFIRMED, Verdict.SUPPORTED, Verdict.POSSIBLE)


@pytest.mark.parametrize("name", sorted(p.name for p in PLACE.iterdir()))
def test_ordinary_lines_are_no_cause(name: str, tmp_path: Path) -> None:
    source = PLACE / name
    (tmp_path / KINDS[source.suffix]).write_bytes(source.read_bytes())
    tool = engine()
    report, scene = examine(tool, tmp_path)
    found = match(tool.catalogue, scene, confirm(tool.catalogue, scene.readings))
    causes = [(f.class_id, f.evidence[0].text) for f in found if f.role is Role.ROOT and f.verdict in HELD]
    assert causes == []
    assert report["root_cause"] is None
    assert report["status"] != "healthy"


def test_there_are_many_ordinary_lines() -> None:
    assert sum(p.read_text().count("\n") for p in PLACE.iterdir()) > 150
