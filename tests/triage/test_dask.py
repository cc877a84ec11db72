"""The same rows from a real Dask cluster: a scheduler and workers that are processes of their own, one killed in mid-run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fleets
import pytest
from fleets import last_run, rows, sorted_lines, triage

pytest.importorskip("distributed", reason="the extra [dask] is not installed")
QUIET = {"DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]", "DASK_DISTRIBUTED__ADMIN__LOG_LENGTH": "10"}


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The scheduler's address, and its workers of one thread each."""
    started = []
    try:
        scheduler, address = scheduling(folder / "scheduler.log")
        started.append(scheduler)
        found = [worker(folder, address, number) for number in range(workers)]
        started += found
        yield address, found
    finally:
        for process in started:
            process.kill()
            process.wait()


def scheduling(log: Path) -> tuple[subprocess.Popen[bytes], str]:
    with log.open("wb") as to:
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"],
            stdout=to, stderr=to, env={**os.environ, **QUIET},
        )  # fmt: skip
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = re.search(r"Scheduler at:\s+(tcp://[\d.:]+)", log.read_text())
        if found:
            return process, found[1]
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def worker(folder: Path, address: str, number: int) -> subprocess.Popen[bytes]:
    with (folder / f"worker-{number}.log").open("wb") as to:
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder)],
            stdout=to, stderr=to, env={**os.environ, **QUIET},
        )  # fmt: skip


def test_the_same_rows_from_a_cluster(tmp_path: Path) -> None:
    archives = fleets.fleet(tmp_path / "in", 24)
    with cluster(tmp_path, 2) as (address, workers):
        ran = triage(archives, "--out", tmp_path / "dask", "--scheduler", address)
        assert ran.returncode == 0, ran.stderr
        pids = {
            int(line.split('"worker": "')[1].split(":")[1])
            for line in (tmp_path / "dask/work.jsonl").read_text().splitlines()
        }
        assert pids <= {w.pid for w in workers}, "read in the workers, not here"
    assert triage(archives, "--out", tmp_path / "local").returncode == 0
    assert sorted_lines(tmp_path / "dask") == sorted_lines(tmp_path / "local")


@pytest.mark.slow
def test_a_worker_killed_in_mid_run_costs_nothing(tmp_path: Path) -> None:
    archives = fleets.fleet(tmp_path / "in", 400)
    out = tmp_path / "dask"
    with cluster(tmp_path, 2) as (address, workers):
        killed: list[int] = []

        def kill() -> None:
            while not killed:
                if (out / "rows.jsonl").exists() and (out / "rows.jsonl").read_bytes().count(b"\n") >= 30:
                    workers[0].send_signal(signal.SIGKILL)
                    killed.append(len(rows(out)))
                time.sleep(0.01)

        threading.Thread(target=kill, daemon=True).start()
        ran = triage(archives, "--out", out, "--scheduler", address)
        assert ran.returncode == 0, ran.stderr
        assert killed[0] < 401, "it was killed while there was work left"
        assert workers[0].wait() == -signal.SIGKILL
    assert last_run(out)["rows"] == 401
    assert triage(archives, "--out", tmp_path / "local").returncode == 0
    assert sorted_lines(out) == sorted_lines(tmp_path / "local")
