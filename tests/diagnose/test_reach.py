"""What cannot belong to the incident, what was passed, and the numbers that come with a root cause."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from postmortem.diagnose.outcome import Outcome
from postmortem.diagnose.passed import ends_its_log, passed
from postmortem.diagnose.reach import Window, out_of_reach, window
from postmortem.diagnose.related import with_related
from postmortem.diagnose.tries import an_earlier_try
from postmortem.model import Event, Evidence, Fact, Finding, Instant, Kind, Role, Verdict
from postmortem.scene import Scene

sys.path.insert(0, str(Path(__file__).parent.parent / "detect"))
from scene_texts import scene

START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def at(seconds: float) -> Instant:
    return Instant(START + timedelta(seconds=seconds), 0.5)


def found(
    class_id: str,
    seconds: float,
    line: int = 1,
    source: str = "k",
    facts: dict[str, object] | None = None,
    **entity: str,
) -> Finding:
    role = Role.OUTCOME if class_id.startswith("outcome") else Role.ROOT
    item = Evidence(source, line, "x", at(seconds))
    return Finding(
        class_id, class_id, role, Verdict.CONFIRMED, (item,), when=at(seconds), entity=entity, facts=facts or {}
    )  # type: ignore[arg-type]


OOM = found("memory.oom-kill-cgroup", 0, line=5, comm="java", pid="771")
XID = found("gpu.fell-off-bus", -9000, line=5, gpu="0000:3b:00")
KTHREADD = Fact("proc.comm", "kthreadd", "", Evidence("proc", 1, "2 (kthreadd) S"), {"pid": "2"})
BOOT = Event("boot", "k", 9, "-- Reboot --", at(-600))


@pytest.mark.parametrize(
    ("finding", "end", "scene", "words"),
    [
        (OOM, found("outcome.exit", 5, facts={"signal": 15, "oomkilled": "no"}, container="catalog"), Scene(()), "sends signal 9"),
        (OOM, found("outcome.exit", 5, facts={"signal": 9}, container="catalog"), Scene(()), ""),
        (OOM, found("outcome.exit", 5, facts={"signal": 9}, source="log", comm="calm", pid="9"), Scene((), facts=(KTHREADD,)), "ended calm (pid 9)"),
        (OOM, found("outcome.exit", 5, facts={"signal": 9}, source="log", comm="calm", pid="9"), Scene(()), ""),
        (OOM, found("outcome.exit", 86400, facts={"signal": 9}, source="log", comm="eval", pid="771"), Scene(()), ""),
        (OOM, found("outcome.exit", 86400, source="log", unit="docker.service"), Scene(()), "speaks of java"),
        (XID, found("outcome.exit", 5, source="log"), Scene((), events=(BOOT,)), "was booted between"),
        (XID, found("outcome.exit", -8000, source="log"), Scene((), events=(BOOT,)), ""),
    ],
    ids=["SIGTERM is no OOM kill", "SIGKILL may be", "another pid of one namespace", "pids cannot be compared", "the same pid a day later", "another unit's end", "an earlier boot", "ended before the boot"],
)  # fmt: skip
def test_out_of_reach(finding: Finding, end: Finding, scene: Scene, words: str) -> None:
    said = out_of_reach(finding, Outcome("failed", end), Window(None, end.when), scene)
    assert (words in said) if words else said == ""


@pytest.mark.parametrize(
    ("class_id", "old"), [("gpu.gsp-timeout", False), ("gpu.driver-hang", False), ("gpu.out-of-memory", True)]
)
def test_a_driver_that_hangs_is_met_by_later_runs_too(class_id: str, old: bool) -> None:
    end = found("outcome.exit", 0, source="log")
    fault = found(class_id, -90000, gpu="0000:3b:00")
    span = Window(at(-600), end.when)
    assert bool(out_of_reach(fault, Outcome("failed", end), span, Scene(()))) is old


LOG = "".join(f"2026-05-01T12:00:{n:02d}Z INFO app: step {n} done\n" for n in range(20))
ERROR = "2026-05-01T12:00:{:02d}Z ERROR app: upload failed: 503\n"


@pytest.mark.parametrize(
    ("text", "line", "was_passed", "is_end"),
    [
        (ERROR.format(0) + LOG, 1, True, False),
        (LOG + ERROR.format(30), 21, False, True),
        (
            LOG
            + ERROR.format(30)
            + "goroutine 1 [running]:\nmain.main()\n\t/src/main.go:9\nmain.other()\n\t/src/o.go:2\n",
            21,
            False,
            True,
        ),
        (ERROR.format(40) + LOG, 1, False, False),
        (ERROR.format(0) + LOG + ERROR.format(50), 1, False, False),
        (LOG + ERROR.format(30) + "PID MEM COMMAND\n" + "812 3.1 worker\n" * 12, 21, False, True),
        (LOG + ERROR.format(30) + LOG.replace("12:00", "12:01"), 21, True, False),
        ("step\n" * 9 + "error: bad\n" + "812 3.1 worker\n" * 12, 10, True, False),
        ("Found one Java-level deadlock:\n" + LOG, 1, False, False),
        ("goroutine 7 [sync.Mutex.Lock, 12 minutes]:\n" + LOG, 1, False, False),
        ("deadlock found, transaction retried\n" + LOG, 1, True, False),
    ],
    ids=["went on", "last line", "a trace follows", "older lines flushed late", "ends in another error",
         "a table without stamps follows", "went on with stamps", "a log without stamps", "a deadlock of a virtual machine",
         "a goroutine that waits", "a deadlock that a database ended"],
)
def test_passed(text: str, line: int, was_passed: bool, is_end: bool) -> None:
    one = scene({"run.log": (Kind.LOG, text)})
    reading = one.readings[0]
    fault = replace(OOM, evidence=(reading.evidence(line),))
    assert (passed(fault, one), ends_its_log(fault, one)) == (was_passed, is_end)


@pytest.mark.parametrize(
    ("texts", "told_in", "tens", "far"),
    [
        ({"manager.log": (11, 11)}, "manager.log", 5, True),
        ({"manager.log": (11, 11), "daemon.log": (0, 11)}, "manager.log", 5, False),
        ({"manager.log": (11, 11), "daemon.log": (0, 11)}, "manager.log", -30, True),
        ({"run.log": (0, 11), "other.log": (-300, -290)}, "run.log", -20, True),
        ({"run.log": (0, 11)}, "", -30, True),
        ({"run.log": (0, 11)}, "", -2, False),
    ],
    ids=[
        "the outcome's log is all there is", "the daemon's log began earlier", "before both", "an old log tells nothing of this run",
        "no outcome, and the log began much later", "no outcome, and just before the log",
    ],
)  # fmt: skip
def test_the_run_begins_where_its_logs_begin(
    texts: dict[str, tuple[int, int]], told_in: str, tens: int, far: bool
) -> None:
    one = scene({name: (Kind.LOG, minutes(*span)) for name, span in texts.items()})
    fault = found("memory.oom-kill-host", 600.0 * tens, line=1)
    last = next((r for r in one.readings if r.path == told_in), None)
    item = last.evidence(last.source.text.count) if last else fault.evidence[0]
    end = replace(found("outcome.exit" if last else "storage.io-error", 0), evidence=(item,), when=item.when)
    status = Outcome("failed", end if last else fault)
    assert bool(out_of_reach(fault, status, window(status, one), one)) is far


@pytest.mark.parametrize(
    ("texts", "fault_in", "far"),
    [
        ({"svc.log": (200, 211)}, "k", False),
        ({"run.log": (0, 11), "svc.log": (200, 211)}, "k", False),
        ({"run.log": (0, 11), "svc.log": (200, 211)}, "run.log", False),
        ({"run.log": (0, 11), "svc.log": (-200, -190)}, "run.log", False),
        ({"run.log": (200, 211)}, "run.log", True),
    ],
    ids=["only a quiet log of later", "and a log of the fault's time", "the fault's own log", "a quiet log of before", "a later log in which a fault stands"],
)  # fmt: skip
def test_a_quiet_log_of_another_day_does_not_move_the_window(
    texts: dict[str, tuple[int, int]], fault_in: str, far: bool
) -> None:
    one = scene({name: (Kind.LOG, minutes(*span)) for name, span in texts.items()})
    fault = found("memory.oom-kill-host", 600.0 * 5, source="k")
    told = found("storage.io-error", 600.0 * (5 if not far else 205), source=fault_in)
    span = window(Outcome("failed", fault), one, (fault, told))
    assert bool(out_of_reach(fault, Outcome("failed", fault), span, one)) is far


def test_a_log_that_began_after_the_end_is_not_of_the_run() -> None:
    one = scene({"svc.log": (Kind.LOG, minutes(200, 211))})
    end = found("outcome.exit", 0, source="journal")
    assert window(Outcome("failed", end), one).start is None


def minutes(first: int, last: int) -> str:
    """A log of one line every ten minutes, from and to this many tens of minutes after the start."""
    rows = (START + timedelta(minutes=10 * n) for n in range(first, last + 1))
    return "".join(f"{at_:%Y-%m-%dT%H:%M:%SZ} INFO app: step\n" for at_ in rows)


def carried(text: str) -> str:
    """The text as Kubernetes keeps it: the runtime's stamp before every line."""
    return "".join(
        f"2026-05-01T12:09:{n % 60:02d}.000000001Z stderr F {row}\n" for n, row in enumerate(text.splitlines())
    )


@pytest.mark.parametrize(
    ("text", "line", "was_passed", "is_end"),
    [
        (carried(ERROR.format(0) + LOG), 1, True, False),
        (carried(LOG + ERROR.format(30) + "goroutine 1 [running]:\n" + "main.main()\n" * 12), 21, False, True),
        (carried("step\n" * 9 + "error: bad\n" + "step\n" * 9), 10, True, False),
    ],
    ids=["went on", "a trace follows", "a writer that stamps nothing"],
)
def test_passed_in_a_log_whose_every_line_the_runtime_stamps(
    text: str, line: int, was_passed: bool, is_end: bool
) -> None:
    one = scene({"app.log": (Kind.LOG, text)})
    fault = replace(OOM, evidence=(one.readings[0].evidence(line),))
    assert (passed(fault, one), ends_its_log(fault, one)) == (was_passed, is_end)


@pytest.mark.parametrize(
    ("newest", "was_passed"),
    [(LOG, True), (LOG + ERROR.format(50), False), ("", False)],
    ids=["the newest part goes on", "the newest part ends in an error", "nothing but the part itself"],
)
def test_a_rotated_log_goes_on_in_its_newer_part(newest: str, was_passed: bool) -> None:
    older = {"run.log.1": (Kind.LOG, ERROR.format(0))}
    one = scene(older | ({"run.log": (Kind.LOG, newest)} if newest else {}))
    reading = one.reading("run.log.1")
    assert reading is not None
    fault = replace(OOM, evidence=(reading.evidence(1),))
    assert passed(fault, one) is was_passed
    assert ends_its_log(fault, one) is (not newest)


def tried(begun: int, ended: int, what: str = "load") -> str:
    """A log of some steps between two minutes."""
    stamps = [f"2026-05-01T12:{begun:02}:0{n}Z" for n in range(5)] + [f"2026-05-01T12:{ended:02}:30Z"]
    return "".join(f"{stamp} INFO {what}: {'starting' if n == 0 else f'part {n}'}\n" for n, stamp in enumerate(stamps))


@pytest.mark.parametrize(
    ("first", "second", "earlier"),
    [
        (tried(1, 1), tried(9, 9), True),
        (tried(9, 9), tried(1, 1), False),
        (tried(1, 1, "serve"), tried(9, 9), False),
        (tried(1, 9), tried(5, 5), False),
        ("step\n" * 9, "step\n" * 9, False),
    ],
    ids=["two tries", "the other way round", "two programs", "at the same time", "no times"],
)
def test_tries_are_known_by_what_they_say(first: str, second: str, earlier: bool) -> None:
    one = scene({"x/a.txt": (Kind.LOG, first), "y/b.txt": (Kind.LOG, second)})
    assert an_earlier_try("x/a.txt", "y/b.txt", one) is earlier


def test_related_numbers_are_one_value_each() -> None:
    item = Evidence("df", 1, "/dev/sda1 100% /", None)
    facts = (
        Fact("disk.use", 100, "percent", item, {"mount": "/"}),
        Fact("disk.use", 20, "percent", item, {"mount": "/data"}),
    )
    root = found("storage.disk-full", 0)
    assert with_related(root, Scene((), facts=facts)).facts == {"disk.use": 100}
    limits = tuple(Fact("proc.limit.open_files", n, "", item, {"pid": str(n)}) for n in (1024, 4096))
    assert with_related(found("limits.open-files", 0), Scene((), facts=limits)).facts == {}
    mine = found("limits.open-files", 0, pid="1024")
    assert with_related(mine, Scene((), facts=limits)).facts == {"proc.limit.open_files": 1024}
