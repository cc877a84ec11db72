"""True failures made here, collected by the real command and diagnosed from the bundle."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

V1, V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
NAMED = "import ctypes, sys, time; ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)\n"
HOG = NAMED + "b = []\nwhile True: b.append(bytearray(4 << 20))\n"
CALM = NAMED + "time.sleep(60)\n"
pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="deaths of other processes are read as root")]


def diagnosed(tmp_path: Path, *logs: Path, scripts: tuple[Path, ...] = (), only: str = "") -> dict[str, Any]:
    """The report on a bundle that was collected just now, of all of this machine or by some probes only."""
    out = tmp_path / "bundle.tar.gz"
    args = [a for log in logs for a in ("--log", str(log))] + [a for s in scripts for a in ("--script", str(s))]
    if only:
        (tmp_path / "probes.yaml").write_text(f"enabled: [{only}]\n")
        args += ["--config", str(tmp_path / "probes.yaml")]
    pm = [sys.executable, "-m", "postmortem"]
    subprocess.run([*pm, "collect", "--deadline", "20", "-o", str(out), *args], check=True, capture_output=True, timeout=60)
    done = subprocess.run([*pm, "analyze", str(out), "--format", "json"], check=True, capture_output=True, timeout=60)
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["input"]["kind"] == "bundle"
    return report


def said_of(log: Path) -> dict[str, Any]:
    """The report on one log."""
    done = subprocess.run(
        [sys.executable, "-m", "postmortem", "analyze", str(log), "--format", "json"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@contextmanager
def memory_cgroup(name: str, limit: int) -> Iterator[Path]:
    v1 = (V1 / "memory.limit_in_bytes").exists()
    group = (V1 if v1 else V2) / f"pm-{name}-{os.getpid()}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if v1 else "memory.max")).write_text(str(limit))
    except OSError as error:
        pytest.skip(f"no memory cgroup can be made here: {error}")
    try:
        yield group
    finally:
        group.rmdir()


def started_in(group: Path, code: str, comm: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", sys.executable, "-c", code, comm])


def ended(log: Path, comm: str, process: subprocess.Popen[bytes]) -> None:
    """What a wrapper writes of a child that was killed."""
    status = process.wait(30)
    log.write_text(f"{comm}: starting\nwrapper: {comm} (pid {process.pid}) ended with exit status {128 - status}\n")


def root(report: dict[str, Any]) -> str | None:
    return (report["root_cause"] or {}).get("class")


def test_an_oom_kill_by_a_cgroup_limit(tmp_path: Path) -> None:
    log = tmp_path / "hog.log"
    with memory_cgroup("hog", 64 << 20) as group:
        hog = started_in(group, HOG, "pm-hog")
        ended(log, "pm-hog", hog)
        report = diagnosed(tmp_path, log)
    assert root(report) == "memory.oom-kill-cgroup"
    facts = report["root_cause"]["facts"]
    assert (facts["comm"], facts["pid"], facts["limit_kb"]) == ("pm-hog", hog.pid, 65536)
    assert report["root_cause"]["confidence"] == "high"


def test_a_kill_without_oom_is_not_an_oom_kill(tmp_path: Path) -> None:
    log = tmp_path / "calm.log"
    with memory_cgroup("calm", 256 << 20) as group:
        calm = started_in(group, CALM, "pm-calm")
        time.sleep(0.7)
        calm.kill()
        ended(log, "pm-calm", calm)
        report = diagnosed(tmp_path, log)
    assert root(report) in ("process.killed", "process.terminated")
    assert {"memory.oom-kill-cgroup", "memory.oom-kill-host"} <= {r["class"] for r in report["ruled_out"]}


@pytest.mark.parametrize(("sent", "word"), [(signal.SIGKILL, "process.killed"), (signal.SIGABRT, "process.abort"), (signal.SIGSEGV, "process.segfault")], ids=["KILL", "ABRT", "SEGV"])
def test_a_zombie_tells_the_signal_that_ended_it(sent: signal.Signals, word: str, tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", CALM, "pm-daemon"])
    time.sleep(0.4)
    child.send_signal(sent)
    time.sleep(0.3)  # not waited for: it stays a zombie of this process
    try:
        report = diagnosed(tmp_path, only='anchors, processes, "proc.*"')  # not what other tests left in the kernel log
    finally:
        child.wait(10)
    zombies = [f for f in report["findings"] if f["class"] == "process.zombie" and f["facts"].get("pid") == child.pid]
    assert [z["facts"]["signal"] for z in zombies] == [int(sent)]
    assert any(f["class"] == word and f["facts"].get("pid") == child.pid for f in report["findings"])


def run_bash(script: Path, log: Path, name: str = "bash") -> int:
    with log.open("wb") as out:
        return subprocess.run([name, str(script)], stdout=out, stderr=subprocess.STDOUT, timeout=60).returncode


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_a_real_syntax_error(shell: str, tmp_path: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
    script, log = tmp_path / "nightly.sh", tmp_path / "nightly.log"
    script.write_text("#!/bin/sh\necho phase 1\nif true; then\n  echo two\nfi\nelse\n  echo three\nfi\n")
    assert run_bash(script, log, shell) == 2
    report = diagnosed(tmp_path, log, scripts=(script,))
    assert root(report) == "script.syntax-error"
    assert report["root_cause"]["facts"]["line"] == 6


def test_a_script_overwritten_while_it_runs_is_no_syntax_error(tmp_path: Path) -> None:
    script, log = tmp_path / "deploy.sh", tmp_path / "deploy.log"
    script.write_text("#!/bin/bash\necho begin\nsleep 1.5\n" + "".join(f"echo step {n}\n" for n in range(40)))
    # where the running shell reads on, the new text is in the middle of an if
    changed = "#!/bin/bash\nif true; then\n  : pad\nelse\n  echo no\nfi\n" + "".join(f"echo new {n}\n" for n in range(40))
    subprocess.run(["bash", "-n"], input=changed.encode(), check=True)
    with log.open("wb") as out:
        running = subprocess.Popen(["bash", str(script)], stdout=out, stderr=subprocess.STDOUT)
        time.sleep(0.6)
        with script.open("r+b") as same_inode:
            same_inode.write(changed.encode())
            same_inode.truncate()
        running.wait(20)
        out.write(f"deploy: {script} exited with status {running.returncode}\n".encode())
    report = diagnosed(tmp_path, log, scripts=(script,))
    assert root(report) == "script.modified-while-running", log.read_text()


def test_a_buffered_and_an_unbuffered_writer_in_one_log(tmp_path: Path) -> None:
    log = tmp_path / "merged.log"
    stamp = "import datetime, sys, time\nnow = lambda: datetime.datetime.now().isoformat(sep=' ', timespec='milliseconds')\n"
    late = stamp + "for n in range(30):\n    print(now(), 'INFO prover: step', n, 'x' * 60); time.sleep(0.05)\n"
    prompt = stamp + "for n in range(15):\n    print(now(), 'INFO bench: tick', n, flush=True); time.sleep(0.1)\n"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with log.open("wb") as out:
        both = [subprocess.Popen([sys.executable, "-c", code], stdout=out, env=env) for code in (late, prompt)]
        assert [p.wait(30) for p in both] == [0, 0]
        out.write(b"bench: run failed: no result\n")
    report = said_of(log)  # the log alone: what other tests do to this machine is no part of it
    assert "log.buffer-reorder" in {k["class"] for k in report["chain"]}
    assert root(report) != "log.buffer-reorder"
