"""What could not be known: sources that are missing, probes that failed, questions that stayed open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from postmortem.model import READABLE, Finding, Gap, Kind, Probe, Role, State, Verdict
from postmortem.scene import Scene

ASK = {
    Kind.KERNEL: "the kernel log of the host (`dmesg` or `journalctl -k`; a container often may not read it)",
    Kind.CGROUP: "memory.events, memory.peak and memory.max of the container, before it is removed",
    Kind.SMI: "`timeout 60 nvidia-smi -q`",
    Kind.PS: "a process table (`ps axo pid,ppid,stat,wchan,comm`)",
    Kind.PROC: "/proc/PID/stat and status of the dead or stuck processes, read as root",
    Kind.SCRIPT: "the script as it ran, with `stat` and `sha256sum` of it",
    Kind.LOG: "the whole log of the program",
}
OPEN = {
    Kind.KERNEL: ("memory.oom-kill-cgroup", "memory.oom-kill-host", "gpu.fell-off-bus", "process.segfault"),
    Kind.CGROUP: ("memory.oom-kill-cgroup",),
    Kind.SMI: ("gpu.driver-hang", "gpu.ecc-error", "gpu.no-device"),
    Kind.SCRIPT: ("script.syntax-error", "script.modified-while-running"),
}
FINE = (*READABLE, State.EMPTY)


def gaps(scene: Scene) -> tuple[Gap, ...]:
    """One gap for each source or probe that was asked for and did not come."""
    seen: dict[tuple[str, State], Gap] = {}
    for gap in (*source_gaps(scene), *probe_gaps(scene.probes), *damage_gaps(scene)):
        seen.setdefault((gap.source, gap.state), gap)
    return tuple(seen.values())


def source_gaps(scene: Scene) -> Iterable[Gap]:
    for reading in scene.readings:
        source = reading.source
        if source.state not in FINE or (source.state is State.CUT and source.reason):
            kind = source.kind
            yield Gap(source.path, source.state, source.reason, OPEN.get(kind, ()), ASK.get(kind, ""))


def probe_gaps(probes: Sequence[Probe]) -> Iterable[Gap]:
    for probe in probes:
        if probe.state not in FINE and probe.state is not State.MISSING:
            took = f" after {probe.seconds:.1f} s" if probe.seconds else ""
            yield Gap(probe.member or probe.name, probe.state, f"{probe.reason or probe.why}{took}", (), "")


def damage_gaps(scene: Scene) -> Iterable[Gap]:
    for damage in scene.damage:
        yield Gap(damage.path, damage.state, damage.reason)


def would_decide(findings: Sequence[Finding], root: Finding | None, missing: Sequence[Gap]) -> tuple[str, ...]:
    """What would settle the matter, most telling first: open questions of the suspects, then the missing sources.

    A confirmed root leaves nothing to decide.
    """
    if root is not None and root.verdict is Verdict.CONFIRMED:
        return ()
    wanted: dict[str, None] = {}
    for finding in findings:
        may_head = finding.role in (Role.ROOT, Role.MECHANISM) and finding.verdict in OPEN_VERDICTS
        if may_head or finding is root:
            wanted |= dict.fromkeys(f"{finding.class_id}: {ask}" for ask in finding.unknown)
    if root is None or not wanted:
        wanted |= dict.fromkeys(g.ask for g in missing if g.ask)
    return tuple(wanted)[:8]


OPEN_VERDICTS = (Verdict.SUSPECTED, Verdict.CONTESTED, Verdict.POSSIBLE)
