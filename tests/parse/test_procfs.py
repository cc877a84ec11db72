"""/proc copies: wait status, permission, sweeps."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from postmortem.model import Kind
from postmortem.parse.ending import of_wait_status
from postmortem.parse.procfs import PARSER
from reading import events, facts

MIDDLE = "1 4119 4119 0 -1 4227084 16480 0 12 0 301 118 0 0 20 0 {threads} 0 943301 0 0 18446744073709551615 "
REST = "0 0 0 0 0 0 0 6 16384 1 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 "


def stat(word: int, comm: str = "prover", state: str = "Z", threads: int = 1, pid: int = 4127) -> str:
    return f"{pid} ({comm}) {state} " + MIDDLE.format(threads=threads) + REST + str(word) + "\n"


WORDS = {
    "killed": (9, {"signal": "9", "signal_name": "SIGKILL"}),
    "aborted-with-core": (134, {"signal": "6", "signal_name": "SIGABRT", "core": "yes"}),
    "segv": (11, {"signal": "11", "signal_name": "SIGSEGV"}),
    "exit-3": (768, {"code": "3"}),
    "rust-panic": (25856, {"code": "101"}),
}


@pytest.mark.parametrize(("word", "wanted"), WORDS.values(), ids=WORDS)
def test_wait_status(word: int, wanted: dict[str, str]) -> None:
    assert of_wait_status(word) == wanted
    (zombie,) = events(PARSER, stat(word), Kind.PROC, "proc-4127-stat.txt")
    assert wanted.items() <= zombie.items()
    assert zombie["permitted"] == "yes"
    assert facts(PARSER, stat(word), Kind.PROC, "stat")["proc.wait_status[4127,prover]"] == word


def test_a_zero_without_permission_is_unknown() -> None:
    (zombie,) = events(PARSER, stat(0), Kind.PROC, "proc-4127-stat.txt")
    assert (zombie["wait_status"], zombie["permitted"]) == ("0", "unknown")
    assert "code" not in zombie
    assert "proc.wait_status[4127,prover]" not in facts(PARSER, stat(0), Kind.PROC, "stat")


@pytest.mark.parametrize(("may", "code"), [("yes", "0"), ("no", None)])
def test_the_collector_says_whether_it_was_permitted(may: str, code: str | None) -> None:
    text = stat(0).rstrip("\n") + f" permitted={may} parent=onstart.sh\n"
    (zombie,) = events(PARSER, text, Kind.PROC, "proc/zombies")
    assert zombie["permitted"] == may
    assert zombie["parent"] == "onstart.sh"
    assert zombie.get("code") == code


NONE = {
    "running": stat(0, state="S"),
    "a-comm-that-imitates-a-state": stat(0, comm="x) Z 1", state="R"),
    "too-few-fields": "4127 (prover) Z 1 4119\n",
    "prose": "process 4127 (prover) Z is gone\n",
}


@pytest.mark.parametrize("text", NONE.values(), ids=NONE)
def test_no_zombie(text: str) -> None:
    assert [e for e in events(PARSER, text, Kind.PROC, "stat") if e["kind"] == "zombie"] == []


def test_a_sweep_joins_the_files_of_a_process() -> None:
    text = (
        f"==> /proc/1/stat <==\n{stat(0, 'onstart.sh', 'S', 1, 1)}\n==> /proc/4127/stat <==\n{stat(9)}\n"
        f"==> /proc/88/stat <==\n{stat(0, 'nvidia-smi', 'D', 1, 88)}\n"
        "==> /proc/88/wchan <==\nuvm_spin_loop\n==> /proc/4127/wchan <==\n0\n"
    )
    zombie, stuck = events(PARSER, text, Kind.PROC, "proc/sweep/stat")
    assert (zombie["pid"], zombie["parent"], zombie["signal"]) == ("4127", "onstart.sh", "9")
    assert stuck == {"kind": "dstate", "pid": "88", "comm": "nvidia-smi", "wchan": "uvm_spin_loop"}


def test_status_block() -> None:
    text = (
        "Name:\tprover\nUmask:\t0022\nState:\tS (sleeping)\nPid:\t77\nPPid:\t1\nVmHWM:\t  183500 kB\nThreads:\t14\n"
        "NSpid:\t9077\t77\n"
    )
    known = facts(PARSER, text, Kind.PROC, "proc-77-status.txt")
    assert known["proc.vm_hwm[77,prover]"] == 183500
    assert known["proc.threads[77,prover]"] == 14
    assert known["proc.nspid[77,prover]"] == "9077\t77"
    assert events(PARSER, text, Kind.PROC, "proc-77-status.txt") == []


def test_limits() -> None:
    with open("/proc/self/limits") as file:
        known = facts(PARSER, file.read(), Kind.PROC, "proc/4127/limits")
    assert "proc.limit.open_files[4127]" in known
    assert "proc.limit.locked_memory[4127]" in known


def test_a_real_zombie_that_was_killed() -> None:
    child = subprocess.Popen(["sleep", "60"])
    pid = child.pid
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    with open(f"/proc/{pid}/stat") as file:
        text = file.read()
    child.wait()
    (zombie,) = events(PARSER, text, Kind.PROC, f"proc-{pid}-stat.txt")
    assert (zombie["pid"], zombie["ppid"], zombie["signal_name"]) == (str(pid), str(os.getpid()), "SIGKILL")
