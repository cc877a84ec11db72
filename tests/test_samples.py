"""Every folder of samples/ is analysed and must say what its case.yaml expects: nothing is registered by hand."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import postmortem

ROOT = Path(__file__).parent.parent
CASES = sorted((ROOT / "samples").glob("*/case.yaml"))
SCHEMA = json.loads((ROOT / "src/postmortem/report/schema.json").read_text(encoding="utf-8"))


@pytest.fixture(params=CASES, ids=[p.parent.name for p in CASES])
def case(request: pytest.FixtureRequest) -> tuple[dict[str, Any], postmortem.Report]:
    path: Path = request.param
    return yaml.safe_load(path.read_text(encoding="utf-8"))["expect"], postmortem.analyze(path.parent / "files")


def test_root_cause(case: tuple[dict[str, Any], postmortem.Report]) -> None:
    expect, report = case
    said = "healthy" if report["status"] == "healthy" else (report["root_cause"] or {}).get("class")
    assert said in {expect["root_cause"], *expect.get("accept", [])}
    assert said not in expect.get("not", [])


def test_what_else_is_named(case: tuple[dict[str, Any], postmortem.Report]) -> None:
    expect, report = case
    seen = {one["class"] for key in ("chain", "findings") for one in report[key]}
    assert set(expect.get("also", [])) <= seen


def test_every_claim_has_evidence_that_stands_in_the_input(case: tuple[dict[str, Any], postmortem.Report]) -> None:
    _, report = case
    claims = [report["root_cause"], *report["chain"], *report["findings"]]
    assert all(claim["evidence"] for claim in claims if claim)


def test_the_report_is_valid_against_its_schema(case: tuple[dict[str, Any], postmortem.Report]) -> None:
    jsonschema.validate(case[1], SCHEMA)


def test_the_demo_bundle_holds_the_sample_files() -> None:
    folder = ROOT / "samples/syntax-error-zombie"
    with tarfile.open(folder / "bundle.tar.gz") as tar:
        packed = {m.name: tar.extractfile(m).read() for m in tar if m.isfile()}  # type: ignore[union-attr]
    assert packed == {str(p.relative_to(folder)): p.read_bytes() for p in folder.glob("files/**/*") if p.is_file()}
