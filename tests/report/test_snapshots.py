"""Saved reports as the terminal and Markdown show them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import snapshots
from made_reports import ROOT

from postmortem.report.formats import render
from postmortem.report.load import load
from postmortem.report.look import Look

SAVED = sorted((Path(__file__).parent / "saved").glob("*.json"))
SCHEMA = json.loads((ROOT / "src/postmortem/report/schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("form", ["terminal", "narrow", "markdown"])
@pytest.mark.parametrize("saved", SAVED, ids=lambda p: p.stem)
def test_shown_as_before(saved: Path, form: str) -> None:
    look = Look(width=80, verbose=True) if form == "narrow" else None
    text = render(load(saved), "terminal" if form == "narrow" else form, look)
    expected = saved.with_suffix({"terminal": ".txt", "narrow": ".narrow.txt", "markdown": ".md"}[form])
    fault = snapshots.same(text, expected)
    assert not fault, fault


@pytest.mark.parametrize("saved", SAVED, ids=lambda p: p.stem)
def test_saved_reports_keep_to_the_schema(saved: Path) -> None:
    jsonschema.validate(json.loads(saved.read_text(encoding="utf-8")), SCHEMA)


def test_there_are_saved_reports() -> None:
    assert len(SAVED) >= 6
