"""Faults that a test suite provokes, and failures that a CI tolerated: both end in a success all the same."""

from __future__ import annotations

import re

from postmortem.lazy import lazy
from postmortem.model import Finding, Kind, Verdict
from postmortem.scene import Reading, Scene

COMM_MAX = 15  # bytes of a name that the kernel keeps
SHORTEST = 4  # letters of the part of a name that stands for a test
CLEANUP = 4  # lines that a runner writes after the step that ended the job
# LTP, kselftest and TAP, googletest, Go, stress-ng, pytest
_SUITE = lazy(
    r"^(?:<<<test_start>>>|tag=\S+ stime=|TAP version \d|1\.\.\d+$|ok \d+ |\[ RUN +\] |=== RUN |--- PASS: )"
    r"|\bTPASS\b ?: |\bstress-ng: info: .{0,20}\bpassed: |::\S+ PASSED\b"
)


def provoked(fault: Finding, success: Finding | None, scene: Scene) -> bool:
    """Whether a death that the kernel tells is that of a test program of a suite that says that all passed."""
    reading = scene.reading(success.evidence[-1].source) if success else None
    if success is None or reading is None or reading.source.kind is not Kind.LOG:
        return False
    if not any(kind_of(e.source, scene) in (Kind.KERNEL, Kind.JOURNAL) for e in fault.evidence):
        return False
    above = [raw for n, raw in reading.source.text.kept() if n < success.evidence[-1].line]
    name = victim(fault)
    return name is not None and any(_SUITE.search(raw) for raw in above) and any(name.search(raw) for raw in above)


def victim(fault: Finding) -> re.Pattern[str] | None:
    """The name or the number of the process that a fault speaks of; a long name as the kernel cuts it.

    A suite puts its own name before that of the test: `stress-ng-bighe` is its test `bigheap`.
    """
    comm, pid = fault.entity.get("comm", ""), fault.entity.get("pid", "")
    rest = r"\b" if len(comm) < COMM_MAX else ""
    test = comm.rpartition("-")[2]
    told = [comm] * bool(comm) + [test] * (len(test) >= SHORTEST)
    names = [re.escape(name) + rest for name in dict.fromkeys(told)] + [rf"{pid}\b"] * bool(pid)
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(names)})") if names else None


def tolerated(failure: Finding, success: Finding, scene: Scene) -> bool:
    """Whether the CI's own record of the whole job says success, and the log goes on after the failure.

    A step may be allowed to fail, or is repeated; the record has no time that could be compared.
    """
    recorded = success.class_id == "outcome.job-completed" and success.verdict is Verdict.CONFIRMED
    if not recorded or kind_of(success.evidence[-1].source, scene) is not Kind.CONFIG:
        return False
    return all(lines_below(e.line, scene.reading(e.source)) > CLEANUP for e in failure.evidence)


def lines_below(line: int, reading: Reading | None) -> int:
    """How many lines of a program's log say something below a line; 0 for any other source."""
    if reading is None or reading.source.kind is not Kind.LOG:
        return 0
    return sum(bool(raw.strip()) for n, raw in reading.source.text.kept() if n > line)


def kind_of(source: str, scene: Scene) -> Kind | None:
    reading: Reading | None = scene.reading(source)
    return reading.source.kind if reading else None
