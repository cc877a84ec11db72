"""`postmortem triage` on this machine: a row for every bundle, whatever it is; resumed, killed, interrupted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import fleets
import pytest
from fleets import fleet, last_run, rows, sorted_lines, triage

from postmortem.analysis import analyze


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(archives, OUT) of a finished run; not to be written to."""
    top = tmp_path_factory.mktemp("triage")
    ran = triage(fleet(top / "in"), "--out", top / "out", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    (top / "summary").write_text(ran.stdout)
    return top / "in", top / "out"


def test_a_row_for_each_says_what_analyze_says(done: tuple[Path, Path]) -> None:
    archives, out = done
    found = {r["path"]: r for r in rows(out)}
    assert sorted(found) == sorted(str(p.relative_to(archives)) for p in archives.rglob("*.gz"))
    for path in ("0/000.tar.gz", "1/001.tar.gz", "2/002.tar.gz", "0/003.tar.gz"):
        report, row = analyze(archives / path), found[path]
        root = report["root_cause"] or {}
        assert (row["status"], row["class"], row["confidence"], row["fingerprint"]) == (
            report["status"], root.get("class"), root.get("confidence"), report["fingerprint"],
        )  # fmt: skip
        assert row["host"] == report["machine"]["host"]
    assert found["broken.tar.gz"]["status"] == "unread"
    assert "gzip" in found["broken.tar.gz"]["error"]
    assert str(archives) not in json.dumps(list(found.values())), "rows name no place of this machine"


def test_the_summary_counts_what_the_rows_say(done: tuple[Path, Path]) -> None:
    summary = json.loads((done[1].parent / "summary").read_text())
    assert summary["bundles"] == 13
    assert summary["status"] == {"failed": 9, "healthy": 3, "unread": 1}
    assert sorted((g["class"], g["named"], g["count"]) for g in summary["groups"]) == [
        ("gpu.fell-off-bus", True, 3), ("network.port-in-use", True, 3), ("process.silent-exit", False, 3),
    ]  # fmt: skip
    assert not any(g["new"] for g in summary["groups"]), "a first run has nothing to compare with"


def test_resume_reads_nothing_twice(done: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(done[0], tmp_path / "in")
    shutil.copytree(done[1], tmp_path / "out")
    fleets.bundle(tmp_path / "in" / "new.tar.gz", "port", 3, "gpu-9")
    shutil.copy(tmp_path / "in/0/000.tar.gz", tmp_path / "in/copy.tar.gz")
    before = (tmp_path / "out/rows.jsonl").read_bytes()
    assert triage(tmp_path / "in", "--out", tmp_path / "out", "--resume").returncode == 0
    run = last_run(tmp_path / "out")
    assert (run["read"], run["copied"], run["kept"]) == (1, 1, 13)
    after = (tmp_path / "out/rows.jsonl").read_bytes()
    assert after.startswith(before), "rows are appended, never rewritten"
    found = {r["path"]: r for r in rows(tmp_path / "out")}
    assert found["copy.tar.gz"] == found["0/000.tar.gz"] | {"path": "copy.tar.gz"}


def test_changed_content_is_read_again(done: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(done[0], tmp_path / "in")
    shutil.copytree(done[1], tmp_path / "out")
    fleets.bundle(tmp_path / "in/0/000.tar.gz", "port", 3)
    ran = triage(tmp_path / "in", "--out", tmp_path / "out", "--resume", "--format", "json")
    assert last_run(tmp_path / "out")["read"] == 1
    assert {g["class"]: g["count"] for g in json.loads(ran.stdout)["groups"]}["network.port-in-use"] == 4


@pytest.mark.slow
def test_another_catalogue_reads_everything_again(done: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(done[1], tmp_path / "out")
    more = tmp_path / "own.yaml"
    more.write_text(
        "schema: 1\nsignatures:\n- id: own.inside-out\n  title: A quux table is inside out\n  role: root\n"
        "  when:\n    - log: 'quux table \\d+ is inside out'\n      grade: decisive\n"
        "  yes: ['ERROR frob: quux table 4 is inside out, giving up']\n  no: ['quux table 4 is fine']\n"
    )
    ran = triage(done[0], "--out", tmp_path / "out", "--resume", "--signatures", more, "--format", "json")
    assert last_run(tmp_path / "out")["read"] == 13, ran.stderr
    groups = {g["class"]: g for g in json.loads(ran.stdout)["groups"]}
    assert groups["own.inside-out"]["new"], "a cause that no run before had"
    assert not groups["gpu.fell-off-bus"]["new"]


@pytest.mark.parametrize("torn", [b'{"path":"0/000.tar.gz","sta', b'{"a":1}\n{"path"'], ids=["half a row", "more"])
def test_a_torn_last_row_is_mended(tmp_path: Path, torn: bytes) -> None:
    fleets.bundle(tmp_path / "in/a.tar.gz", "port")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/rows.jsonl").write_bytes(torn)
    (tmp_path / "out/work.jsonl").write_bytes(b"{")
    assert triage(tmp_path / "in", "--out", tmp_path / "out").returncode == 0
    assert rows(tmp_path / "out")[-1]["class"] == "network.port-in-use"


def begun(archives: Path, out: Path) -> subprocess.Popen[bytes]:
    """A run that has written at least three rows and waits at a FIFO that nobody writes to."""
    fleet(archives, 8)
    os.mkfifo(archives / "zzz.tar.gz")
    run = subprocess.Popen(
        [sys.executable, "-m", "postmortem", "triage", str(archives), str(archives / "zzz.tar.gz"), "--out", str(out)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if (out / "rows.jsonl").exists() and (out / "rows.jsonl").read_bytes().count(b"\n") >= 9:
            return run
        time.sleep(0.05)
    raise AssertionError("no rows came")


def children_of(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)], ids=["Ctrl-C", "kill -9"])
def test_what_is_done_is_kept_and_nothing_is_left_behind(tmp_path: Path, sent: signal.Signals, status: int) -> None:
    run = begun(tmp_path / "in", tmp_path / "out")
    minded = children_of(run.pid)
    assert minded
    run.send_signal(sent)
    told = run.communicate(timeout=30)[1]
    assert run.returncode == status, told
    assert b"Traceback" not in told
    assert len(rows(tmp_path / "out")) == 9
    (tmp_path / "in/zzz.tar.gz").unlink() if sent == signal.SIGINT else (tmp_path / "in/zzz.tar.gz").open("wb").close()
    until = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in minded) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in minded if Path(f"/proc/{pid}").exists()]


def test_copies_and_folders_are_rows_of_their_own(tmp_path: Path) -> None:
    fleets.bundle(tmp_path / "in/a.tar.gz", "port")
    shutil.copy(tmp_path / "in/a.tar.gz", tmp_path / "in/b.tar.gz")
    (tmp_path / "in/open").mkdir()
    (tmp_path / "in/open/app.log").write_text(fleets.text("port", 11, "x"))
    triage(tmp_path / "in", "--out", tmp_path / "out")
    found = {r["path"]: r["class"] for r in rows(tmp_path / "out")}
    assert found == dict.fromkeys(("a.tar.gz", "b.tar.gz", "open"), "network.port-in-use")


def test_one_job_and_many_write_the_same_rows(done: tuple[Path, Path], tmp_path: Path) -> None:
    triage(done[0], "--out", tmp_path / "one", "--jobs", "1")
    assert sorted_lines(tmp_path / "one") == sorted_lines(done[1])


@pytest.mark.parametrize(
    ("args", "status", "says"),
    [
        (["nowhere"], 2, "nowhere"),
        (["in", "--resume"], 2, "--out"),
        (["in", "--by", "colour"], 2, "colour"),
        (["in", "--since", "soon"], 2, "soon"),
        (["in", "--scheduler", "tcp://127.0.0.1:9"], 1, "scheduler"),
        (["ftp://x/y"], 2, "ftp"),
    ],
    ids=["no such path", "resume what", "no such column", "no time", "no scheduler", "no such store"],
)
def test_wrong_usage_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], status: int, says: str
) -> None:
    fleets.bundle(tmp_path / "in/a.tar.gz", "port")
    monkeypatch.chdir(tmp_path)
    ran = triage(*args)
    assert (ran.returncode, ran.stdout) == (status, "")
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr


def test_since_leaves_out_what_failed_before(done: tuple[Path, Path], tmp_path: Path) -> None:
    ran = triage(
        done[0], "--out", tmp_path / "o", "--since", "2026-06-09", "--format", "json", "--now", "2026-06-30T00:00:00Z"
    )
    assert {g["class"]: g["count"] for g in json.loads(ran.stdout)["groups"]} == {
        "gpu.fell-off-bus": 1, "network.port-in-use": 1, "process.silent-exit": 1,
    }  # fmt: skip
