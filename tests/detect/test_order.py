"""File order that is not event order: real writers through a real pipe, and the healthy logs that look alike."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from scene_texts import log, seen

from postmortem.detect import reorder, torn
from postmortem.detect.order import kin
from postmortem.model import Kind


def reasons(text: str) -> list[str]:
    return [e.fields["reason"] for e in seen(reorder.DETECTOR, log(text))[0]]


def tears(text: str) -> list[tuple[int, str]]:
    return [(e.line, e.fields["column"]) for e in seen(torn.DETECTOR, log(text))[0]]


def stamped(seconds: float, message: str) -> str:
    whole = int(seconds)
    return f"2026-04-15 10:{whole // 60:02d}:{whole % 60:02d}.{round(seconds % 1 * 1000):03d} {message}\n"


def skewed(count: int, by: int) -> list[int]:
    """Seconds of two clocks in turn, of which the even one is ahead."""
    return [i + (by if i % 2 == 0 else 0) for i in range(count)]


INFO = [stamped(i, f"INFO replay: segment {i}") for i in range(40)]

LATE = {
    "stderr-above-the-banner": (
        stamped(3, "ERROR vol3: bad magic") + "slabd 4.1 starting\nthreads: 32\n" + "".join(INFO),
        ["stderr before stdout"],
    ),
    "an-error-ahead-of-its-time": (
        "".join(INFO[:20]) + stamped(32, "ERROR quorum lost") + "".join(INFO[20:]),
        ["stderr before stdout"],
    ),
    "a-block-of-another-writer": (
        "".join(stamped(i, f"cam_a: frame {i}") for i in range(30))
        + "".join(stamped(i, f"feeder: frame {i}") for i in range(30))
        + "".join(stamped(i, f"cam_a: frame {i}") for i in range(30, 40)),
        ["late flush of another writer"],
    ),
    "phases": ("phase 1/3: warmup\nphase 3/3: cooldown\nphase 2/3: timed\nend\n", ["phase 2 after phase 3"]),
    "flush-at-exit": (
        "10:00:01 starting\n10:05:00 batch done\n10:05:01 cleanup: stopping daemon\n[dev0] init: 32 GiB\n[dev0]"
        " step 1 0.5 s\n"
        "[dev0] step 2 0.5 s\n[dev0] releasing\n",
        ["late flush at exit"],
    ),
}


@pytest.mark.parametrize(("text", "wanted"), LATE.values(), ids=LATE)
def test_reorder(text: str, wanted: list[str]) -> None:
    assert reasons(text) == wanted


HEALTHY = {
    "in-order": "".join(INFO),
    "jitter-of-threads": "".join(stamped(i + (0.4 if i % 3 else 0), f"INFO w{i % 4}: job {i}") for i in range(60)),
    "one-slow-thread": "".join(INFO[:20]) + stamped(18.2, "INFO replay: slow one") + "".join(INFO[20:]),
    "clock-set-back": "".join(INFO[:30]) + "".join(stamped(25 + i, f"INFO replay: segment {i}") for i in range(30)),
    "summer-time-ends": "".join(INFO).replace(" 10:", " 02:") + "".join(INFO).replace(" 10:", " 01:"),
    "two-zones": "".join(
        stamped(i, f"INFO a: {i}") if i % 2 else stamped(i, f"INFO b: {i}").replace(" 10:", " 08:") for i in range(40)
    ),
    "ranks-one-after-the-other": "".join(stamped(i, f"[rank{r}]: step {i}") for r in range(3) for i in range(40)),
    "tail-of-several-files": "==> a.log <==\n" + "".join(INFO) + "==> b.log <==\n" + "".join(INFO),
    "midnight": "".join(f"23:59:{s:02d} run {s}\n" for s in range(40, 60))
    + "".join(f"00:00:{s:02d} run {s}\n" for s in range(20)),
    "two-hosts": "".join(f"May  6 00:{10 + i // 60:02d}:{i % 60:02d} host{i % 2} app[7]: {i}\n" for i in skewed(60, 9)),
    "parallel-progress": "[1/5] done\n[3/5] done\n[2/5] done\n[5/5] done\n[4/5] done\n",
    "a-second-run-of-the-phases": "phase 1/2\nphase 2/2\nphase 1/2\nphase 2/2\n",
    "a-tagged-end": "10:00:01 starting\n10:05:00 batch done\n[dev0] released\n[dev0] freed\n[dev0] bye\n",
    "tagged-all-along": "10:00:00 go\n[dev0] init\n[dev0] a\n10:00:01 stopped\n[dev0] b\n[dev0] start c\n[dev0] d\n",
}


@pytest.mark.parametrize("text", HEALTHY.values(), ids=HEALTHY)
def test_healthy_logs_are_in_order(text: str) -> None:
    assert reasons(text) == []


def test_a_twin_in_another_log_times_the_late_line() -> None:
    texts = {
        "bench.log": (
            Kind.LOG,
            (
                "2026-06-11 10:00:01 start\n2026-06-11 10:09:00 batch over\n[dev0] cache a\n[dev0] cache written in"
                " 206.4 s\n[dev0] b\n"
            ),
        ),
        "daemon.log": (Kind.LOG, "2026-06-11 10:04:10 cache written elapsed_s=206.4\n2026-06-11 10:05:00 x\n"),
    }
    (event,) = seen(reorder.DETECTOR, texts)[0]
    assert (event.fields["writer"], event.fields["twin"], event.fields["back_s"]) == ("[dev0]", "daemon.log:1", "290")


SHAPES = {
    "glued": ("".join(INFO[:20]) + "2022026-04-15 10:00:22.000 ERROR quorum\n" + "".join(INFO[20:]), [(21, "4")]),
    "cut-stamp": ("".join(INFO[:20]) + "2026-04-15 10:00:2prover: assertion\n" + "".join(INFO[20:]), [(21, "19")]),
    "in-order": ("".join(INFO), []),
    "a-stamp-quoted": (
        "".join(INFO[:20]) + stamped(21, 'INFO next at "2026-04-15 11:00:00.000"') + "".join(INFO[20:]),
        [],
    ),
    "a-stamp-as-value": (
        "".join(INFO[:20]) + stamped(21, "INFO until=2026-04-15 11:00:00.000") + "".join(INFO[20:]),
        [],
    ),
    "other-resolution": ("".join(INFO[:20]) + "2026-04-15 10:00:21 INFO plain seconds\n" + "".join(INFO[20:]), []),
    "no-stamps": ("a\nb\nc\n" * 10, []),
}


@pytest.mark.parametrize(("text", "wanted"), SHAPES.values(), ids=SHAPES)
def test_torn(text: str, wanted: list[tuple[int, str]]) -> None:
    assert tears(text) == wanted


@pytest.mark.parametrize(
    ("a", "b", "wanted"), [("rank0", "rank1", True), ("cam_a", "cam_b", False), ("rank0", "rank0", False)]
)
def test_kin(a: str, b: str, wanted: bool) -> None:
    assert kin(a, b) is wanted


BUFFERED = """\
import sys, time
for i in range(60):
    print(f"{stamp()} prover: step {i} of the buffered writer, padded so that a block fills {'x' * 40}")
    time.sleep(0.05)
"""
STAMP = "import datetime\ndef stamp(): return datetime.datetime.now().isoformat(' ', 'milliseconds')\n"
LOUD = (
    "import time, sys\nfor i in range(32):\n    print(f'{stamp()} watcher: tick {i}', flush=True)\n    time.sleep(0"
    ".1)\n"
)


def merged(tmp_path: Path, first: list[str], second: list[str]) -> str:
    """What two writers really wrote into one pipe."""
    for name, source in (("a.py", BUFFERED), ("b.py", LOUD)):
        (tmp_path / name).write_text(STAMP + source)
    out = tmp_path / "merged.log"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with out.open("wb") as file:
        reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file)
        writers = [
            subprocess.Popen([sys.executable, *flags], cwd=tmp_path, env=env, stdout=reader.stdin)
            for flags in (first, second)
        ]
        assert reader.stdin is not None
        reader.stdin.close()
        assert [writer.wait() for writer in writers] == [0, 0]
        reader.wait()
    return out.read_text()


def test_a_buffered_and_an_unbuffered_writer_on_one_pipe(tmp_path: Path) -> None:
    text = merged(tmp_path, ["a.py"], ["b.py"])
    events, _ = seen(reorder.DETECTOR, log(text))
    assert {e.fields["reason"] for e in events} == {"late flush of another writer"}
    assert {e.fields["writer"] for e in events} == {"prover"}
    assert float(events[0].fields["back_s"]) > 1


def test_two_unbuffered_writers_on_one_pipe(tmp_path: Path) -> None:
    text = merged(tmp_path, ["-u", "a.py"], ["b.py"])
    assert reasons(text) == []
