"""From the root along the edges to the symptoms, in time order."""

from __future__ import annotations

from collections.abc import Sequence

from postmortem.diagnose.edges import Caused, share_record, too_early
from postmortem.diagnose.rank import NEVER, SAYS_LEAST
from postmortem.model import ChainLink, Edge, Finding, Place, Role

GRADE = {Edge.PROVEN: 0, Edge.COMPATIBLE: 1, Edge.ASSUMED: 2}


def chain(
    root: Finding | None,
    findings: Sequence[Finding],
    caused: Sequence[Caused],
    far: Sequence[tuple[Finding, str]],
    end: Finding | None = None,
) -> tuple[ChainLink, ...]:
    """The root, what followed from it, what made it worse, and what is only the setting."""
    links = [ChainLink(root, Place.ROOT)] if root else []
    links += followed(root, caused) if root else []
    placed = {id(k.finding) for k in links}
    for finding in findings:
        place = Place.CONTEXT if finding.class_id == SAYS_LEAST else PLACES.get(finding.role)
        if place and id(finding) not in placed:
            links.append(ChainLink(finding, place))
    links += [ChainLink(f, Place.CONTEXT, note=why) for f, why in far]
    if end is not None and end.role is Role.OUTCOME:
        links.append(ChainLink(end, Place.CONTEXT, note="how the run ended"))
    return tuple(sorted(links, key=moment))


PLACES = {Role.CONTRIBUTING: Place.CONTRIBUTING, Role.CONTEXT: Place.CONTEXT}


def followed(root: Finding, caused: Sequence[Caused]) -> list[ChainLink]:
    """Everything that follows from the root, each by its best-known link; nothing that clearly came before the root."""
    links: list[ChainLink] = []
    todo, seen = [root], {id(root)}
    while todo:
        cause = todo.pop(0)
        for edge in sorted((c for c in caused if c.cause is cause), key=lambda c: GRADE[c.edge]):
            if id(edge.effect) in seen or before_the_root(edge.effect, root):
                continue
            seen.add(id(edge.effect))
            todo.append(edge.effect)
            links.append(ChainLink(edge.effect, place_of(edge.effect), cause, edge.edge, edge.say))
    return links


def before_the_root(effect: Finding, root: Finding) -> bool:
    """Whether what a link or two lead to came clearly before the root, and not by a line that both quote."""
    return too_early(effect, root) and not share_record(effect, root)


def place_of(finding: Finding) -> Place:
    if finding.class_id == SAYS_LEAST:
        return Place.CONTEXT  # with a cause above it, a bare status is only how the run ended
    if finding.role in PLACES:
        return PLACES[finding.role]
    return Place.SYMPTOM if finding.role is Role.SYMPTOM else Place.CONSEQUENCE


def moment(link: ChainLink) -> tuple[int, str, str, int]:
    """The root first, then by time; what has no time keeps its place in the story by kind."""
    last = {Place.ROOT: 0, Place.CONTEXT: 3, Place.CONTRIBUTING: 2}.get(link.place, 1)
    when = link.finding.when
    return (last, when.utc.isoformat() if when else NEVER, link.finding.class_id, link.finding.evidence[0].line)
