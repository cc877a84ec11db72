"""A kernel's record that is another story: the log of the run tells by itself, and in its own words, why it ended."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from postmortem.detect.coverage import host_pids
from postmortem.diagnose.edges import Caused
from postmortem.diagnose.entity import normal
from postmortem.diagnose.outcome import HELD
from postmortem.diagnose.own_fault import is_a_bug
from postmortem.diagnose.passed import ends_its_log
from postmortem.diagnose.rank import SAYS_LEAST, consequences
from postmortem.diagnose.serving import serves
from postmortem.lazy import lazy
from postmortem.model import Edge, Finding, Kind, Role
from postmortem.scene import Reading, Scene
from postmortem.signatures import Link

KILLS = ("memory.oom-kill-cgroup", "memory.oom-kill-host")
KILLED = (9, 137)
# faults of one program, which the driver or the kernel tells with its pid
OF_A_PROGRAM = ("gpu.illegal-access", "gpu.device-assert", "gpu.launch-failed", "gpu.xid-other", "process.segfault")
_PID = lazy(r"(?i)\bpid[ =:#]{0,3}(\d{2,9})\b")
_GPU = lazy(r"(?<![0-9A-Fa-f:])(?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]\b")
HINTS = 6  # lines that a library may print below its error

Links = Mapping[str, tuple[Link, ...]]


def another_story(
    finding: Finding, near: Sequence[Finding], caused: Sequence[Caused], scene: Scene, links: Links
) -> str:
    """Why a kernel's record is no part of the failure that a log tells by itself, as a sentence; else empty.

    It is none where it names a process that this log does not know, or was before the machine's last start, and where
    nothing in that log follows from it: neither by a link that is seen, nor by one that the catalogue knows.
    """
    a_programs = finding.class_id in OF_A_PROGRAM
    if finding.role is not Role.ROOT and not a_programs:
        return ""
    if not any(is_kernels(e.source, scene) for e in finding.evidence[:1]):
        return ""
    why = before_the_last_boot(finding, scene)
    for own in near:
        if own is finding or not tells_its_end(own, near, scene) or follows(own, finding, caused, links):
            continue
        log = own.evidence[-1].source
        one_count = is_a_bug(own) or host_pids(scene)
        stranger = names_others(log, finding, scene, one_count) if a_programs else not knows(log, finding, scene)
        if why or (finding.class_id in (*KILLS, *OF_A_PROGRAM) and stranger):
            return f"{why or 'it names a process that ' + log + ' does not know'}, and that log tells its own end: " + (
                own.title[:1].lower() + own.title[1:]
            )
    return ""


def is_kernels(source: str, scene: Scene) -> bool:
    reading = scene.reading(source)
    return reading is not None and reading.source.kind in (Kind.KERNEL, Kind.JOURNAL)


def before_the_last_boot(finding: Finding, scene: Scene) -> str:
    """A sentence when its log shows a later boot; where the end of the run is dated, reach has looked at that."""
    last = finding.evidence[-1]
    booted = any(b.source == last.source and b.line > last.line for b in scene.named("boot"))
    return "the machine was booted after it" if booted else ""


def tells_its_end(own: Finding, near: Sequence[Finding], scene: Scene) -> bool:
    """Whether a program's log ends with this fault, or tells after it that it failed, and tells of no kill."""
    source, line = own.evidence[-1].source, own.evidence[-1].line
    reading = scene.reading(source)
    if own.role not in (Role.ROOT, Role.MECHANISM) or own.verdict not in HELD or own.outcome:
        return False
    if reading is None or reading.source.kind is not Kind.LOG:
        return False
    beside = [f for f in near if any(e.source == source for e in f.evidence)]
    if any(f.class_id in (*KILLS, "process.killed") or f.facts.get("status") in KILLED for f in beside):
        return False
    failed = any(
        f.outcome == "failed" and any(e.source == source and e.line >= line for e in f.evidence) for f in beside
    )
    return failed or ends_its_log(own, scene) or dies_of_it(beside, line, reading)


def dies_of_it(beside: Sequence[Finding], line: int, reading: Reading) -> bool:
    """Whether the log ends with an uncaught error at or below the fault: few words follow it, such as hints."""
    uncaught = [f.evidence[-1].line for f in beside if f.class_id.startswith("runtime.") and f.role is Role.MECHANISM]
    last = max(uncaught, default=0)
    return last >= line and sum(bool(raw.strip()) for n, raw in reading.source.text.kept() if n > last) <= HINTS


def follows(own: Finding, finding: Finding, caused: Sequence[Caused], links: Links) -> bool:
    """Whether a log's fault, or another in that log, follows from the finding, or may as far as the catalogue knows."""
    if is_a_bug(own):
        return False
    seen = [c for c in caused if c.edge is not Edge.ASSUMED]
    reached = consequences(finding, seen)
    source = own.evidence[-1].source
    known = any(k.class_id == own.class_id for k in links.get(finding.class_id, ()))
    mine = consequences(own, caused)
    reached = [f for f in reached if f.class_id != SAYS_LEAST or not any(f is m for m in mine)]
    return (
        known or serves(finding, own) is True or any(e.source == source for effect in reached for e in effect.evidence)
    )


def knows(log: str, finding: Finding, scene: Scene) -> bool:
    """Whether a log names the process that was killed, by name or number."""
    reading = scene.reading(log)
    names = [re.escape(v) for k in ("comm", "pid") if (v := finding.entity.get(k))]
    if reading is None or not names:
        return True
    pattern = re.compile(rf"(?<![\w.-])(?:{'|'.join(names)})(?![\w-])")
    return any(pattern.search(raw) for _, raw in reading.source.text.kept())


def names_others(log: str, finding: Finding, scene: Scene, pids: bool) -> bool:
    """Whether a log tells GPUs (or, where `pids` compare, processes) of its own, and none is that of the fault."""
    reading = scene.reading(log)
    rows = [raw for _, raw in reading.source.text.kept()] if reading is not None else []
    for key, pattern in (("gpu", _GPU), ("pid", _PID))[: 1 + pids]:
        told = {m if key == "pid" else slot(m) for raw in rows for m in pattern.findall(raw)}
        own = finding.entity.get(key, "")
        if told and own and (own if key == "pid" else slot(own)) not in told:
            return True
    return False


def slot(address: str) -> str:
    """Bus and device of a PCI address: `17:00` of `00000000:17:00.0` and of `0000:17:00`."""
    return ":".join(normal("gpu", address).partition(".")[0].split(":")[-2:])
