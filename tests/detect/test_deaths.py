"""Zombies and who reaps them, cut logs, silent logs, missing logs, and what the kernel log covers."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from scene_texts import Texts, log, scene, seen

from postmortem.detect import coverage, detectors, silence, truncated, zombies
from postmortem.model import Event, Kind, State
from postmortem.scene import Scene
from reading import reading

PS = (
    "  PID  PPID STAT COMMAND\n    1     0 Ss   {init}\n   20     1 S    /opt/tunneld -f\n   30     1 S    -bash\n"
    " 4127  {ppid:>4} Z    [prover] <defunct>\n"
)
STAT = (
    "4127 (prover) Z 1 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 943301 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 "
    "0 0 0 0 0 {}\n"
)


def autopsy(texts: Texts) -> dict[str, str]:
    (event,) = seen(zombies.DETECTOR, texts)[0]
    return dict(event.fields)


REAPERS = {
    "pid-1-is-a-shell": ("/bin/bash /opt/onstart.sh", 1, "not-init", "pid 1 (bash)"),
    "pid-1-is-the-application": ("node ./src/www", 1, "not-init", "pid 1 (node)"),
    "pid-1-is-an-init": ("/sbin/init", 1, "init", "pid 1 (init)"),
    "tini": ("/tini -- /entry.sh", 1, "init", "pid 1 (tini)"),
    "a-daemon": ("/sbin/init", 20, "program", "pid 20 (tunneld)"),
    "a-shell": ("/sbin/init", 30, "shell", "pid 30 (bash)"),
    "a-parent-not-listed": ("/sbin/init", 99, "unknown", "pid 99"),
}


@pytest.mark.parametrize(("init", "ppid", "kind", "reaper"), REAPERS.values(), ids=REAPERS)
def test_who_fails_to_reap(init: str, ppid: int, kind: str, reaper: str) -> None:
    got = autopsy({"ps.txt": (Kind.PS, PS.format(init=init, ppid=ppid))})
    assert (got["reaper_kind"], got["reaper"]) == (kind, reaper)


TABLE = (Kind.PS, PS.format(init="/bin/bash /opt/onstart.sh", ppid=1))
CLEAN = (
    "2026-06-11T03:40:14Z  INFO prover: prover starting pid=4127\n2026-06-11T03:46:44Z  INFO prover: signal rec"
    "eived signal=SIGTERM\n"
    "2026-06-11T03:46:45Z  INFO prover: shutdown complete jobs=5\n"
)
ENDS: dict[str, tuple[Texts, dict[str, str]]] = {
    "wait-status": ({"stat": (Kind.PROC, STAT.format(11))}, {"end": "signal", "signal": "11"}),
    "exit-code": ({"stat": (Kind.PROC, STAT.format(768))}, {"end": "code", "code": "3"}),
    "its-own-farewell": ({"d.log": (Kind.LOG, CLEAN)}, {"end": "clean", "asked": "SIGTERM", "farewell": "yes"}),
    "a-zero-that-may-be-hidden": (
        {"stat": (Kind.PROC, STAT.format(0)), "d.log": (Kind.LOG, CLEAN)},
        {"end": "clean", "permitted": "unknown"},
    ),
    "a-job-line": (
        log("run.sh: line 7:  4127 Killed                  /opt/prover\n"),
        {"end": "signal", "signal": "9"},
    ),
    "who-killed-it": (
        log("2026-01-01 10:00:00 tunneld: close a: kill(SIGKILL) to pid 4127\n"),
        {"end": "signal", "signal": "9", "killer_line": "run.log:1"},
    ),
    "somebody-else's-line": (log("2026-01-01 10:00:00 tunneld: kill(SIGKILL) to pid 4128\n"), {"end": "unknown"}),
    "another-program-with-that-pid": (
        log("run.sh: line 7:  4127 Killed                  /opt/other\n"),
        {"end": "unknown"},
    ),
    "nothing": ({}, {"end": "unknown"}),
}


@pytest.mark.parametrize(("more", "wanted"), ENDS.values(), ids=ENDS)
def test_how_it_ended(more: Texts, wanted: dict[str, str]) -> None:
    got = autopsy({"ps.txt": TABLE, **more})
    assert wanted.items() <= got.items()


def test_many_of_one_parent_are_one() -> None:
    rows = "".join(f" {pid}     1 Z    [curl] <defunct>\n" for pid in range(100, 140))
    got = autopsy({"ps.txt": (Kind.PS, "  PID  PPID STAT COMMAND\n    1     0 Ss   node www\n" + rows)})
    assert (got["count"], got["reaper_kind"]) == ("40", "not-init")


def test_a_real_zombie(tmp_path: Path) -> None:
    """A child that was aborted, as ps and /proc of this machine show it together."""
    child = subprocess.Popen(["sleep", "60"])
    pid = child.pid
    os.kill(pid, signal.SIGABRT)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    ps = subprocess.run(["ps", "-eo", "pid,ppid,stat,args"], capture_output=True, text=True, check=True).stdout
    stat = Path(f"/proc/{pid}/stat").read_text()
    child.wait()
    events, _ = seen(zombies.DETECTOR, {"ps.txt": (Kind.PS, ps), "stat": (Kind.PROC, stat)})
    (mine,) = [e.fields for e in events if e.fields["pid"] == str(pid)]
    assert (mine["signal_name"], mine["end"], mine["ppid"]) == ("SIGABRT", "signal", str(os.getpid()))


LINES = "".join(
    f"2026-11-12 03:0{i // 6}:{i % 6}0,834 INFO eval: task {i:03d} score=0.37 tokens=816{i % 9}\n" for i in range(30)
)

CUT = {
    "behind-the-stamp": (LINES + "2026-11-12 03:07:08,394 ", "a line ends behind its stamp"),
    "inside-the-stamp": (LINES + "2026-11-12 03:0", "a line ends inside its stamp"),
    "json": ('{"a": 1}\n' * 8 + '{"a": 1, "b', "a JSON record is cut"),
    "traceback": (
        LINES + 'Traceback (most recent call last):\n  File "/a.py", line 3, in f\n    g()\n',
        "a traceback is cut",
    ),
    "a-short-line": (LINES + "2026-11-12 03:07:08,394 INFO eval: task 031 sco", "the last line is cut"),
    "a-short-row": ("".join(f"EV,{i},GPU_END,7c{i},{i}\n" for i in range(20)) + "EV,2041,GPU_S", "the last line is cut"),
    "make-in-a-word": (LINES + "gmake[2]: *** [lib/build.make:441: libx.so] Err", "the last line is cut"),
    "rows-that-differ": ("".join(f"EV,{i}{',x' * (i % 3)}\n" for i in range(20)) + "EV,2041", None),
    "a-whole-row": ("".join(f"EV,{i},GPU_END\n" for i in range(20)) + "EV,2041,GPU_START", None),
    "make-without-newline": (LINES + "make: *** [Makefile:4: all] Error 2", None),
    "whole": (LINES, None),
    "whole-without-newline": (LINES.rstrip("\n"), None),
    "status-without-newline": ("exit status 0", None),
    "whole-json": ('{"a": 1}\n' * 8, None),
    "json-among-text": ("hello\n" + '{"a": 1, "b', None),
    "whole-traceback": (
        LINES + 'Traceback (most recent call last):\n  File "/a.py", line 3, in f\nKeyError: 1\n',
        None,
    ),
    "a-different-last-line": (LINES + "2026-11-12 03:07:08,394 INFO eval: done", None),
}


@pytest.mark.parametrize(("text", "reason"), CUT.values(), ids=CUT)
def test_truncated(text: str, reason: str | None) -> None:
    events, _ = seen(truncated.DETECTOR, log(text))
    assert [e.fields["reason"] for e in events] == ([reason] if reason else [])


def test_what_the_collector_cut_is_not_the_programs_end() -> None:
    from dataclasses import replace

    whole = reading(LINES + "2026-11-12 03:07:08,394 ", Kind.LOG, "run.log", ())
    cut = replace(whole, source=replace(whole.source, state=State.CUT))
    assert list(truncated.DETECTOR(Scene((cut,)))) == []
    assert len(list(truncated.DETECTOR(Scene((whole,))))) == 1


def test_a_real_stdio_writer_that_is_killed(tmp_path: Path) -> None:
    """sed's stdio writes whole blocks of 4096 bytes; what is in the last one is lost when it is killed."""
    out = tmp_path / "run.log"
    with out.open("wb") as file:
        writer = subprocess.Popen(["sed", "s/^//"], stdin=subprocess.PIPE, stdout=file, text=True)
        assert writer.stdin is not None
        lines = (f"2026-11-12 03:00:00,000 INFO eval: task {i} {'x' * (i % 40)}\n" for i in range(150))
        writer.stdin.write("".join(lines))
        writer.stdin.flush()
        for _ in range(200):
            time.sleep(0.02)
            if out.stat().st_size:
                break
        writer.kill()
        writer.wait()
        writer.stdin.close()
    text = out.read_text()
    assert len(text) % 4096 == 0
    assert not text.endswith("\n")
    (event,) = seen(truncated.DETECTOR, log(text))[0]
    assert event.fields["block_edge"] == "yes"


def minute(number: int, message: str) -> str:
    return f"2026-05-01 10:{number:02d}:00 {message}\n"


DAEMON = "".join(minute(i, f"INFO daemon: job {i}") for i in range(6))
BENCH = "".join(minute(i, f"INFO bench: waits {i}") for i in range(30))


def silent(daemon: str, other: str = BENCH) -> list[str]:
    events, _ = seen(silence.DETECTOR, {"daemon.log": (Kind.LOG, daemon), "bench.log": (Kind.LOG, other)})
    return [e.fields["file"] for e in events if e.kind == "log.silence"]


QUIET = {
    "it-stops": (DAEMON, ["daemon.log"]),
    "with-a-farewell": (DAEMON + minute(6, "INFO daemon: shutdown complete"), []),
    "told-to-stop": (DAEMON + minute(6, "INFO daemon: received SIGTERM"), []),
    "it-goes-on": ("".join(minute(i, f"INFO daemon: job {i}") for i in range(29)), []),
    "it-speaks-rarely": (minute(0, "INFO daemon: a") + minute(12, "INFO daemon: b"), []),
}


@pytest.mark.parametrize(("daemon", "wanted"), QUIET.values(), ids=QUIET)
def test_silence(daemon: str, wanted: list[str]) -> None:
    assert silent(daemon) == wanted


NAMED = {
    "log-path": ("10:00:00 starting prover (log: /tmp/prover-daemon.log)\n", ["/tmp/prover-daemon.log"]),
    "logs-in": ("output in /var/log/proof/daemon.log\n", ["/var/log/proof/daemon.log"]),
    "not-found": ("cp: cannot stat '/var/log/d.log': No such file or directory\n", ["/var/log/d.log"]),
    "kept": ("10:00:00 starting (log: /tmp/kept.log)\n", []),
    "kept-under-a-flat-name": ("log: /var/log/flat.log\n", []),
    "a-path-that-is-no-log": ("reading /etc/prover.conf\n", []),
    "a-word": ("the log of the day\n", []),
}


@pytest.mark.parametrize(("line", "wanted"), NAMED.values(), ids=NAMED)
def test_missing_log(line: str, wanted: list[str]) -> None:
    texts = {
        "run.log": (Kind.LOG, line),
        "logs/kept.log": (Kind.LOG, "x\n"),
        "logs/var_log_flat.log": (Kind.LOG, "x\n"),
    }
    events, _ = seen(silence.DETECTOR, texts)
    assert [e.fields["file"] for e in events if e.kind == "log.missing"] == wanted


DMESG = "[Fri May  1 10:00:00 2026] eth0: up\n[Fri May  1 10:05:00 2026] eth0: down\n"  # of the reader's own zone
KERNLOG = "2026-05-01T10:00:00+00:00 h kernel: eth0: up\n2026-05-01T10:20:00+00:00 h kernel: eth0: down\n"


def death(minute_of: int) -> Texts:
    return log(f"2026-05-01T10:{minute_of:02d}:00Z entry: prover (pid 77) exited with status 137\n")


def naive(minute_of: int) -> Texts:
    return log(f"2026-05-01 10:{minute_of:02d}:00 entry: prover (pid 77) exited with status 137\n")


def covered(texts: Texts) -> list[bool]:
    return [bool(f.value) for f in seen(coverage.DETECTOR, texts)[1] if f.name == "kernel.covers_death"]


def readable(texts: Texts) -> list[bool]:
    return [bool(f.value) for f in seen(coverage.DETECTOR, texts)[1] if f.name == "kernel.readable"]


COVERS = {
    "a-ring-read-afterwards": ({"dmesg.txt": (Kind.KERNEL, DMESG), **naive(30)}, [True]),
    "a-ring-that-starts-later": ({"dmesg.txt": (Kind.KERNEL, DMESG.replace("10:0", "10:5")), **naive(30)}, [False]),
    "a-log-that-reaches-over": ({"kern.log": (Kind.KERNEL, KERNLOG), **death(10)}, [True]),
    "a-log-that-ends-before": ({"kern.log": (Kind.KERNEL, KERNLOG), **death(50)}, [False]),
    "lines-were-lost": (
        {
            "dmesg.txt": (Kind.KERNEL, DMESG + "[Fri May  1 10:30:10 2026] printk: 12 messages suppressed\n"),
            **naive(30),
        },
        [False],
    ),
    "zones-that-differ": ({"dmesg.txt": (Kind.KERNEL, DMESG), **death(30)}, []),
    "no-kernel-log": (death(30), []),
}


@pytest.mark.parametrize(("texts", "wanted"), COVERS.values(), ids=COVERS)
def test_covers_death(texts: Texts, wanted: list[bool]) -> None:
    assert covered(texts) == wanted


READABLE = {
    "read": ({"dmesg.txt": (Kind.KERNEL, DMESG)}, [True]),
    "refused": ({"dmesg.txt": (Kind.LOG, "dmesg: read kernel buffer failed: Operation not permitted\n")}, [False]),
    "refused-and-a-journal": (
        {
            "dmesg.txt": (Kind.LOG, "dmesg: read kernel buffer failed: Operation not permitted\n"),
            "kern.log": (Kind.KERNEL, KERNLOG),
        },
        [True],
    ),
    "not-collected": (log("hello\n"), []),
}


@pytest.mark.parametrize(("texts", "wanted"), READABLE.values(), ids=READABLE)
def test_kernel_readable(texts: Texts, wanted: list[bool]) -> None:
    assert readable(texts) == wanted


def test_the_folder_is_walked() -> None:
    assert {name for name, _ in detectors()} == {
        "boots", "coverage", "errexit", "loader", "masks", "pcie_link", "port_holder", "reorder", "script_forensics", "silence", "torn", "truncated", "unfinished", "went_on", "zombie_pile", "zombies",
    }  # fmt: skip


def test_detectors_say_nothing_of_an_empty_scene() -> None:
    assert [f for _, detector in detectors() for f in detector(Scene(()))] == []


def test_events_have_evidence() -> None:
    found = [
        f
        for _, d in detectors()
        for f in d(scene({"ps.txt": TABLE, "d.log": (Kind.LOG, CLEAN)}))
        if isinstance(f, Event)
    ]
    assert found
    assert all(e.evidence[0].text for e in found)
