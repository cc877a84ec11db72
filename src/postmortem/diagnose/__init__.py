"""Findings -> diagnosis: outcome first, then what can have caused it, what is only a symptom, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from postmortem.diagnose.another import another_story
from postmortem.diagnose.chain import chain
from postmortem.diagnose.edges import Caused, Proves, edges, share_record, unasked
from postmortem.diagnose.entity import Match, compare
from postmortem.diagnose.gaps import gaps, would_decide
from postmortem.diagnose.outcome import HELD, Outcome, outcome
from postmortem.diagnose.own_fault import is_own_fault
from postmortem.diagnose.passed import mere_notes, passed
from postmortem.diagnose.rank import SAYS_LEAST, bond, consequences, heads, raised, within
from postmortem.diagnose.reach import out_of_reach, window
from postmortem.diagnose.related import with_related
from postmortem.diagnose.serving import serves
from postmortem.model import CONFIDENCE, Diagnosis, Finding, Role, Verdict
from postmortem.scene import Scene
from postmortem.signatures import Link

LOWER = {"high": "medium", "medium": "low", "low": "low"}


@dataclass(frozen=True, slots=True)
class Sorted:
    """Findings told apart: those in reach, those that are not and why, and those that are ruled out."""

    near: tuple[Finding, ...]
    far: tuple[tuple[Finding, str], ...]
    refuted: tuple[Finding, ...]


def diagnose(
    findings: Sequence[Finding], scene: Scene, links: Mapping[str, tuple[Link, ...]], proves: Proves = unasked
) -> Diagnosis:
    """The diagnosis of one machine."""
    end = outcome(findings, scene)
    told = told_apart(findings, end, scene)
    end = outcome(told.near, scene)
    missing = gaps(scene)
    if end.status != "failed":
        return unfailed(end, told, missing=would_decide(told.near, None, missing), scene=scene)
    told = without_strangers(told, edges(told.near, links, proves), scene, links)
    caused = edges(told.near, links, proves)
    near = tuple(raised(f, caused) for f in told.near)
    caused = edges(near, links, proves)
    best = heads(near, caused, end.finding)
    root = best[0] if best else None
    bonds = [bond(f, near, caused, end.finding) for f in best]
    rivals = [f for f, its in zip(best[1:], bonds[1:], strict=True) if its == bonds[0]]
    said, because = confidence(root, rivals, caused)
    if root is not None and is_own_fault(root, near):
        said, because = "high", f"{because}; an error of this kind is the program's own mistake"
    if root is not None and said == "high" and (why := survived(root, near, caused, scene)):
        said, because = LOWER[said], f"{because}; but {why}"
    return Diagnosis(
        status="failed",
        outcome=end.finding,
        root=with_related(root, scene) if root else None,
        confidence=said,
        because=because,
        chain=chain(root, near, caused, told.far, end.finding),
        findings=tuple(f for f in near if f is root or worth_a_line(f)),
        ruled_out=told.refuted,
        gaps=missing,
        would_decide=would_decide((*near, *told.refuted), root, missing),
    )


def worth_a_line(finding: Finding) -> bool:
    """Whether a finding is worth a line: an outcome is told elsewhere, a mere suspicion of a cause is a question.

    A bare exit status is an outcome too, unless it is all that is known.
    """
    suspicion = finding.role is Role.ROOT and finding.verdict is Verdict.SUSPECTED
    return finding.role is not Role.OUTCOME and not suspicion and finding.class_id != SAYS_LEAST


def told_apart(findings: Sequence[Finding], end: Outcome, scene: Scene) -> Sorted:
    """The findings in reach of the incident, and the others with the reason."""
    span = window(end, scene, findings)
    near, far = [], []
    for finding in findings:
        if finding.verdict is Verdict.REFUTED:
            continue
        why = "" if finding.role is Role.OUTCOME else out_of_reach(finding, end, span, scene)
        if why:
            far.append((finding, why))
        else:
            near.append(finding)
    return Sorted(tuple(near), tuple(far), tuple(f for f in findings if f.verdict is Verdict.REFUTED))


def without_strangers(
    told: Sorted, caused: Sequence[Caused], scene: Scene, links: Mapping[str, tuple[Link, ...]]
) -> Sorted:
    """The same, where the kernel's records of somebody else are out of reach too."""
    strangers = [(f, why) for f in told.near if (why := another_story(f, told.near, caused, scene, links))]
    near = tuple(f for f in told.near if not any(f is other for other, _ in strangers))
    return Sorted(near, (*told.far, *strangers), told.refuted)


def unfailed(end: Outcome, told: Sorted, missing: tuple[str, ...], scene: Scene) -> Diagnosis:
    """Nothing failed, or nothing says whether it did: what was seen is context."""
    notes = [(f, "the run ended well after it") for f in told.near if f.role is not Role.OUTCOME]
    setting = [(f, "") for f in told.near if f.role is Role.CONTEXT]
    ends = [(f, "") for f in told.near if f.outcome == end.status and f is not end.finding and "status" in f.facts]
    context = (*(setting if end.status == "undecided" else notes), *ends, *told.far)
    return Diagnosis(
        status=end.status,
        outcome=end.finding,
        chain=chain(None, (), (), context, end.finding),
        findings=(),
        ruled_out=told.refuted,
        gaps=gaps(scene),
        would_decide=missing if end.status == "undecided" else (),
    )


def confidence(root: Finding | None, others: Sequence[Finding], caused: Sequence[Caused]) -> tuple[str, str]:
    """How sure the root is, in a word and a sentence; a rival of equal standing that it does not explain lowers it."""
    if root is None:
        return "", ""
    word = CONFIDENCE[root.verdict]
    because = root.because or root.title
    explained = consequences(root, caused)
    rivals = [f for f in others if rivals_with(f, root) and not any(f is e for e in explained)]
    if rivals:
        return LOWER[word], f"{because}; but {within(rivals[0].title)} was also found and is not explained by it"
    return word, because


def survived(root: Finding, near: Sequence[Finding], caused: Sequence[Caused], scene: Scene) -> str:
    """Why a fault that is proven may still not be what ended the run, as a sentence; empty when nothing says so."""
    if any(f.class_id != SAYS_LEAST and not share_record(f, root) for f in consequences(root, caused)):
        return ""
    if any(serves(root, f) is False for f in near):
        return "what did not answer is another server"
    if mere_notes(root, scene):
        return "the program that tells it took it for no error"
    return "the program that tells it went on working" if passed(root, scene) else ""


def rivals_with(other: Finding, root: Finding) -> bool:
    """Whether another head is as well supported and of another kind."""
    order = list(HELD)
    same_standing = order.index(other.verdict) <= order.index(root.verdict)
    kin = other.class_id == root.class_id or compare(other.entity, root.entity) is Match.SAME
    return same_standing and not kin and other.role is Role.ROOT


__all__ = ["diagnose"]
