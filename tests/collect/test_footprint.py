"""What the collector costs the machine: memory of all its processes, priorities, size of an ordinary bundle."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from collecting import read, read_tar, run

from postmortem.collect import CollectOptions, agent_script

MOST = 64 << 10  # KiB


def family(pid: int) -> set[int]:
    """The process and all that descend from it or share a session that it began."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        stats[int(path.parent.name)] = int(fields[1])
    found, size = {pid}, 0
    while len(found) > size:
        size = len(found)
        found |= {child for child, parent in stats.items() if parent in found}
    return found


def memory(pid: int) -> int:
    """KiB of a process that are its own, with its share of what it has in common with others."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)


def test_memory_and_priorities(tmp_path: Path) -> None:
    if not Path("/proc/self/smaps_rollup").exists():
        pytest.skip("no smaps_rollup")
    log = tmp_path / "big.log"
    with log.open("w") as file:
        for n in range(300_000):
            file.write(f"2026-01-01T00:00:00Z INFO worker: step {n} token={n}abcdef took {n % 97} ms\n")
    out = tmp_path / "b.tar.gz"
    words = [sys.executable, "-m", "postmortem", "collect", "--deadline", "20", "--log", log, "-o", out]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    most, scores, nice = 0, set(), 0
    while process.poll() is None:
        alive = family(process.pid)
        most = max(most, sum(memory(pid) for pid in alive))
        for pid in alive:
            try:
                scores.add(int(Path(f"/proc/{pid}/oom_score_adj").read_text()))
                nice = max(nice, os.getpriority(os.PRIO_PROCESS, pid))
            except OSError:
                continue
        time.sleep(0.03)
    assert process.returncode == 0
    assert 0 < most <= MOST, f"{most} KiB"
    assert max(scores) >= 500
    assert nice >= 10
    assert out.stat().st_size <= 10_000_000


def cached(path: Path) -> int:
    """Bytes of the file in the page cache."""
    done = subprocess.run(
        ["fincore", "--bytes", "--noheadings", "--output", "RES", path], capture_output=True, check=True
    )
    return int(done.stdout.split()[0])


def test_the_page_cache_is_dropped_behind_a_big_log(tmp_path: Path) -> None:
    can = subprocess.run(
        ["dd", "if=/dev/null", "of=/dev/null", "iflag=nocache", "count=0"], capture_output=True, check=False
    )
    if can.returncode or shutil.which("fincore") is None:
        pytest.skip("dd cannot drop the cache, or nothing can look at it")
    log, out = tmp_path / "big.log", tmp_path / "b.tar.gz"
    log.write_text("".join(f"line {n} of a log that is longer than its tail\n" for n in range(60_000)))
    with log.open() as file:
        os.fsync(file.fileno())
    log.read_text()
    if cached(log) < log.stat().st_size:
        pytest.skip("this file system keeps no cache")
    assert run(CollectOptions(str(out), deadline=20, logs=((str(log), "big"),)))[0] == 0
    assert "logs/full/big.part1" in read(out).members
    assert cached(log) == 0


def test_a_dd_that_knows_no_such_flag_harms_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    dd = folder / "dd"
    dd.write_text('#!/bin/sh\ncase "$*" in *iflag=nocache*) exit 1 ;; esac\nexec /bin/dd "$@"\n')
    dd.chmod(0o755)
    log = tmp_path / "big.log"
    log.write_text("".join(f"line {n} of a log that is longer than its tail\n" for n in range(3000)))
    script = agent_script(CollectOptions(deadline=20, logs=((str(log), "big"),)))
    script = script.replace("PATH=/usr/local/sbin:", f"PATH={folder}:/usr/local/sbin:")
    done = subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, timeout=60, check=True)
    assert read_tar(done.stdout).text("logs/full/big.part1") == log.read_text()
    assert done.stderr == b""


def test_nothing_heavy_is_imported_before_the_agent_runs() -> None:
    heavy = ("yaml", "tarfile", "postmortem.redact", "postmortem.collect.seal", "postmortem.collect.sinks", "json")
    code = f"import sys, postmortem.collect.start; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
