"""Outcome first: how did the latest run end, as far as anything collected says?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from postmortem.diagnose.entity import comes_before
from postmortem.model import Finding, Kind, Role, Verdict
from postmortem.scene import Scene

FAULT_ROLES = (Role.ROOT, Role.MECHANISM, Role.SYMPTOM)
HELD = (Verdict.CONFIRMED, Verdict.SUPPORTED, Verdict.POSSIBLE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the run ended, which finding says so, and which success came last."""

    status: str  # failed, healthy, undecided
    finding: Finding | None = None
    success: Finding | None = None


def latest(findings: Sequence[Finding]) -> Finding | None:
    """The one that comes after the others, by time or by line; where order is unknown, the one read last."""
    last: Finding | None = None
    for one in findings:
        if last is None or comes_before(one, last) is not True:
            last = one
    return last


def outcome(findings: Sequence[Finding], scene: Scene) -> Outcome:
    """The outcome of the latest run: failed, healthy or undecided."""
    ends = [f for f in findings if f.role is Role.OUTCOME]
    failure = latest([f for f in ends if f.outcome == "failed"])
    success = latest([f for f in ends if f.outcome == "healthy"])
    faults = [f for f in findings if f.role in FAULT_ROLES and f.verdict in HELD]
    if failure and not (success and comes_before(failure, success) is True):
        return Outcome("failed", failure, success)
    standing = [f for f in faults if outlives(f, success, scene)]
    if standing:
        return Outcome("failed", latest([f for f in standing if f.role is Role.SYMPTOM]) or latest(standing), success)
    return Outcome("healthy", success, success) if success else Outcome("undecided")


def outlives(fault: Finding, success: Finding | None, scene: Scene) -> bool:
    """Whether a fault still stands although a success was read: it came later, or a witness of another kind proves it."""
    if success is None:
        return True
    before = comes_before(fault, success)
    if before is False and fault.verdict is not Verdict.POSSIBLE:
        return True
    other_witness = fault.evidence[0].source != success.evidence[0].source
    return other_witness and fault.verdict is Verdict.CONFIRMED and kernel_or_manager(fault, scene) and before is not True


def kernel_or_manager(fault: Finding, scene: Scene) -> bool:
    """Whether the fault is told by the kernel or by what manages the process, not by the program itself."""
    for item in fault.evidence:
        reading = scene.reading(item.source)
        if reading and reading.source.kind in (Kind.KERNEL, Kind.JOURNAL, Kind.CONTAINER, Kind.CGROUP):
            return True
    return False
