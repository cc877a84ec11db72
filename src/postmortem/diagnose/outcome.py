"""Outcome first: how did the latest run end, as far as anything collected says?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from postmortem.diagnose.entity import comes_before
from postmortem.diagnose.passed import ends_its_log, passed, quiet_end
from postmortem.diagnose.proof import doubt
from postmortem.diagnose.provoked import kind_of, provoked, tolerated
from postmortem.diagnose.session import answers_a_person
from postmortem.diagnose.tries import an_earlier_try
from postmortem.model import Finding, Kind, Role, Verdict
from postmortem.scene import Scene

FAULT_ROLES = (Role.ROOT, Role.MECHANISM, Role.SYMPTOM)
HELD = (Verdict.CONFIRMED, Verdict.SUPPORTED, Verdict.POSSIBLE)
OWN_WORDS, UNITS = "outcome.run-failed", ("outcome.unit-failed", "outcome.exit-failed")
WITNESSES = (Kind.KERNEL, Kind.JOURNAL, Kind.CONTAINER, Kind.CGROUP)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the run ended, which finding says so, and which success came last."""

    status: str  # failed, healthy, undecided
    finding: Finding | None = None
    success: Finding | None = None
    because: str = ""  # undecided only: why a success that was read proves nothing


def latest(findings: Sequence[Finding]) -> Finding | None:
    """The one that comes after the others, by time or by line.

    Where order is unknown, the one read last; but no unit of the machine takes the place of the run's own words.
    """
    last: Finding | None = None
    for one in findings:
        before = None if last is None else comes_before(one, last, ends=True)
        of_the_machine = before is None and last is not None and last.class_id == OWN_WORDS and one.class_id in UNITS
        if last is None or not (before or of_the_machine):
            last = one
    return last


def outcome(findings: Sequence[Finding], scene: Scene) -> Outcome:
    """The outcome of the latest run: failed, healthy or undecided.

    A weak success (a service came up, some unit ended) can call a quiet machine healthy, but never undoes a fault.
    """
    failure = latest([f for f in findings if f.outcome == "failed" and f.verdict in HELD])
    good = [f for f in findings if f.outcome == "healthy"]
    success = latest([f for f in good if f.verdict in HELD and not answers_a_person(f, scene)])
    mild = success or latest([f for f in good if f.verdict in (*HELD, Verdict.SUSPECTED)])
    faults = [f for f in findings if f.role in FAULT_ROLES and f.verdict in HELD]
    if failure and not (success and followed_by(failure, success, scene)):
        return Outcome("failed", failure, success)
    faults = [f for f in faults if not provoked(f, success, scene)]
    standing = [f for f in faults if not passed(f, scene) and outlives(f, success, scene)]
    if standing:
        return Outcome("failed", latest([f for f in standing if f.role is Role.SYMPTOM]) or latest(standing), success)
    if mild and (success or quiet_end(scene)):
        why = doubt(mild, findings, scene)
        return Outcome("undecided", because=why) if why else Outcome("healthy", mild, success)
    return Outcome("undecided")


def followed_by(failure: Finding, success: Finding, scene: Scene) -> bool:
    """Whether a failure was made good: a success came after it, or the CI recorded one of the whole job."""
    return comes_before(failure, success, ends=True) is True or tolerated(failure, success, scene)


def outlives(fault: Finding, success: Finding | None, scene: Scene) -> bool:
    """Whether a fault still stands although a success was read.

    It does when it came later, when its log ends with it (an exit status of 0 can lie), or when the kernel or the
    manager proves it and nothing says that it was long before.
    """
    if success is None:
        return True
    before = comes_before(fault, success, ends=True)
    if before and an_earlier_try(fault.evidence[-1].source, success.evidence[-1].source, scene):
        return False
    elsewhere = fault.evidence[0].source != success.evidence[-1].source
    if before is not None:
        ended_alone = elsewhere and ends_its_log(fault, scene)
        return ended_alone or (not before and (fault.role is Role.SYMPTOM or fault.verdict is not Verdict.POSSIBLE))
    told_by_others = fault.role is Role.ROOT and any(kind_of(e.source, scene) in WITNESSES for e in fault.evidence)
    return elsewhere and (ends_its_log(fault, scene) or (fault.verdict is Verdict.CONFIRMED and told_by_others))
