"""An OOM kill that is really made here: the limit is the parent's, the victim lives in a child (cgroup v1).

There the kernel counts the kill in the victim's own group: the parent, whose limit it was, counts 0.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from postmortem import analyze

V1 = Path("/sys/fs/cgroup/memory")
FILES = ("memory.oom_control", "memory.failcnt", "memory.limit_in_bytes", "memory.max_usage_in_bytes")
HOG = "b = []\nwhile True: b.append(bytearray(4 << 20))"
LIMIT = 48 << 20

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(
        os.geteuid() != 0 or not (V1 / "memory.limit_in_bytes").exists() or not os.access(V1, os.W_OK),
        reason="needs root and the memory controller of cgroup v1",
    ),
]


@dataclass(frozen=True, slots=True)
class Death:
    """What was left of the kill: both groups' files, the victim's pid and status, the kernel's lines or none."""

    parent: dict[str, str]
    child: dict[str, str]
    group: Path
    pid: int
    status: int
    kernel: str


@pytest.fixture(scope="module")
def death() -> Iterator[Death]:
    group = V1 / f"pm-parent-{os.getpid()}"
    child = group / "child"
    child.mkdir(parents=True)
    try:
        (group / "memory.limit_in_bytes").write_text(str(LIMIT))
        enter = f"import os; open({str(child / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))\n"
        victim = subprocess.Popen([sys.executable, "-c", enter + HOG])
        status = victim.wait(timeout=60)
        files = [{f: (g / f).read_text() for f in FILES} for g in (group, child)]
        yield Death(files[0], files[1], group, victim.pid, status, kernel_lines(group.name))
    finally:
        for _ in range(50):
            if remove(child) and remove(group):
                break
            time.sleep(0.1)


def remove(group: Path) -> bool:
    """Whether the group is gone; it is busy until its last process is reaped."""
    try:
        group.rmdir()
    except OSError:
        return not group.exists()
    return True


def kernel_lines(group: str) -> str:
    """The kernel's record of the kill, where this machine lets us read it."""
    log = subprocess.run(["dmesg"], capture_output=True, text=True, errors="replace")
    lines = log.stdout.splitlines()
    at = [n for n, line in enumerate(lines) if f"oom_memcg=/{group}," in line]
    return "\n".join(lines[max(0, at[0] - 60) : at[0] + 3]) + "\n" if at else ""


def sweep(files: dict[str, str], group: Path) -> str:
    """The files as `head` prints them, one under the other."""
    return "".join(f"==> {group / name} <==\n{text}\n" for name, text in files.items())


def report(folder: Path, death: Death, groups: str, kernel: str = "") -> dict[str, Any]:
    log = f"hog: starting (pid {death.pid})\nwrapper: hog (pid {death.pid}) ended with exit status 137\n"
    (folder / "run.log").write_text(log)
    if groups:
        (folder / "cgroups.txt").write_text(groups)
    if kernel:
        (folder / "dmesg.txt").write_text(kernel)
    return analyze(folder)


def test_the_kernel_counts_the_kill_in_the_child(death: Death) -> None:
    assert death.status == -9
    assert "oom_kill 0\n" in death.parent["memory.oom_control"]
    assert "oom_kill 1\n" in death.child["memory.oom_control"]


def test_counters_of_both_groups_name_the_kill(tmp_path: Path, death: Death) -> None:
    groups = sweep(death.parent, death.group) + sweep(death.child, death.group / "child")
    found = report(tmp_path, death, groups)
    assert found["root_cause"]["class"] == "memory.oom-kill-cgroup"
    assert "memory.oom-kill-cgroup" not in {r["class"] for r in found["ruled_out"]}


def test_the_parents_zero_rules_nothing_out_beside_the_kernels_record(tmp_path: Path, death: Death) -> None:
    if not death.kernel:
        pytest.skip("the kernel log cannot be read here")
    found = report(tmp_path, death, sweep(death.parent, death.group), death.kernel)
    root = found["root_cause"]
    assert (root["class"], root["confidence"]) == ("memory.oom-kill-cgroup", "high")
    assert str(root["facts"]["pid"]) == str(death.pid)
    assert re.search(rf"/{death.group.name}\b(?!/child)", str(root["facts"]["oom_memcg"]))


def test_the_parents_zero_alone_does_not_name_a_killer(tmp_path: Path, death: Death) -> None:
    found = report(tmp_path, death, sweep(death.parent, death.group))
    assert (found["root_cause"] or {}).get("class") in ("process.killed", "process.silent-exit", None)
    assert (found["root_cause"] or {}).get("confidence") != "high"
