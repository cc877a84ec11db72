"""True deaths made here and collected: an OOM kill in a memory cgroup, zombies, a script that runs."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from collecting import Bundle, command, read, run

from postmortem.collect import CollectOptions

V1 = Path("/sys/fs/cgroup/memory")
V2 = Path("/sys/fs/cgroup")


def collected(tmp_path: Path, **more: object) -> Bundle:
    out = tmp_path / "b.tar.gz"
    assert run(CollectOptions(str(out), deadline=20, **more))[0] == 0  # type: ignore[arg-type]
    return read(out)


@pytest.fixture
def group() -> Iterator[Path]:
    """A memory cgroup of 48 MiB, v1 or v2."""
    v1 = (V1 / "memory.limit_in_bytes").exists()
    path = (V1 if v1 else V2) / f"pm-test-{os.getpid()}"
    try:
        path.mkdir()
        (path / ("memory.limit_in_bytes" if v1 else "memory.max")).write_text("50331648")
    except OSError:
        pytest.skip("no memory cgroup can be made here")
    yield path
    path.rmdir()


@pytest.mark.root
def test_an_oom_kill_in_a_cgroup(group: Path, tmp_path: Path) -> None:
    enter = f"import os; open({str(group / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))"
    code = f"{enter}; b = []\nwhile True: b.append(bytearray(4 << 20))"
    victim = subprocess.Popen([sys.executable, "-c", code])
    assert victim.wait(20) == -signal.SIGKILL
    bundle = collected(tmp_path)
    sweep = bundle.text("cgroup/sweep")
    counters = re.findall(rf"==> {re.escape(str(group))}/(memory\.[a-z_.]+) <==\n((?:[^=\n].*\n)*)", sweep)
    told = dict(counters)
    assert "50331648" in told.get("memory.limit_in_bytes", told.get("memory.max", ""))
    assert re.search(r"^oom_kill 1$", told.get("memory.oom_control", told.get("memory.events", "")), re.M)
    kernel = bundle.members.get("kernel/kmsg") or bundle.members.get("kernel/dmesg")
    if kernel is not None:
        assert f"Killed process {victim.pid} ".encode() in kernel
    else:
        assert bundle.probe("kernel.log:kernel log")["state"] == "denied"


@pytest.mark.parametrize(
    ("ending", "status"),
    [("os.kill(os.getpid(), 9)", 9), ("os.kill(os.getpid(), 15)", 15), ("os._exit(3)", 768), ("os._exit(0)", 0)],
    ids=["SIGKILL", "SIGTERM", "exit-3", "exit-0"],
)
def test_a_zombie_tells_how_it_died(ending: str, status: int, tmp_path: Path) -> None:
    code = f"import os, sys, time\nif (pid := os.fork()) == 0: {ending}\nprint(pid, flush=True); time.sleep(60)"
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout
    pid = int(parent.stdout.readline())
    time.sleep(0.2)
    try:
        lines = collected(tmp_path).text("proc/zombies").splitlines()
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
    line = next(line for line in lines if line.startswith(f"{pid} "))
    assert re.fullmatch(rf"{pid} \(python\S*\) Z {parent.pid} .* {status} permitted=yes parent=python\S*", line)


def test_a_script_that_runs_is_taken_with_what_is_known_of_it(tmp_path: Path) -> None:
    script = tmp_path / "run it.sh"
    script.write_text("#!/bin/bash\n# a script\nsleep 30\necho done\n")
    process = subprocess.Popen(["bash", str(script)], start_new_session=True)
    time.sleep(0.3)
    inode = script.stat().st_ino
    new = tmp_path / "new"
    new.write_text("#!/bin/bash\r\nif true; then\necho 'never closed'\n")
    new.replace(script)  # another file under the same name: the shell still reads the old one
    try:
        bundle = collected(tmp_path)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    name = next(
        name
        for name in bundle.members
        if name.startswith("scripts/") and "run_it" in name and not name.endswith((".meta", ".running"))
    )
    assert "never closed" in bundle.text(name)
    assert bundle.text(f"{name}.running") == "#!/bin/bash\n# a script\nsleep 30\necho done\n"
    meta = dict(line.split(": ", 1) for line in bundle.text(f"{name}.meta").splitlines())
    assert meta["path"] == str(script)
    assert meta["run_by_pid"] == str(process.pid)
    assert meta["run_by_inode"] == str(inode) != meta["inode"]
    assert abs(int(meta["run_by_start_epoch"]) - time.time()) < 60
    assert "syntax error" in meta["bash_n"]
    assert meta["crlf"] == "yes"
    assert len(meta["sha256"]) == 64


def test_environment_is_by_allow_list(tmp_path: Path) -> None:
    env = {
        "NCCL_DEBUG": "INFO",
        "MY_SECRET_THING": "hunter2",
        "CUDA_API_KEY": "hunter2",
        "NCCL_NOTE": "a\nPASSWORD=hunter2",
    }
    out = tmp_path / "b.tar.gz"
    assert run(CollectOptions(str(out), deadline=20), **env)[0] == 0
    text = read(out).text("env")
    assert "NCCL_DEBUG=INFO" in text
    assert "MY_SECRET_THING" in text
    assert "hunter2" not in text


def test_processes_of_this_machine(tmp_path: Path) -> None:
    bundle = collected(tmp_path)
    for kind in ("stat", "status", "wchan", "cgroup", "oom_score"):
        assert f"==> /proc/1/{kind} <==\n" in bundle.text(f"proc/sweep/{kind}")
    assert f"epoch: {int(time.time()) // 100}" in bundle.text("clock/start")
    assert "Mounted on" in bundle.text("disk/df")


def test_a_second_sample(tmp_path: Path) -> None:
    out = tmp_path / "b.tar.gz"
    begin = time.monotonic()
    assert run(CollectOptions(str(out), deadline=20, sample=2))[0] == 0
    assert time.monotonic() - begin >= 2
    bundle = read(out)
    assert "pgfault" in bundle.text("sample2/host/counters")
    between = dict(line.split() for line in bundle.text("sample2/times").splitlines()[1:])
    assert int(between["host"]) >= 200


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_the_script_that_called_us_is_named_not_taken(shell: str, tmp_path: Path) -> None:
    hook, asked, out = tmp_path / "hook.sh", tmp_path / "asked.sh", tmp_path / "b.tar.gz"
    for path, scripts in ((hook, ()), (asked, (str(asked),))):
        words = shlex.join(command(CollectOptions(str(out), deadline=20, scripts=scripts)))
        path.write_text(f"#!/bin/{shell}\n{words}\n:\n")
    subprocess.run([shell, hook], check=True, capture_output=True, timeout=30)
    bundle = read(out)
    assert not [name for name in bundle.members if "hook.sh" in name]
    refused = [probe for probe in bundle.manifest["probes"] if probe["state"] == "refused"]
    # whatever runs these tests may itself be a script that called the collector
    assert {probe["reason"].partition(";")[0] for probe in refused} == {"it called the collector"}
    subprocess.run([shell, asked], check=True, capture_output=True, timeout=30)
    bundle = read(out)
    assert f"scripts{asked}" in bundle.members
    assert "run_by_pid: " in bundle.text(f"scripts{asked}.meta")
