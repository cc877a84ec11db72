"""Money from end to end: instance data in the bundles -> rows -> what failures cost, by group and in all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fleets import rows, tar, triage

START = "2026-06-11T02:00:00Z INFO bench: start\n"
END = "2026-06-11T{end}Z ERROR bench: bind 127.0.0.1:9820: Address already in use (os error 98)\n"
GOOD = "2026-06-11T04:00:00Z INFO bench: benchmark completed successfully, throughput 12.5 proofs/s\nexit status 0\n"


def rented(file: Path, last: str, price: float | None, place: str = "Norway, NO") -> None:
    instance = {"id": 7, "machine_id": 3, "actual_status": "running", "geolocation": place, "image_uuid": "acme/app:1"}
    told = {"attach/vast-instance": json.dumps(instance | ({} if price is None else {"dph_total": price}))}
    tar(file, {"files/bench.log": START + last, **told, "manifest.json": '{"schema": "postmortem/bundle/v1"}'})


def test_failures_cost_what_their_machines_did(tmp_path: Path) -> None:
    rented(tmp_path / "in/1.tar.gz", END.format(end="04:00:00"), 0.5)  # two hours
    rented(tmp_path / "in/2.tar.gz", END.format(end="02:30:00"), 3.0, "Iowa, US")  # half an hour
    rented(tmp_path / "in/3.tar.gz", GOOD, 9.0)
    rented(tmp_path / "in/4.tar.gz", END.format(end="03:00:00"), None)
    done = triage(tmp_path / "in", "--out", tmp_path / "out", "--format", "json")
    summary = json.loads(done.stdout)
    assert summary["cost"] == {"bundles": 2, "lost": 2.5}
    assert [g["cost"] for g in summary["groups"]] == [{"bundles": 2, "lost": 2.5}]
    assert {(v["value"], v["failed"], v["bundles"]) for v in summary["by"]["region"]} == {
        ("Norway, NO", 2, 3),
        ("Iowa, US", 1, 1),
    }
    assert {(r["provider"], r["image"]) for r in rows(tmp_path / "out")} == {("vast.ai", "acme/app:1")}
    table = triage(tmp_path / "in", "--out", tmp_path / "out", "--resume", "--by", "provider,image")
    assert "2.50 of machine time ended in failure (2 runs of known price)" in table.stdout


def test_sql_over_prices(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    from postmortem.triage.query import query

    rented(tmp_path / "in/1.tar.gz", END.format(end="04:00:00"), 0.5)
    triage(tmp_path / "in", "--out", tmp_path / "out")
    told = query(tmp_path / "out", "select provider, region, price * run_s / 3600 lost from rows")
    assert "vast.ai" in str(told)
    assert "1.0" in str(told)
