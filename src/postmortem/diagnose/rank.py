"""Which finding heads: plain comparisons, in a stated order, no scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from postmortem.diagnose.edges import Caused
from postmortem.diagnose.outcome import HELD
from postmortem.model import Edge, Finding, Role, Verdict

VERDICTS = {Verdict.CONFIRMED: 0, Verdict.SUPPORTED: 1, Verdict.POSSIBLE: 2}
ROLES = {Role.ROOT: 0, Role.MECHANISM: 0, Role.SYMPTOM: 1}
NEVER = "9999"


def raised(finding: Finding, caused: Sequence[Caused]) -> Finding:
    """A possible cause whose effects are seen where its links say so is supported: they are a second witness."""
    seen = [c for c in caused if c.cause is finding and c.edge is not Edge.ASSUMED and c.effect.verdict in HELD]
    if finding.verdict is not Verdict.POSSIBLE or not seen:
        return finding
    first = seen[0].effect
    return replace(finding, verdict=Verdict.SUPPORTED, because=f"{finding.because}; {first.title.lower()} follows from it")


def heads(findings: Sequence[Finding], caused: Sequence[Caused]) -> list[Finding]:
    """The findings that may head a chain, best first."""
    explained = {id(c.effect) for c in caused if c.cause.verdict in HELD}
    may = [f for f in findings if f.role in ROLES and f.verdict in HELD and id(f) not in explained]
    return sorted(may, key=lambda f: order(f, caused))


def order(finding: Finding, caused: Sequence[Caused]) -> tuple[int, int, int, int, str, str, int]:
    """The comparison: may head before symptom, verdict, reach over others, certainty of links, time, id."""
    reached = consequences(finding, caused)
    assumed = sum(1 for c in caused if c.cause is finding and c.edge is Edge.ASSUMED)
    when = finding.when.utc.isoformat() if finding.when else NEVER
    first = finding.evidence[0]
    return (ROLES[finding.role], VERDICTS[finding.verdict], -len(reached), assumed, when, finding.class_id, first.line)


def consequences(finding: Finding, caused: Sequence[Caused]) -> list[Finding]:
    """Everything that follows from a finding, directly or through others."""
    todo, found = [finding], []
    while todo:
        one = todo.pop()
        for edge in caused:
            if edge.cause is one and not any(edge.effect is f for f in found):
                found.append(edge.effect)
                todo.append(edge.effect)
    return found
