"""Reach: which findings can have to do with this incident, and why the others cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from postmortem.diagnose.entity import Match, compare, seconds_apart
from postmortem.diagnose.outcome import Outcome
from postmortem.model import Finding, Instant, Kind, Role
from postmortem.scene import Reading, Scene

LONG_BEFORE_S = 1800.0  # a death this long before the outcome, told of somebody else, is another story
AFTER_S = 300.0


@dataclass(frozen=True, slots=True)
class Window:
    """The incident's time: from the start of the run to a little after its end."""

    start: Instant | None
    end: Instant | None


def window(outcome: Outcome, scene: Scene) -> Window:
    """The run's window, from the log that told the outcome."""
    if outcome.finding is None or outcome.finding.when is None:
        return Window(None, None)
    reading = scene.reading(outcome.finding.evidence[0].source)
    start = first_stamp(reading) if reading and reading.source.kind is Kind.LOG else None
    return Window(start, outcome.finding.when)


def first_stamp(reading: Reading) -> Instant | None:
    """The first time that a source tells."""
    for number, _ in reading.source.text.kept():
        when = reading.when(number)
        if when is not None:
            return when
    return None


def out_of_reach(finding: Finding, outcome: Outcome, span: Window, around: Sequence[Finding]) -> str:
    """Why a finding cannot belong to the incident, as a sentence; empty when it can."""
    return too_old(finding, outcome, span) or too_late(finding, span) or somebody_else(finding, outcome, around)


def too_old(finding: Finding, outcome: Outcome, span: Window) -> str:
    """A sentence when the finding is older than the run."""
    gap = seconds_apart(finding.when, span.start)
    if gap is None or gap < LONG_BEFORE_S:
        return ""
    return f"it happened {timedelta(seconds=round(gap))} before the run began"


def too_late(finding: Finding, span: Window) -> str:
    """A sentence when the finding came well after the end of the run."""
    gap = seconds_apart(span.end, finding.when)
    if gap is None or gap < AFTER_S or finding.role is Role.SYMPTOM:
        return ""
    return f"it happened {timedelta(seconds=round(gap))} after the run had ended"


def somebody_else(finding: Finding, outcome: Outcome, around: Sequence[Finding]) -> str:
    """A sentence when the finding names another process than the one that failed, at another time."""
    victim = outcome.finding
    if victim is None or not finding.entity.get("comm") or not victim.entity.get("comm"):
        return ""
    if compare(finding.entity, victim.entity, same_namespace=False) is not Match.OTHER:
        return ""
    gap = seconds_apart(finding.when, victim.when)
    if gap is not None and abs(gap) < LONG_BEFORE_S / 10:
        return ""
    return f"it speaks of {finding.entity['comm']}, and what failed is {victim.entity['comm']}"
