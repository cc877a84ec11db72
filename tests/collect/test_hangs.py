"""What never answers: a driver's tool, a file system. The deadline holds, the rest is whole, the hang is told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from collecting import Bundle, command, gone, our_processes, read, read_tar, run

from clocked import Stopwatch
from postmortem.collect import CollectOptions, Extra, agent_script

HERE = Path(__file__).parent
TOOLS = {
    "ignores TERM": "#!/bin/sh\ntrap '' TERM INT HUP\nwhile :; do sleep 1; done\n",
    "half an answer": "#!/bin/sh\necho index, uuid\nprintf 'half a li'\nsleep 30\n",
    "leaves a daemon on its output": "#!/bin/sh\nsleep 31 &\necho index, uuid\nsleep 32\n",
    "floods": "#!/bin/sh\nwhile :; do echo 0, flood, flood, flood; done\n",
}


@pytest.mark.parametrize("text", TOOLS.values(), ids=TOOLS)
def test_a_gpu_tool_that_never_ends(text: str, tmp_path: Path) -> None:
    before = our_processes()
    tool = tmp_path / "bin/nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(text)
    tool.chmod(0o755)
    log = tmp_path / "daemon.log"
    log.write_text("marker\n")
    out = tmp_path / "b.tar.gz"
    path = f"{tool.parent}:{os.environ['PATH']}"
    code, seconds = run(CollectOptions(str(out), deadline=3, logs=((str(log), ""),)), PATH=path)
    bundle = read(out)
    assert (code, seconds <= 3.5) == (0, True)
    probe = bundle.probe("gpu.nvidia-smi-short")
    assert probe["state"] in ("timeout", "hung")
    assert "nvidia-smi (pid " in probe["reason"]
    assert "wchan" in probe["reason"]
    assert bundle.probe("gpu.nvidia-smi-q")["state"] == "over-budget"
    assert bundle.text(f"logs/tail{log}") == "marker\n"
    assert "END" in bundle.members
    assert len(bundle.members) >= 30
    if text == TOOLS["half an answer"]:
        assert bundle.text("gpu/nvidia-smi-short") == "index, uuid\n"  # whole lines only
    assert gone(before)
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(tool).encode() in cmdline(p)]


def test_without_setsid_the_children_are_found_by_their_parents(tmp_path: Path) -> None:
    tool = tmp_path / "bin/nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(TOOLS["ignores TERM"])
    tool.chmod(0o755)
    script = agent_script(CollectOptions(deadline=3))
    script = script.replace("command -v setsid", "false").replace("command -v busybox", "false")
    env = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, timeout=20, env=env, check=False)
    bundle = read_tar(done.stdout)
    assert "nvidia-smi" in bundle.text("hangs/1")
    assert "END" in bundle.members
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(tool).encode() in cmdline(p)]


def cmdline(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("text", "code"),
    [("#!/bin/sh\necho NVIDIA-SMI has failed because it could not talk to the driver; exit 9\n", 9)],
    ids=["fails"],
)
def test_a_gpu_tool_that_fails_is_kept_with_its_status(text: str, code: int, tmp_path: Path) -> None:
    tool = tmp_path / "bin/nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(text)
    tool.chmod(0o755)
    out = tmp_path / "b.tar.gz"
    run(CollectOptions(str(out), deadline=10), PATH=f"{tool.parent}:{os.environ['PATH']}")
    probe = read(out).probe("gpu.nvidia-smi")
    assert probe["state"] == "whole"
    assert f"exit status {code}" in probe["reason"]
    assert "has failed" in read(out).text("gpu/nvidia-smi")


def test_preloads_do_not_reach_the_tools(tmp_path: Path) -> None:
    tool = tmp_path / "bin/nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nenv\n")
    tool.chmod(0o755)
    out = tmp_path / "b.tar.gz"
    bad = dict.fromkeys(
        ("LD_LIBRARY_PATH", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "BASH_ENV"), f"{tmp_path}/marker"
    )
    run(CollectOptions(str(out), deadline=10), PATH=f"{tool.parent}:{os.environ['PATH']}", **bad)
    seen = read(out).text("gpu/nvidia-smi")
    assert not [name for name in bad if f"{name}=" in seen]
    assert f"LD_LIBRARY_PATH={tmp_path}/marker" in read(out).text("env")  # but they are evidence


@pytest.mark.root
@pytest.mark.parametrize("operation", ["read", "open", "lookup", "readdir"])
def test_a_log_that_never_answers(operation: str, tmp_path: Path) -> None:
    if os.geteuid() or not os.access("/dev/fuse", os.W_OK) or shutil.which("unshare") is None:
        pytest.skip("needs root, /dev/fuse and unshare")
    mount = tmp_path / "mnt"
    mount.mkdir()
    good = tmp_path / "good.log"
    good.write_text("good\n")
    out = tmp_path / "b.tar.gz"
    logs = ((f"{mount}/*.log", ""), (f"{mount}/stuck.log", ""), (str(good), ""))
    options = CollectOptions(str(out), deadline=4, logs=logs)
    seconds = in_namespace(mount, operation, options)
    bundle = read(out)
    assert seconds <= 4.5
    assert bundle.text(f"logs/tail{good}") == "good\n"
    if operation != "readdir":  # a folder that cannot be listed names only what was asked for
        assert bundle.text(f"logs/tail{mount}/fine.log") == "all is well here\n"
    stuck = [
        probe
        for probe in bundle.manifest["probes"]
        if str(mount) in probe["name"] and probe["state"] in ("hung", "timeout")
    ]
    assert stuck
    assert "request_wait_answer" in stuck[0]["reason"]  # while it shows state S
    assert "still there after SIGKILL" in stuck[0]["reason"]
    assert bundle.manifest["left_behind"]
    assert tells_of_the_hang(bundle)


def tells_of_the_hang(bundle: Bundle) -> bool:
    return "state: hung" in bundle.text("hangs/1") and "request_wait_answer" in bundle.text("hangs/1")


def in_namespace(mount: Path, operation: str, options: CollectOptions) -> float:
    """Seconds that a collection takes in a mount and pid namespace with a stuck file system."""
    script = """
        import json, subprocess, sys, time
        hanger = subprocess.Popen([sys.executable, *json.loads(sys.argv[1])], stdout=subprocess.PIPE)
        assert hanger.stdout.readline() == b"mounted\\n"
        begin = time.monotonic()
        subprocess.run(json.loads(sys.argv[2]), timeout=30, capture_output=True)
        print(time.monotonic() - begin)
        hanger.terminate()
        hanger.wait(5)
    """
    script = "\n".join(line[8:] for line in script.splitlines())
    hanger = json.dumps([str(HERE / "hanger.py"), str(mount), operation])
    words = [
        "unshare",
        "-m",
        "-p",
        "-f",
        "--mount-proc",
        sys.executable,
        "-c",
        script,
        hanger,
        json.dumps(command(options)),
    ]
    watch = Stopwatch()
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout) - watch.stood()


def test_the_deadline_shortens_what_is_left(tmp_path: Path) -> None:
    slow = tuple(Extra(f"slow{n}", run="sleep 20", seconds=20) for n in range(4))
    out = tmp_path / "b.tar.gz"
    watch = Stopwatch()
    code, _ = run(CollectOptions(str(out), deadline=2.5, extras=slow))
    assert code == 0
    assert watch.seconds() <= 3.0
    states = {
        probe["name"]: probe["state"] for probe in read(out).manifest["probes"] if probe["name"].startswith("extra.")
    }
    assert set(states) == {f"extra.slow{n}" for n in range(4)}
    assert set(states.values()) <= {"timeout", "over-budget"}
    assert read(out).manifest["complete"] is False
