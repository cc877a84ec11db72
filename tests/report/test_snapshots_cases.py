"""The report on every open case, as terminal, Markdown and JSON show it, is the one that a person has read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import snapshots
from made_reports import ROOT, report_of

from postmortem.report.formats import render

CASES = {folder.parent.name: folder for folder in sorted((ROOT / "tests/cases/open").glob("*/*/files"))}
KEPT = Path(__file__).parent / "snapshots"
ENDS = {"terminal": "txt", "markdown": "md", "json": "json"}


def shown(report: Any, form: str) -> str:
    return snapshots.short(report) if form == "json" else render(report, form)


@pytest.mark.parametrize("name", CASES)
def test_report_is_as_it_was_read(name: str) -> None:
    report = snapshots.steady(report_of(CASES[name]), name)
    faults = [snapshots.same(shown(report, form), KEPT / f"{name}.{end}") for form, end in ENDS.items()]
    assert not any(faults), "\n\n" + "\n\n".join(filter(None, faults))


def test_every_case_has_its_three_and_there_are_no_others() -> None:
    wanted = {f"{name}.{end}" for name in CASES for end in ENDS.values()}
    if snapshots.WRITE:
        for file in KEPT.iterdir():
            if file.name not in wanted:
                file.unlink()
    else:
        assert {file.name for file in KEPT.iterdir()} == wanted
    assert len(CASES) >= 100


def test_a_change_is_told_by_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("one\ntwo\nthree\n")
    if not snapshots.WRITE:
        assert snapshots.same("one\ntwo\nthree\n", file) == ""
        assert "-two\n+2\n" in snapshots.same("one\n2\nthree\n", file)
        assert "no y.txt yet" in snapshots.same("one\n", tmp_path / "y.txt")


@pytest.mark.parametrize("key", ["chain", "exhibits", "findings", "timeline", "machine", "gaps", "fingerprint"])
def test_no_key_changes_unseen(key: str, sample: Any) -> None:
    changed = {**sample, key: [] if isinstance(sample[key], list) else "changed"}
    assert snapshots.short(sample) != snapshots.short(changed)


def test_what_changes_every_day_is_left_out(sample: Any) -> None:
    other = {**sample, "tool": {**sample["tool"], "version": "9.9", "catalogue": "else"}}
    other["input"] = {**sample["input"], "path": "/elsewhere"}
    other["probes"] = [{**p, "seconds": 99.0} for p in sample["probes"]]
    for form in ENDS:
        assert shown(snapshots.steady(sample, "x"), form) == shown(snapshots.steady(other, "x"), form)
