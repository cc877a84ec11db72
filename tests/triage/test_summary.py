"""From rows to what the fleet's owner reads: new groups, gaps, time to failure, versions in between, lemons, parts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fleets import bundle, triage

from postmortem.triage.row import COLUMNS, line_of
from postmortem.triage.store import ROWS
from postmortem.triage.summary import columns, summary_of
from postmortem.triage.table import render

FIRST = datetime(2026, 6, 1, 3, 40, tzinfo=UTC)
KERNEL_GAP = {"source": "kernel log", "state": "denied", "opens": ["memory.oom-kill-host", "process.killed"]}
PS_GAP = {"source": "process table", "state": "missing", "opens": ["process.killed"]}


def row(number: int, status: str = "failed", mark: str = "aa", day: int = 0, **more: Any) -> dict[str, Any]:
    when = (FIRST + timedelta(days=day, minutes=number)).isoformat() if status == "failed" else None
    told = {
        "path": f"{number:04d}.tar.gz", "status": status, "class": "gpu.fell-off-bus" if mark and status == "failed" else None,
        "fingerprint": mark if status == "failed" else "", "title": "A GPU fell off the bus", "summary": f"GPU {number}",
        "when": when, "host": f"gpu-{number % 8}", "facts": {"xid": 79, "pid": number}, "gaps": [], "lines": [],
        "id": f"{number:032x}", "chain": [],
    }  # fmt: skip
    return dict.fromkeys(COLUMNS) | told | more


def summary(folder: Path, rows: list[dict[str, Any]], earlier: int = 0) -> Any:
    written = [line_of(r).encode() + b"\n" for r in rows]
    (folder / ROWS).write_bytes(b"".join(written))
    return summary_of(folder, len(b"".join(written[:earlier])))[0]


def test_a_group_is_new_when_no_earlier_run_had_it(tmp_path: Path) -> None:
    odd = {"mark": "", "lines": ["ERROR frob: quux table is inside out"]}
    rows = [row(1), row(2), row(3), row(4, mark="bb"), row(5, **odd)]
    told = summary(tmp_path, rows, earlier=2)
    assert {g["id"][:7]: g["new"] for g in told["groups"]} == {"aa": False, "bb": True, "unknown": True}
    assert told["rows_of_this_run"] == 3
    assert not any(g["new"] for g in summary(tmp_path, rows)["groups"]), "in a first run nothing is"
    assert render(told).count("NEW") == 2


def test_what_the_gaps_cost(tmp_path: Path) -> None:
    rows = [
        row(1, "undecided", gaps=[KERNEL_GAP, PS_GAP]), row(2, "undecided", gaps=[KERNEL_GAP]), row(3, "undecided"),
        row(4, mark="", gaps=[KERNEL_GAP]), row(5, gaps=[PS_GAP]), row(6, "healthy", gaps=[PS_GAP]),
    ]  # fmt: skip
    told = summary(tmp_path, rows)["gaps"]
    assert (told["without_cause"], told["with_a_gap"]) == (4, 3)
    assert told["sources"] == [
        {"gap": "kernel log: denied", "bundles": 3},
        {"gap": "process table: missing", "bundles": 1},
    ]
    assert told["left_open"][0] == {"class": "memory.oom-kill-host", "bundles": 3}


def test_mean_time_to_failure_where_run_lengths_are_known(tmp_path: Path) -> None:
    rows = [row(1, run_s=7200.0), row(2, run_s=10800.0), row(3), row(4, mark="bb")]
    told = {g["id"]: g for g in summary(tmp_path, rows)["groups"]}
    assert told["aa"]["mean_time_to_failure_s"] == 9000
    assert told["bb"]["mean_time_to_failure_s"] is None
    assert told["aa"]["facts"] == {"xid": 79}


def test_what_changed_and_the_version_that_came_in_between(tmp_path: Path) -> None:
    rows = [row(n, mark="cc", day=n % 14, driver="570.1") for n in range(42)]
    rows += [row(100 + n, day=7 + n % 7, driver="580.2", image="acme/app:2") for n in range(28)]
    rows += [row(200 + n, day=n % 7, image="acme/app:2") for n in range(2)]
    found = summary(tmp_path, rows)["changes"]["found"]
    assert [(c["group"], c["day"], c["before"], c["after"]) for c in found] == [("aa", "2026-06-08", 2, 28)]
    assert found[0]["versions"] == [{"what": "driver", "value": "580.2", "share": 1.0}], "the image was there before"
    assert found[0]["p"] < found[0]["p_corrected"] < 0.01


def test_a_lemon_and_its_p(tmp_path: Path) -> None:
    rows = [row(n, "healthy") for n in range(80)] + [row(100 + n) for n in range(8)]
    rows += [row(200 + n, host="gpu-3", unit="serial-7") for n in range(12)]
    told = summary(tmp_path, rows)["lemons"]
    first = told["found"][0]
    assert (first["unit"], first["value"], first["failures"], first["of"]) == ("host", "gpu-3", 13, 20)
    assert first["p"] < first["p_corrected"] < 0.001
    assert "binomial" in told["test"]


def test_counts_by_every_part(tmp_path: Path) -> None:
    parts = {
        "gpu": "H100",
        "unit": "serial-7",
        "driver": "580.2",
        "image": "acme/app:2",
        "script": "run.sh@aa",
        "region": "NO",
    }
    told = summary(tmp_path, [row(1, **parts), row(2, "healthy", **parts), row(3, mark="bb")])["by"]
    for part, value in parts.items():
        assert told[part] == [
            {"value": value, "bundles": 2, "failed": 1, "share": 0.5, "top_class": "gpu.fell-off-bus"}
        ]
    assert [v["value"] for v in told["hour"]] == ["03"]
    assert [v["value"] for v in told["day"]] == ["2026-06-01"]
    assert set(columns("kernel,serial")) == {*told, "kernel"}


@pytest.mark.slow
def test_the_dashboard_leads_to_the_report_of_every_bundle(tmp_path: Path) -> None:
    for day in range(1, 5):
        bundle(tmp_path / f"in/{day}.tar.gz", "xid" if day % 2 else "port", day, f"gpu-{day}")
    done = triage(tmp_path / "in", "--out", tmp_path / "out", "--format", "html", "--reports", "all")
    assert done.returncode == 0, done.stderr
    reports = list((tmp_path / "out/reports").glob("*.html"))
    assert len(reports) == 4
    assert all(file.stem in done.stdout for file in reports)


def test_a_stub_from_the_command_line(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from postmortem.cli import cli

    told = summary(tmp_path, [row(n, mark="", lines=[f"ERROR frob: quux table {n} is inside out"]) for n in range(3)])
    name = told["groups"][0]["id"]
    stub = CliRunner().invoke(cli, ["signatures", "suggest", name, "--out", str(tmp_path)])
    assert stub.exit_code == 0, stub.output
    assert "quux" in stub.stdout
    (tmp_path / "new.yaml").write_text(stub.stdout)
    checked = CliRunner().invoke(cli, ["signatures", "check", str(tmp_path / "new.yaml")])
    assert checked.exit_code == 0, checked.output
