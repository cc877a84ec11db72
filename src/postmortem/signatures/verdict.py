"""Points for and against -> verdict (the table of docs/signatures.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from postmortem.model import Verdict
from postmortem.signatures.claims import Claim

RANK = {"decisive": 0, "refutes": 0, "strong": 1, "weak": 2}


@dataclass(frozen=True, slots=True)
class Points:
    """What counts for and against; `sources`: from how many sources the strong points come."""

    decisive: int = 0
    strong: int = 0
    weak: int = 0
    sources: int = 0
    refuting: int = 0
    against: int = 0


def points_of(support: Iterable[Claim], against: Iterable[Claim]) -> Points:
    """Counts the points: one record counts once, at its best grade, and so do its echoes and repeats."""
    good, bad = _distinct(support), _distinct(against)
    strong = [c for c in good if c.item.grade == "strong"]
    return Points(
        decisive=sum(c.item.grade == "decisive" for c in good),
        strong=len(strong),
        weak=sum(c.item.grade == "weak" for c in good),
        sources=len({c.moment.source for c in strong}),
        refuting=sum(c.item.grade == "refutes" for c in bad),
        against=sum(c.item.grade == "strong" for c in bad),
    )


def _distinct(claims: Iterable[Claim]) -> list[Claim]:
    used: set[object] = set()
    kept = []
    for claim in sorted(claims, key=lambda c: RANK[c.item.grade]):
        lines = {(e.source, e.line) for e in claim.evidence if e.line}
        point = (claim.item.key, claim.moment.source)
        if claim.record not in used and point not in used and not lines & used:
            kept.append(claim)
        used |= {point, claim.record, *lines} if claim.record else {point, *lines}
    return kept


def verdict_of(points: Points) -> Verdict:
    """The verdict of the table; a class that is merely suspected has no strong point."""
    if points.refuting:
        return Verdict.CONTESTED if points.decisive else Verdict.REFUTED
    if points.decisive:
        return Verdict.CONTESTED if points.against else Verdict.CONFIRMED
    if points.sources >= 2 and points.against < points.strong:
        return Verdict.SUPPORTED
    return Verdict.POSSIBLE if points.strong and points.against <= points.strong else Verdict.SUSPECTED


def in_words(points: Points) -> str:
    """The points as a reader counts them: `1 decisive and 2 strong points from 2 sources, nothing against`."""
    named = [f"{n} {word}" for n, word in ((points.decisive, "decisive"), (points.strong, "strong")) if n]
    support = " and ".join(named) or (f"{points.weak} weak" if points.weak else "a suspicion")
    several = points.decisive + points.strong + (0 if named else points.weak)
    support += "" if support == "a suspicion" else " point" if several == 1 else " points"
    support += f" from {points.sources} sources" if points.sources > 1 else ""
    words = [f"{n} {word}" for n, word in ((points.refuting, "refuting"), (points.against, "strong")) if n]
    return f"{support}, {' and '.join(words) + ' against' if words else 'nothing against'}"
