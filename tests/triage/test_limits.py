"""A bundle that takes too long, too much memory, or kills its reader is a row; the others go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import fleets
import pytest

from postmortem.signatures import load
from postmortem.triage.job import Batch, Item, Options
from postmortem.triage.minder import Child, Children, why_dead
from postmortem.triage.work import run_batch


def options(**limits: float) -> Options:
    return Options(load().digest, **limits)  # type: ignore[arg-type]


@pytest.fixture
def children() -> Iterator[Children]:
    made = Children()
    yield made
    made.close()


def items(*paths: Path) -> tuple[Item, ...]:
    return tuple(Item(p.name, str(p)) for p in paths)


def test_time(tmp_path: Path, children: Children) -> None:
    os.mkfifo(tmp_path / "hangs.tar.gz")
    good = fleets.bundle(tmp_path / "good.tar.gz", "port")
    batch = Batch(items(tmp_path / "hangs.tar.gz", good), options(wall_s=3))
    stuck, fine = run_batch(batch, children)
    assert stuck.row
    assert fine.row
    assert (stuck.row["status"], stuck.row["error"]) == ("stopped", "stopped: time: more than 3 s")
    assert fine.row["class"] == "network.port-in-use"


def test_memory(tmp_path: Path, children: Children) -> None:
    lines = b"".join(b"2026-06-11T03:40:01Z INFO a: step %d of many, all is well here\n" % n for n in range(60_000))
    big = fleets.tar(tmp_path / "big.tar.gz", {f"log/{n}.log": lines for n in range(20)})
    good = fleets.bundle(tmp_path / "good.tar.gz", "port")
    child = Child(options())
    bare = int(
        next(
            x for x in Path(f"/proc/{child.process.pid}/status").read_text().splitlines() if x.startswith("VmSize")
        ).split()[1]
    )
    child.end()
    limit = ((bare >> 10) + 24) << 20
    hungry, fine = run_batch(Batch(items(big, good), options(memory_bytes=limit)), children)
    assert hungry.row
    assert fine.row
    assert (hungry.row["status"], hungry.row["error"]) == ("stopped", f"stopped: memory: more than {limit >> 20} MiB")
    assert len(hungry.id) == 32, "the content is known, so that it is not tried again and again"
    assert hungry.row["id"] == hungry.id
    assert fine.row["class"] == "network.port-in-use"


def test_a_crash_is_tried_again_and_then_told(tmp_path: Path, children: Children) -> None:
    os.mkfifo(tmp_path / "crashes.tar.gz")
    shot: list[int] = []

    def shoot() -> None:
        until = time.monotonic() + 60
        while len(shot) < 2 and time.monotonic() < until:
            for child in list(children._busy):
                if child.process.pid not in shot and blocked(child.process.pid):
                    shot.append(child.process.pid)
                    os.kill(child.process.pid, signal.SIGSEGV)
            time.sleep(0.02)

    threading.Thread(target=shoot, daemon=True).start()
    (done,) = run_batch(Batch(items(tmp_path / "crashes.tar.gz"), options(wall_s=50)), children)
    assert done.row
    assert done.row["error"] == "stopped: crash: SIGSEGV"
    assert len(shot) == 2


def blocked(pid: int) -> bool:
    """Whether the child waits in open() of the FIFO."""
    return (
        "fifo" in Path(f"/proc/{pid}/wchan").read_text() or "wait_for_partner" in Path(f"/proc/{pid}/wchan").read_text()
    )


def test_a_child_is_single_threaded_and_limited(children: Children, tmp_path: Path) -> None:
    """Also after an input that `analyze` would scan with several threads."""
    lines = b"".join(b"2026-06-11T03:40:01Z INFO a: step %d of many, all is well here\n" % n for n in range(160_000))
    big = fleets.tar(tmp_path / "big.tar.gz", {"run.log": lines})
    (done,) = run_batch(Batch(items(big), options(memory_bytes=1 << 30)), children)
    assert done.row
    assert done.row["error"] is None
    pid = children._idle[0].process.pid
    assert len(os.listdir(f"/proc/{pid}/task")) == 1
    limits = Path(f"/proc/{pid}/limits").read_text()
    assert next(x for x in limits.splitlines() if x.startswith("Max address space")).split()[3] == str(1 << 30)


def test_a_child_serves_many_bundles(children: Children, tmp_path: Path) -> None:
    found = items(*(fleets.bundle(tmp_path / f"{n}.tar.gz", "port", 1 + n) for n in range(5)))
    first = run_batch(Batch(found[:1], options()), children)
    pid = children._idle[0].process.pid
    rest = run_batch(Batch(found[1:], options()), children)
    assert [c.process.pid for c in children._idle] == [pid]
    assert len({d.row["fingerprint"] for d in first + rest if d.row}) == 1


@pytest.mark.parametrize(
    ("code", "why"),
    [(-9, "memory"), (-14, "time"), (-11, "crash: SIGSEGV"), (-6, "crash: SIGABRT"), (3, "crash: exit 3")],
    ids=["the OOM killer", "its own alarm", "SEGV", "ABRT", "exit"],
)
def test_how_a_child_died(code: int, why: str) -> None:
    assert why_dead(code) == why


def test_no_scanning_child_where_it_was_said_so() -> None:
    """In a process of its own, since it is for good."""
    code = (
        "from postmortem.sources import scanning\n"
        "one = scanning.Scanning(None); one._size = 1 << 30; assert one.helpers(); one.close()\n"
        "scanning.stay_alone()\n"
        "two = scanning.Scanning(None); two._size = 1 << 30; assert not two.helpers()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
