"""Process tables of procps, busybox and top."""

from __future__ import annotations

import subprocess

import pytest

from postmortem.model import Kind
from postmortem.parse.ps import PARSER
from reading import events, facts

AUX = "USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
EF = "UID        PID  PPID  C STIME TTY          TIME CMD\n"
LSTART = "    PID    PPID STAT                  STARTED     ELAPSED    RSS COMMAND\n"

ZOMBIES = {
    "aux": (
        AUX + "root      4127  0.0  0.0      0     0 ?        Z    03:40   0:00 [prover] <defunct>\n",
        "4127",
        "prover",
    ),
    "ef-without-a-state-column": (
        EF + "ops      58892  1204  0 09:11 ?        00:00:00 [ssh] <defunct>\n",
        "58892",
        "ssh",
    ),
    "a-date-of-five-words": (
        LSTART + "   4127       1 Z    Thu Jun 11 03:40:15 2026       09:25      0 [prover-daemon] <defunct>\n",
        "4127",
        "prover-daemon",
    ),
    "a-start-of-two-words": (
        "USER       PID  PPID STAT  STARTED     TIME COMMAND\n"
        "app       1100     1 Z     Jun 02   00:00 [headless] <defunct>\n",
        "1100",
        "headless",
    ),
    "forest": (
        "USER       PID  PPID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
        "mysql       15     7  8.7  0.0      0     0 ?        Zl   15:25   0:00  |   \\_ [mysqld] <defunct>\n",
        "15",
        "mysqld",
    ),
    "command-in-the-middle": ("  PID COMMAND         STAT\n   77 make <defunct>  Z+\n", "77", "make"),
    "busybox": ("PID   USER     VSZ STAT COMMAND\n   12 root         0 Z    [sh]\n", "12", "sh"),
    "top": (
        "top - 10:00:01 up 1 day\n\n    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
        "   9001 root      20   0       0      0      0 Z   0.0   0.0   0:00.12 trainer\n",
        "9001",
        "trainer",
    ),
    "behind-a-prompt": (
        "$ ps -o pid,ppid,stat,comm\n  PID  PPID STAT COMMAND\n58892  1204 Z    ssh <defunct>\n",
        "58892",
        "ssh",
    ),
}


@pytest.mark.parametrize(("text", "pid", "comm"), ZOMBIES.values(), ids=ZOMBIES)
def test_zombie(text: str, pid: str, comm: str) -> None:
    (zombie,) = events(PARSER, text, Kind.PS, "ps.txt")
    assert (zombie["kind"], zombie["pid"], zombie["comm"]) == ("zombie", pid, comm)
    assert zombie["permitted"] == "unknown"
    assert "signal" not in zombie


NONE = {
    "sleeping": AUX + "root         1  0.0  0.0   1116     4 ?        Ss   15:25   0:00 /sbin/init\n",
    "a-name-that-says-zombie": AUX
    + "root        44  0.0  0.0   1116     4 ?        S    15:25   0:00 ./zombie-watch Z\n",
    "grep-for-defunct": AUX + "root        45  0.0  0.0   1116     4 ?        S+   15:25   0:00 grep defunct\n",
    "no-header": "root      4127  0.0  0.0      0     0 ?        Z    03:40   0:00 [prover] <defunct>\n",
    "prose": "The PID of the COMMAND was not known\n  12 Z x\n",
}


@pytest.mark.parametrize("text", NONE.values(), ids=NONE)
def test_no_event(text: str) -> None:
    assert events(PARSER, text, Kind.PS, "ps.txt") == []


def test_parent_and_threads() -> None:
    text = (
        "    PID    PPID STAT NLWP COMMAND\n      7       1 S       1 bash /opt/entrypoint.sh\n"
        "     15       7 Zl     14 [mysqld] <defunct>\n     16       7 Dsl     3 nvidia-smi\n"
    )
    zombie, stuck = events(PARSER, text, Kind.PS, "ps.txt")
    assert zombie["parent"] == "bash"
    assert zombie["parent_args"] == "bash /opt/entrypoint.sh"
    assert (zombie["threads"], zombie["multithreaded"]) == ("14", "yes")
    assert (stuck["kind"], stuck["comm"]) == ("dstate", "nvidia-smi")
    known = facts(PARSER, text, Kind.PS, "ps.txt")
    assert known["proc.state[15,mysqld]"] == "Z"
    assert known["proc.ppid[15,mysqld]"] == "7"


def test_wait_channel() -> None:
    text = "  PID STAT WCHAN                 COMMAND\n13820 Dsl  wait_for_completion   mysqld --datadir=/data\n"
    (stuck,) = events(PARSER, text, Kind.PS, "ps.txt")
    assert stuck == {"kind": "dstate", "pid": "13820", "comm": "mysqld", "wchan": "wait_for_completion"}


def test_this_machine_own_ps() -> None:
    """A real child that nobody has waited for, as the real ps shows it."""
    child = subprocess.Popen(["sh", "-c", "exit 3"])
    try:
        _until_zombie(child.pid)
        text = subprocess.run(["ps", "-eo", "pid,ppid,stat,args"], capture_output=True, text=True, check=True).stdout
    finally:
        child.wait()
    found = [e for e in events(PARSER, text, Kind.PS, "ps.txt") if e["pid"] == str(child.pid)]
    assert [(e["kind"], e["comm"]) for e in found] == [("zombie", "sh")]


def _until_zombie(pid: int) -> None:
    for _ in range(500):
        with open(f"/proc/{pid}/stat") as stat:
            if ") Z " in stat.read():
                return
        subprocess.run(["sleep", "0.01"], check=True)
    raise AssertionError("the child did not end")
