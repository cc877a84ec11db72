"""What keeps a success from being called healthy, and what does not."""

from __future__ import annotations

import pytest

from postmortem.analysis import analyze
from postmortem.diagnose.trouble import is_debris, is_trouble
from postmortem.lines import split

DONE = "2026-05-01T12:00:09Z INFO run: all 48 frames done, 0 failed\n"
WORK = "".join(f"2026-05-01T12:00:0{n}Z INFO frame {n} rendered\n" for n in range(5))
EXIT = "exit status 0\n"
JAVA = "\tat org.x.Worker.run(Worker.java:31)\n\tat java.base/java.lang.Thread.run(Thread.java:1583)\n"
GO = "main.run(0x3, 0x4)\n\t/src/indexer/main.go:132 +0x5b1\nmain.main()\n\t/src/indexer/main.go:41 +0x1c5\n"
MAPS = "7f5d5e391000-7f5d5e398000 r-xp 00000000 fd:00 1370817 /usr/lib64/librt-2.25.so\n"


@pytest.mark.parametrize(
    ("files", "status"),
    [
        ({"run.log": WORK + DONE}, "healthy"),
        ({"run.log": WORK + EXIT}, "healthy"),
        ({"run.log": WORK, "status.txt": EXIT}, "healthy"),
        ({"run.log": WORK + DONE + "2026-05-01T12:00:10Z INFO released 24 buffers\n"}, "healthy"),
        ({"run.log": WORK + DONE, "other.log": WORK + "2026-05-01T12:00:08Z WARN lost a heartbeat\n"}, "healthy"),
        ({"run.log": WORK + DONE, "attempt-1.log": WORK}, "healthy"),
        ({"run.log": WORK + DONE + MAPS * 4}, "failed"),
        ({"run.log": WORK + DONE + JAVA}, "failed"),
        ({"shard-0.log": WORK + DONE, "shard-3.log": WORK + GO}, "failed"),
        ({"run.log": WORK + JAVA, "status.txt": EXIT}, "failed"),
        ({"run.log": WORK + "failed:        10\n" + EXIT}, "failed"),
        ({"run.log": WORK + "2026-05-01T12:00:08Z ERROR ledger mismatch\n", "status.txt": EXIT}, "failed"),
        ({"cron.log": "sweep rc=0\nsweep rc=0\nsweep rc=0\nsweep: base=/srv stamp=7\n"}, "undecided"),
        ({"run.log": EXIT + WORK * 3}, "undecided"),
        ({"run.log": WORK + DONE + WORK * 3}, "healthy"),
        ({"run.log": DONE + WORK * 6}, "undecided"),
    ],
    ids=[
        "its last word", "status at the end", "status in a file of its own", "calm lines after it", "a warning elsewhere", "another calm log",
        "memory map after it", "frames after it", "another worker's log ends in frames", "frames beside a status of 0",
        "a count of failures before a status of 0", "an error beside a status of 0", "the last run has no end", "the log goes on",
        "a long farewell", "an early step's success",
    ],
)  # fmt: skip
def test_healthy_is_earned(files: dict[str, str], status: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert analyze(tmp_path)["status"] == status


@pytest.mark.parametrize(
    "text",
    [
        "May 01 12:00:01 n1 systemd[1]: Finished Cleanup of Temporary Directories.\n",
        "May 01 12:00:01 n1 systemd[1]: geoclue.service: Deactivated successfully.\n",
        "May 01 12:00:01 n1 systemd[1]: prober.service: Succeeded.\n",
    ],
    ids=["housekeeping", "some unit", "an old systemd's word"],
)
def test_that_some_unit_ended_well_proves_nothing(text: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "journal.txt").write_text("May 01 12:00:00 n1 systemd[1]: Started Session 4 of User ops.\n" + text)
    assert analyze(tmp_path)["status"] == "undecided"


@pytest.mark.parametrize(
    ("raw", "debris"),
    [
        ("\tat org.x.Worker.run(Worker.java:31)", True),
        ("    at Object.<anonymous> (/srv/app/index.js:3:7)", True),
        ("    at async run (file:///srv/app/main.mjs:10:3)", True),
        ('  File "/srv/train.py", line 31, in step', True),
        ("\t/src/indexer/main.go:132 +0x5b1", True),
        ("goroutine 34 [running]:", True),
        ("#3  0x00007f8e1c in raise () from /lib64/libc.so.6", True),
        ("  12: core::panicking::panic_fmt", True),
        ("   4: 0x55d0c7 - std::rt::lang_start_internal", True),
        ("7f00aa000000-7f00aa021000 rw-p 00000000 00:00 0", True),
        ("/usr/lib/libfoo.so(+0x1c2d)[0x7f3aa1]", True),
        ("\t... 12 more", True),
        ("looking at the file (see README)", False),
        ("12: copy files", False),
        ("  3: eth0: <BROADCAST,MULTICAST,UP> mtu 1500", False),
        ("#3 done in 4 s", False),
        ("  1: lo", False),
    ],
)
def test_what_a_dying_program_leaves(raw: str, debris: bool) -> None:
    assert is_debris(split(raw, 1)) is debris


@pytest.mark.parametrize(
    ("raw", "trouble"),
    [
        ("[ 32%] Building CXX object src/err.dir/deadlock_failure.cpp.o", False),
        ("# HELP http_requests_total_5xx Server errors.", False),
        ("run finished, errors: 0", False),
        ("[3/10] FAILED 1.5s", True),
        ("cannot open /srv/data/part-3.bin", True),
        ("check: count mismatch", True),
    ],
)
def test_names_of_files_say_nothing(raw: str, trouble: bool) -> None:
    assert is_trouble(split(raw, 1)) is trouble


@pytest.mark.parametrize(
    ("level", "after", "confidence"),
    [("ERROR ", 0, "high"), ("", 0, "high"), ("WARN ", 0, "medium"), ("INFO ", 0, "medium"), ("ERROR ", 12, "medium")],
    ids=["an error at the end", "without a level", "a warning", "a note", "the program went on"],
)
def test_a_fault_that_its_program_survived_is_less_sure(level: str, after: int, confidence: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    fault = f"2026-05-01T12:00:05Z {level}fetch: could not resolve host: store.example\n"
    later = "".join(f"2026-05-01T12:00:{n:02}Z INFO frame {n} rendered\n" for n in range(10, 10 + after))
    (tmp_path / "run.log").write_text(WORK + fault + later)
    (tmp_path / "status.txt").write_text("exit status 1\n")
    report = analyze(tmp_path)
    assert report["status"] == "failed"
    assert (report["root_cause"]["class"], report["root_cause"]["confidence"]) == ("network.dns", confidence)
