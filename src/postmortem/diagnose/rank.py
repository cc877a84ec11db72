"""Which finding heads: plain comparisons, in a stated order, no scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from postmortem.diagnose.edges import Caused, share_record
from postmortem.diagnose.entity import Match, compare
from postmortem.diagnose.outcome import HELD
from postmortem.model import Edge, Finding, Role, Verdict

VERDICTS = {Verdict.CONFIRMED: 0, Verdict.SUPPORTED: 1, Verdict.POSSIBLE: 2}
ROLES = {Role.ROOT: 0, Role.MECHANISM: 0, Role.SYMPTOM: 1}
SAYS_LEAST = "process.silent-exit"  # a status that nothing explains: any other symptom tells more
NEVER = "9999"


def raised(finding: Finding, caused: Sequence[Caused]) -> Finding:
    """A cause whose effects are seen where its links say so has more witnesses than its own lines.

    One effect makes a possible cause supported; one confirms a supported cause, as two confirm a possible one.
    """
    seen = {c.effect.class_id: c.effect for c in caused if c.cause is finding and witnesses(c)}
    steps = LADDER.get(finding.verdict, ())
    if not seen or not steps:
        return finding
    effects = " and ".join(within(effect.title) for effect in list(seen.values())[:2])
    because = f"{finding.because}; it explains what followed: {effects}"
    return replace(finding, verdict=steps[min(len(seen), len(steps)) - 1], because=because)


def within(title: str) -> str:
    """A title within a sentence: its first letter small, unless its first word is a name such as GPU."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


LADDER = {
    Verdict.POSSIBLE: (Verdict.SUPPORTED, Verdict.CONFIRMED),
    Verdict.SUPPORTED: (Verdict.CONFIRMED,),
}


def witnesses(one: Caused) -> bool:
    """Whether an effect speaks for its cause: the link is more than assumed, and the effect is held."""
    return one.edge is not Edge.ASSUMED and one.effect.verdict in HELD


def heads(findings: Sequence[Finding], caused: Sequence[Caused], end: Finding | None = None) -> list[Finding]:
    """The findings that may head a chain, best first; `end` is the outcome that they have to explain."""
    explained = {id(c.effect) for c in caused if c.cause.verdict in HELD and explains(c)}
    may = [f for f in findings if f.role in ROLES and f.verdict in HELD and id(f) not in explained]
    return sorted(may, key=lambda f: (bond(f, findings, caused, end), order(f, caused, end)))


def bond(
    finding: Finding, findings: Sequence[Finding], caused: Sequence[Caused], end: Finding | None
) -> tuple[bool, bool]:
    """How a finding stands to the end of the run: (it misses the death that is told, it is not the end's own line)."""
    deaths = [f for f in findings if end is not None and f is not end and same_pid(f, end)]
    return misses(finding, caused, deaths), not tells_the_end(finding, end)


def tells_the_end(finding: Finding, end: Finding | None) -> bool:
    """Whether a confirmed cause and the outcome rest on one line: nothing that stands apart from it comes before."""
    if end is None or end.role is not Role.OUTCOME or finding.role is not Role.ROOT:
        return False
    return finding.verdict is Verdict.CONFIRMED and share_record(finding, end)


def same_pid(a: Finding, b: Finding) -> bool:
    """Whether both name one pid."""
    return bool(a.entity.get("pid")) and a.entity.get("pid") == b.entity.get("pid")


def misses(finding: Finding, caused: Sequence[Caused], deaths: Sequence[Finding]) -> bool:
    """Whether the death of the process that failed is told, and this finding neither is it nor leads to it."""
    reached = (finding, *consequences(finding, caused)) if deaths else ()
    return bool(deaths) and not any(death is one for death in deaths for one in reached)


def explains(one: Caused) -> bool:
    """Whether a link takes the head from its effect: what never heads does not, nor a guess from an uncaught error."""
    if one.cause.role not in ROLES:
        return False
    return one.edge is not Edge.ASSUMED or not one.effect.class_id.startswith("runtime.")


def order(
    finding: Finding, caused: Sequence[Caused], end: Finding | None
) -> tuple[bool, int, int, int, int, str, str, int]:
    """The comparison: nothing to do with the outcome, symptom, verdict, reach, certainty of links, time, id."""
    reached = consequences(finding, caused)
    assumed = sum(1 for c in caused if c.cause is finding and c.edge is Edge.ASSUMED)
    when = finding.when.utc.isoformat() if finding.when else NEVER
    role = ROLES[finding.role] + (finding.class_id == SAYS_LEAST)
    standing = (role, VERDICTS[finding.verdict], -len(reached), assumed)
    return (stranger(finding, reached, end), *standing, when, finding.class_id, finding.evidence[0].line)


def stranger(finding: Finding, reached: Sequence[Finding], end: Finding | None) -> bool:
    """Whether a death, and all that follows from it, names other processes than the one that failed."""
    if end is None or finding.verdict is Verdict.CONFIRMED or not finding.class_id.startswith("process."):
        return False
    return all(compare(f.entity, end.entity, same_namespace=True) is Match.OTHER for f in (finding, *reached))


def consequences(finding: Finding, caused: Sequence[Caused]) -> list[Finding]:
    """Everything that follows from a finding, directly or through others."""
    todo, found = [finding], list[Finding]()
    while todo:
        one = todo.pop()
        for edge in caused:
            if edge.cause is one and not any(edge.effect is f for f in found):
                found.append(edge.effect)
                todo.append(edge.effect)
    return found
