"""A judged case -> `Finding`: evidence, facts and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from postmortem.model import Evidence, Finding, Verdict
from postmortem.signatures.claims import Claim
from postmortem.signatures.group import Instance, moment_order
from postmortem.signatures.language import (
    HEADS,
    Absent,
    ClassItem,
    EventItem,
    FactItem,
    Item,
    LineItem,
    Scalar,
    Signature,
    leaves,
)
from postmortem.signatures.template import fill
from postmortem.signatures.verdict import RANK, Points, in_words
from postmortem.signatures.vocabulary import ask_for_event, ask_for_fact, ask_for_kinds
from postmortem.signatures.world import World

MOST_EVIDENCE = 12  # of one item; the first ones and the last few
MOST_ASKS = 8
MOST_SAYS = 3


@dataclass(frozen=True, slots=True)
class Case:
    """One instance of a class with everything that was found out about it."""

    signature: Signature
    instance: Instance
    support: tuple[Claim, ...]
    against: tuple[Claim, ...]
    passed: tuple[Claim, ...]  # what shows that it was over later
    points: Points
    verdict: Verdict
    unknown: tuple[Item, ...]


def finding_of(case: Case, world: World) -> Finding:
    """The case as a finding; the best and earliest record that raised it comes first."""
    raised = sorted(
        case.instance.raised or case.instance.suspect, key=lambda c: (RANK[c.item.grade], moment_order(c.moment))
    )
    entity = case.instance.entity
    facts = _facts(raised, case.support)
    known: dict[str, Scalar] = {**entity, **facts, "count": _count(raised)}
    first = raised[0].moment.when
    signature = case.signature
    return Finding(
        signature.id,
        signature.title,
        signature.role,
        case.verdict,
        _evidence(raised, case),
        summary=fill(signature.summary, {**known, **raised[0].facts}) or signature.title,
        because=_because(case, raised, known),
        when=first or next((c.moment.when for c in raised if c.moment.when), None),
        entity=dict(entity),
        facts={k: v for k, v in facts.items() if k != "value"}
        | ({"count": known["count"]} if _count(raised) > 1 else {}),
        against=_against(case, known),
        unknown=tuple(dict.fromkeys(_ask(item, world) for item in case.unknown))[:MOST_ASKS],
        advice=signature.advice,
        references=signature.references,
        outcome=signature.outcome,
    )


def _facts(raised: Sequence[Claim], support: Sequence[Claim]) -> dict[str, Scalar]:
    facts: dict[str, Scalar] = {}
    for claim in (*raised, *(c for c in support if isinstance(c.item, FactItem))):
        facts = {**claim.facts, **facts}
    return facts


def _kept(facts: dict[str, Scalar], count: int) -> dict[str, Scalar]:
    """The facts without what only sentences use, and with the count of what happened more than once."""
    kept = {name: value for name, value in facts.items() if name not in ("value", "count")}
    return {**kept, "count": count} if count > 1 else kept


def _count(raised: Sequence[Claim]) -> int:
    """How often it happened: as often as the source says that says it most often."""
    counts: dict[str, int] = {}
    for claim in raised:
        counts[claim.moment.source] = counts.get(claim.moment.source, 0) + claim.count
    return max(counts.values())


def _evidence(raised: Sequence[Claim], case: Case) -> tuple[Evidence, ...]:
    chosen: list[Evidence] = []
    own = [c for c in case.support if not isinstance(c.item, ClassItem)]  # another class keeps its own lines
    for claims in (raised, case.instance.suspect, own):
        lines = list(dict.fromkeys(e for c in claims for e in c.evidence))
        chosen += lines if len(lines) <= MOST_EVIDENCE else [*lines[: MOST_EVIDENCE - 4], *lines[-4:]]
    return tuple(dict.fromkeys(chosen))


def _because(case: Case, raised: Sequence[Claim], known: dict[str, Scalar]) -> str:
    claims = sorted((*raised, *case.support), key=lambda c: RANK[c.item.grade])
    says = dict.fromkeys(fill(c.item.say, {**known, **c.facts}) for c in claims if c.item.say)
    return "; ".join((*list(says)[:MOST_SAYS], in_words(case.points)))


def _against(case: Case, known: dict[str, Scalar]) -> tuple[tuple[str, Evidence], ...]:
    claims: Iterable[Claim] = sorted(case.against, key=lambda c: (RANK[c.item.grade], moment_order(c.moment)))
    found: dict[tuple[str, str], tuple[str, Evidence]] = {}
    for claim, fallback in (
        *((c, "it passed: a later line shows that it worked") for c in case.passed[:1]),
        *((c, "") for c in claims),
    ):
        say = fill(claim.item.say, {**known, **claim.facts}) or fallback or _plain(claim)
        found.setdefault((claim.item.key, claim.moment.source), (say, claim.moment))
    return tuple(found.values())


def _plain(claim: Claim) -> str:
    """What a record says against it, where the item has no sentence of its own."""
    item = claim.item
    match item:
        case FactItem():
            return f"{item.name} is {claim.facts['value']}"
        case ClassItem():
            return f"{item.class_id} was found"
        case Absent():
            return "what it would have left in the log is not there"
        case _:
            return claim.moment.text.strip() or "what it would show is not there"


def _ask(item: Item, world: World) -> str:
    """What a person would have to bring so that the item is known."""
    if item.ask:
        return item.ask
    match item:
        case Absent():
            return _ask(item.item, world)
        case LineItem() | EventItem() if world.covering(item) and item.same:
            return f"{_kinds(item)}, with its {' and '.join(item.same)}"
        case LineItem() | EventItem():
            return _kinds(item)
        case FactItem():
            return ask_for_fact(item.name)
        case ClassItem():
            return _ask_for_class(item, world)
        case _:
            return "a bundle of the machine by `postmortem collect`"


def _kinds(item: LineItem | EventItem) -> str:
    """The source that would show such a line or event."""
    if isinstance(item, EventItem):
        return ask_for_event(item.kind)
    return ask_for_kinds(HEADS[item.head])


def _ask_for_class(item: ClassItem, world: World) -> str:
    """What the first item of another class looks at: an operator does not know it by its name."""
    signature = world.by_id.get(item.class_id)
    looks = [leaf for leaf in leaves(signature.when) if not isinstance(leaf, ClassItem)] if signature else []
    return _ask(looks[0], world) if looks else "a bundle of the machine by `postmortem collect`"
