"""Kills, signals, full disks and size limits: whatever is left is readable and says that it is partial."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from collecting import command, gone, our_processes, read, run, start

from clocked import Stopwatch
from postmortem.collect import CollectOptions, Extra

SLOW = (Extra("slow", run="sleep 15", seconds=15),)


def big_log(folder: Path) -> Path:
    path = folder / "big.log"
    path.write_text("".join(f"{n}\n" for n in range(150_000)) + "the-last-line\n")
    return path


def killed_at(moment: float, folder: Path, log: Path) -> None:
    before = our_processes()
    out = folder / "b.tar.gz"
    process = start(CollectOptions(str(out), deadline=20, logs=((str(log), ""),), extras=SLOW))
    time.sleep(moment)
    process.kill()
    process.wait()
    assert process.stderr
    process.stderr.close()
    assert gone(before, 2.0), "children of a killed driver stay"
    left = sorted(folder.glob("b.tar.gz*"))
    if not left and moment < 0.6:
        return
    assert [path.name for path in left] == ["b.tar.gz.partial"]
    bundle = read(left[0])
    assert list(bundle.members)[:1] == ["START"] or moment < 0.6
    assert "manifest.json" not in bundle.members
    assert "END" not in bundle.members
    if moment >= 1.5:
        assert bundle.text(f"logs/tail{log}").endswith("the-last-line\n")
    left[0].unlink()


def test_kill_at_random_moments(tmp_path: Path) -> None:
    log = big_log(tmp_path)
    for _ in range(6):
        killed_at(random.uniform(0.1, 2.0), tmp_path, log)


@pytest.mark.slow
def test_kill_at_many_random_moments(tmp_path: Path) -> None:
    log = big_log(tmp_path)
    for _ in range(200):
        killed_at(random.uniform(0.05, 2.5), tmp_path, log)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_seals_within_a_second(number: signal.Signals, tmp_path: Path) -> None:
    before = our_processes()
    out = tmp_path / "b.tar.gz"
    process = start(CollectOptions(str(out), deadline=20, extras=SLOW))
    until, partial = time.monotonic() + 12, tmp_path / "b.tar.gz.partial"
    while not (partial.exists() and "net/sockets" in read(partial).members) and time.monotonic() < until:
        time.sleep(0.1)
    process.send_signal(number)
    watch = Stopwatch()
    assert process.wait(5) == 0
    assert watch.seconds() < 1.0
    assert process.stderr
    process.stderr.close()
    bundle = read(out)
    assert bundle.manifest["complete"] is False
    assert bundle.manifest["reason"] == number.name
    assert "disk/df" in bundle.members
    assert bundle.probe("extra.slow")["state"] == "over-budget"
    assert bundle.probe("clock.end")["state"] == "over-budget"
    assert gone(before)


@pytest.mark.root
@pytest.mark.parametrize("room", ["64k", "256k", "1m"])
def test_a_full_disk_keeps_what_fits(room: str, tmp_path: Path) -> None:
    if os.geteuid() or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare")
    log = tmp_path / "noise.log"
    log.write_bytes(b"".join(b"%s\n" % os.urandom(40).hex().encode() for _ in range(60_000)))
    disk, out = tmp_path / "disk", tmp_path / "copy.tar.gz"
    disk.mkdir()
    options = CollectOptions(f"{disk}/b.tar.gz", deadline=20, logs=((str(log), ""),))
    script = (
        'mount -t tmpfs -o size="$1" none "$2" && d=$2 && to=$3 && shift 3 && "$@"; rc=$?; cat "$d"/* > "$to"; exit $rc'
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", room, disk, out, *command(options)],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with tarfile.open(out) as tar:  # ends properly: no torn stream
        assert "manifest.json" in tar.getnames()
    bundle = read(out)
    manifest = bundle.manifest
    assert next(iter(bundle.members)) == "START"
    assert list(bundle.members)[-1] == "END"
    assert manifest["complete"] is False
    assert manifest["reason"] == "No space left on device"
    named = {probe["member"] for probe in manifest["probes"] if probe["member"]}
    assert named <= set(bundle.members)
    assert any(probe["state"] == "over-budget" for probe in manifest["probes"])


SLOW_PLACE = """
import sys, time
import postmortem.collect.run as run
from postmortem.collect import CollectOptions, collect
slow = float(sys.argv[2])
class Place(run.FilePlace):
    def write(self, data):
        if self._fd < 0:
            time.sleep(slow)
        super().write(data)
run.FilePlace = Place
begin = time.monotonic()
result = collect(CollectOptions(sys.argv[1], deadline=float(sys.argv[3])))
print(result.code, result.path, result.complete, time.monotonic() - begin)
"""


@pytest.mark.parametrize(
    ("slow", "deadline", "complete"),
    [(2.5, 8, "True"), (60, 4, "False")],
    ids=["they answer late", "they never answer"],
)
def test_where_no_place_answers_in_time(slow: float, deadline: float, complete: str, tmp_path: Path) -> None:
    """On a machine that is starved of processor time each folder seems to hang; the evidence is kept all the same."""
    out = tmp_path / "b.tar.gz"
    words = [sys.executable, "-c", SLOW_PLACE, out, str(slow), str(deadline)]
    watch = Stopwatch()
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=True)
    code, path, whole, seconds = done.stdout.split()
    assert float(seconds) - watch.stood() <= deadline + 0.5
    assert (code, path, whole) == (("0", str(out), "True") if complete == "True" else ("1", "None", "False"))
    if complete == "True":
        assert read(out).manifest["complete"] is True


def test_a_device_is_never_replaced(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root to make a device")
    device = tmp_path / "null"
    os.mknod(device, 0o666 | 0o020000, os.makedev(1, 3))
    (tmp_path / "here").mkdir()
    words = command(CollectOptions(str(device), deadline=15))
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=tmp_path / "here", check=True)
    assert device.is_char_device()
    assert f"{device} cannot be written: it is there, and no regular file" in done.stderr
    assert "END" in read(tmp_path / "here" / "null").members


def test_a_place_that_cannot_be_written_is_replaced_and_told(tmp_path: Path) -> None:
    words = command(CollectOptions(str(tmp_path / "no/such/folder/b.tar.gz"), deadline=8))
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0
    assert "no/such/folder/b.tar.gz cannot be written: No such file or directory" in done.stderr
    assert "END" in read(tmp_path / "b.tar.gz").members


def test_the_size_limit_holds_and_is_told(tmp_path: Path) -> None:
    log = tmp_path / "noise.log"
    log.write_bytes(b"".join(b"%s\n" % os.urandom(400).hex().encode() for _ in range(9_000)))
    out = tmp_path / "b.tar.gz"
    code, _ = run(CollectOptions(str(out), deadline=20, max_size=1_000_000, logs=((str(log), ""),)))
    assert code == 0
    assert out.stat().st_size <= 1_000_000
    assert f"logs/tail{log}" in read(out).members
    states = [probe["state"] for probe in read(out).manifest["probes"] if probe["name"] == f"logs.full:{log}"]
    assert states[-1] == "over-budget"
    assert read(out).manifest["complete"] is False


def test_an_ordinary_bundle(tmp_path: Path) -> None:
    out = tmp_path / "b.tar.gz"
    code, seconds = run(CollectOptions(str(out), incident="INC-7"))
    bundle = read(out)
    assert code == 0
    assert seconds < 5  # 1.5 s on an idle machine; tests share theirs
    assert out.stat().st_mode & 0o777 == 0o600
    assert out.stat().st_size <= 10_000_000
    assert len(bundle.members) >= 30
    manifest = bundle.manifest
    assert (manifest["schema"], manifest["complete"], manifest["redacted"], manifest["incident"]) == (
        "postmortem/bundle/v1",
        True,
        True,
        "INC-7",
    )
    assert "redacted: yes\n" in bundle.text("START")
    assert all(
        set(probe) == {"name", "state", "seconds", "bytes", "sha256", "why", "reason", "member"}
        for probe in manifest["probes"]
    )
    assert all(probe["why"] for probe in manifest["probes"])
    assert not list(tmp_path.glob("*.partial"))


def test_what_a_killed_run_left_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "b.tar.gz"
    (tmp_path / "b.tar.gz.partial").write_bytes(b"evidence")
    assert run(CollectOptions(str(out), deadline=10))[0] == 0
    assert (tmp_path / "b.tar.gz.partial").read_bytes() == b"evidence"
    assert "END" in read(out).members


def test_standard_output(tmp_path: Path) -> None:
    done = subprocess.run(command(CollectOptions("-", deadline=10)), capture_output=True, timeout=30, check=True)
    (tmp_path / "b.tar.gz").write_bytes(done.stdout)
    assert read(tmp_path / "b.tar.gz").manifest["complete"] is True
