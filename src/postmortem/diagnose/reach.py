"""Reach: which findings can have to do with this incident, and why the others cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from postmortem.detect.coverage import host_pids
from postmortem.diagnose.entity import Match, compare, same_key, seconds_apart
from postmortem.diagnose.outcome import HELD, Outcome
from postmortem.diagnose.rank import same_pid
from postmortem.diagnose.spans import Span, log_spans
from postmortem.model import Finding, Instant, Role, Verdict
from postmortem.scene import Scene

LONG_BEFORE_S = 1800.0  # a death this long before the outcome, told of somebody else, is another story
AFTER_S = 300.0
SILENT_S = 3600.0
# states that last until somebody mends them: a run that began later meets them all the same
LASTING = (
    "gpu.fell-off-bus",
    "gpu.driver-hang",
    "gpu.gsp-timeout",
    "gpu.driver-mismatch",
    "storage.read-only",
    "gpu.no-device",
)
KERNEL_KILLS = ("memory.oom-kill-cgroup", "memory.oom-kill-host")


@dataclass(frozen=True, slots=True)
class Window:
    """The incident's time: from the start of the run to a little after its end."""

    start: Instant | None
    end: Instant | None
    logs: frozenset[str] = frozenset()  # that it was read from: what they tell was no earlier, whatever its stamp


def window(outcome: Outcome, scene: Scene, findings: Sequence[Finding] = ()) -> Window:
    """The run's window: from where the logs begin that were written up to its end, as far as times are known.

    Where only a machine's faults are known, and no outcome, the run is what the newest logs tell of: those in which
    any of the findings stands; else those that were written when the newest fault was. Where none was, a quiet log of
    another day does not make that fault an old one.
    """
    spans = log_spans(scene)
    end = outcome.finding
    if end is not None and end.role is Role.OUTCOME:
        if end.when is None:
            return Window(None, None)
        own = [s for s in spans if s.path in {e.source for e in end.evidence}]
        near = [s for s in spans if covers(s, end.evidence[-1].when)]
        return spanned((*own, *near), end.when)
    newest = latest([s.last for s in telling(spans, findings)])
    return spanned([s for s in spans if within(s.last, newest)], newest)


def telling(spans: Sequence[Span], findings: Sequence[Finding]) -> Sequence[Span]:
    """The logs that tell of the run; a quiet log of another day may be of any other service."""
    quoted = {e.source for f in findings if f.verdict is not Verdict.REFUTED for e in f.evidence}
    told = [s for s in spans if s.path in quoted]
    fault = latest([f.evidence[-1].when for f in findings if f.verdict in HELD and f.evidence[-1].when is not None])
    near = told or [s for s in spans if covers(s, fault)]
    return near or (() if fault else spans)


def covers(span: Span, moment: Instant | None) -> bool:
    """Whether a log was begun by a moment, or nearly, and written up to it, or nearly."""
    begun = seconds_apart(span.first, moment)
    return begun is not None and begun >= -AFTER_S and within(span.last, moment)


def spanned(spans: Sequence[Span], end: Instant | None) -> Window:
    """From where the first of some logs begins to the end."""
    return Window(earliest([s.first for s in spans]), end, frozenset(s.path for s in spans))


def within(last: Instant, end: Instant | None) -> bool:
    """Whether a log was written up to the end, or nearly: its program may have been silent for a while."""
    gap = seconds_apart(last, end)
    return gap is not None and gap <= SILENT_S


def earliest(moments: list[Instant]) -> Instant | None:
    return min(moments, key=lambda m: m.utc, default=None)


def latest(moments: list[Instant]) -> Instant | None:
    return max(moments, key=lambda m: m.utc, default=None)


def out_of_reach(finding: Finding, outcome: Outcome, span: Window, scene: Scene) -> str:
    """Why a finding cannot belong to the incident, as a sentence; empty when it can."""
    end = outcome.finding
    if end is None or (same_pid(finding, end) and finding is not end) or (finding is end and end.role is Role.OUTCOME):
        return ""
    if end.role is not Role.OUTCOME:  # a machine's faults are all that is known of its end: only their age counts
        return too_old(finding, span) or before_the_boot(finding, span.end, scene)
    late = too_late(finding, span) if outcome.status == "failed" else ""
    early = too_old(finding, span) or before_the_boot(finding, end.evidence[-1].when, scene)
    by_kind = asked_to_stop(finding, end) or no_signal(finding, end)
    return early or late or by_kind or somebody_else(finding, outcome, scene)


def before_the_boot(finding: Finding, end: Instant | None, scene: Scene) -> str:
    """A sentence when the machine was booted between the finding and the end of the run."""
    last = finding.evidence[-1]
    for boot in scene.named("boot"):
        ran_later = seconds_apart(boot.when, end)
        if boot.source == last.source and boot.line > last.line and ran_later is not None and ran_later > 0:
            return "the machine was booted between it and the end of the run"
    return ""


def no_signal(finding: Finding, end: Finding) -> str:
    """A sentence when a fault that only refuses a request stands beside a death by signal."""
    if finding.class_id != "limits.pids" or end.facts.get("signal") != 9:
        return ""
    return "a refused fork is an error that a program gets, and what failed was ended by signal 9"


def asked_to_stop(finding: Finding, end: Finding) -> str:
    """A sentence when what failed ended by a request to stop, which no OOM killer of the kernel sends."""
    asked = end.facts.get("signal") in (2, 15) and str(end.facts.get("oomkilled", "no")).lower() in ("no", "false")
    if not asked or not finding.class_id.startswith(KERNEL_KILLS):
        return ""
    return f"what failed ended by signal {end.facts['signal']}, and the kernel's OOM killer sends signal 9"


def too_old(finding: Finding, span: Window) -> str:
    """A sentence when the finding is older than the run.

    Several writers of one log have several clocks: a line of the run's own log is not older for its stamp.
    """
    if finding.evidence[-1].source in span.logs:
        return ""
    gap = seconds_apart(finding.evidence[-1].when, span.start)
    if gap is None or gap < LONG_BEFORE_S or finding.class_id in LASTING:
        return ""
    return f"it happened {spoken(gap)} before the run began"


def too_late(finding: Finding, span: Window) -> str:
    """A sentence when the finding came well after the end of the run."""
    gap = seconds_apart(span.end, finding.when)
    if gap is None or gap < AFTER_S or finding.role is Role.SYMPTOM:
        return ""
    return f"it happened {spoken(gap)} after the run had ended"


def somebody_else(finding: Finding, outcome: Outcome, scene: Scene) -> str:
    """A sentence when a death names another process than the one that failed, at another time."""
    victim = outcome.finding
    whose, mine = subject(victim) if victim else "", finding.entity.get("comm", "")
    if victim is None or not whose or not mine or same_key("comm", whose, mine):
        return ""
    if compare(finding.entity, victim.entity, same_namespace=False) is Match.SAME:
        return ""
    gap = seconds_apart(finding.when, victim.evidence[-1].when)
    if died_by_signal(victim) and comparable(finding, victim, scene):
        pids = finding.entity["pid"], victim.entity["pid"]
        return f"it speaks of {mine} (pid {pids[0]}), and the signal ended {whose} (pid {pids[1]})"
    if gap is None or abs(gap) < LONG_BEFORE_S:
        return ""
    return f"it speaks of {mine}, {spoken(abs(gap))} {'before' if gap > 0 else 'after'} the failure of {whose}"


def comparable(a: Finding, b: Finding, scene: Scene) -> bool:
    """Whether both name a pid and the pids are of one namespace."""
    return bool(a.entity.get("pid") and b.entity.get("pid")) and (
        host_pids(scene) or a.evidence[0].source == b.evidence[0].source
    )


def died_by_signal(finding: Finding) -> bool:
    """Whether a finding tells that a process ended by a signal, as a number of its own or as 128 + n."""
    status = finding.facts.get("status") or finding.facts.get("code")
    return bool(finding.facts.get("signal")) or (isinstance(status, int) and 128 < status < 160)


def subject(finding: Finding) -> str:
    """The process that a finding names: its comm, or the stem of its unit."""
    return finding.entity.get("comm") or finding.entity.get("unit", "").rsplit(".", 1)[0]


def spoken(seconds: float) -> str:
    """Hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))
