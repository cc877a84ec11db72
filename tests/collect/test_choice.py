"""Which probes are taken: by the user's choice, and those that do more than read only when they are allowed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from collecting import Bundle, read, run

from postmortem.collect import CollectOptions

LISTENS = """
import faulthandler, signal, sys, time
if sys.argv[1] == "handles":
    faulthandler.register(signal.SIGUSR1)
ballast = bytearray(300 << 20)
def waits_for_the_collective():
    print("ready", flush=True)
    time.sleep(60)
waits_for_the_collective()
"""


def test_a_choice_is_kept_and_told(tmp_path: Path) -> None:
    config, out = tmp_path / "pm.yaml", tmp_path / "b.tar.gz"
    config.write_text('enabled: [memory, clock, "proc.*"]\ndisabled: [host.vmstat]\n')
    assert run(CollectOptions(str(out), deadline=20, config=str(config)))[0] == 0
    bundle = read(out)
    assert {"clock/start", "host/meminfo", "proc/sweep/stat", "proc/cmdline"} <= bundle.members.keys()
    assert not [name for name in bundle.members if name.startswith(("kernel/", "logs/", "host/vmstat", "net/"))]
    for name in ("host.vmstat", "kernel.log", "logs.tail", "scripts"):
        told = bundle.probe(name)
        assert (told["state"], told["reason"]) == ("refused", "left out by the configuration")
    assert bundle.manifest["complete"] is True


@pytest.fixture
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Python program with much memory whose errors go to a file."""
    with (tmp_path / "job.err").open("wb") as errors:
        words = [sys.executable, "-c", LISTENS, request.param]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors) as process:
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            yield process
            process.kill()


def collected(
    tmp_path: Path, allow: tuple[str, ...], tools: dict[str, str] | None = None, deadline: float = 20
) -> Bundle:
    out, folder = tmp_path / "b.tar.gz", tmp_path / "bin"
    folder.mkdir()
    for name, text in (tools or {}).items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    options = CollectOptions(str(out), deadline=deadline, allow=allow)
    assert run(options, PATH=f"{folder}:{os.environ['PATH']}")[0] == 0
    return read(out)


@pytest.mark.parametrize("job", ["handles"], indirect=True)
def test_no_signal_without_leave(job: subprocess.Popen[bytes], tmp_path: Path) -> None:
    bundle = collected(tmp_path, ())
    assert (tmp_path / "job.err").read_bytes() == b""
    assert "job/stacks" not in bundle.members
    assert not [probe for probe in bundle.manifest["probes"] if probe["name"] == "job.stacks"]


@pytest.mark.parametrize("job", ["handles"], indirect=True)
def test_a_python_program_tells_its_stack(job: subprocess.Popen[bytes], tmp_path: Path) -> None:
    text = collected(tmp_path, ("signals",)).text("job/stacks")
    ours = text.split(f"==> {job.pid} SIGUSR1 <==\n")[1].split("==>")[0]
    assert "in waits_for_the_collective" in ours
    assert job.poll() is None


@pytest.mark.parametrize("job", ["ignores"], indirect=True)
def test_a_program_without_a_handler_is_not_killed(job: subprocess.Popen[bytes], tmp_path: Path) -> None:
    text = collected(tmp_path, ("signals",)).text("job/stacks")
    assert f"==> {job.pid} SIGUSR1 <==\nnot sent: it has no handler\n" in text
    time.sleep(0.1)
    assert job.poll() is None


@pytest.mark.parametrize("job", ["ignores"], indirect=True)
def test_py_spy_is_asked_where_it_is(job: subprocess.Popen[bytes], tmp_path: Path) -> None:
    spy = '#!/bin/sh\necho "asked: $*"\n'
    text = collected(tmp_path, ("signals",), {"py-spy": spy}).text("job/stacks")
    assert f"asked: dump --nonblocking --pid {job.pid}\n" in text


REPORT = """#!/bin/sh
[ "$1 $2" = "--safe-mode --output-file" ] || exit 9
echo "nvidia-bug-report.sh will now collect information"
printf '%s\\n' 'Start of NVIDIA bug report log file' 'End of NVIDIA bug report log file' | gzip >"$3.gz"
"""


@pytest.mark.parametrize(
    ("allow", "deadline", "state"),
    [(("vendor",), 120, "whole"), (("vendor",), 30, "missing"), ((), 120, "")],
    ids=["allowed", "no time for it", "not allowed"],
)
def test_the_vendor_report(allow: tuple[str, ...], deadline: float, state: str, tmp_path: Path) -> None:
    bundle = collected(tmp_path, allow, {"nvidia-bug-report.sh": REPORT}, deadline)
    states = [probe["state"] for probe in bundle.manifest["probes"] if probe["name"] == "gpu.vendor-report"]
    assert states == ([state] if state else [])
    member = bundle.members.get("gpu/nvidia-bug-report.log")
    wanted = b"Start of NVIDIA bug report log file\nEnd of NVIDIA bug report log file\n"
    assert member == (wanted if state == "whole" else None)


def test_a_signal_that_is_meant_is_the_one_that_is_sent() -> None:
    """The agent tests bits of SigCgt: those of SIGUSR1 and SIGQUIT."""
    assert (1 << (signal.SIGUSR1 - 1), 1 << (signal.SIGQUIT - 1)) == (512, 4)
