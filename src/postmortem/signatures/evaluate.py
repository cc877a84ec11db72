"""Items -> true, false or unknown, with the records that make them so."""

from __future__ import annotations

from dataclasses import replace

from postmortem.model import Evidence
from postmortem.signatures.claims import Anchor, Claim, Result, anchor_of, candidates
from postmortem.signatures.entity import entity_of, join
from postmortem.signatures.language import (
    Absent,
    AllOf,
    AnyOf,
    ClassItem,
    EventItem,
    FactItem,
    Item,
    LineItem,
    NotItem,
    Scalar,
)
from postmortem.signatures.truth import Value, before, both, either, negate, passes, within
from postmortem.signatures.world import World, absence


def evaluate(item: Item, world: World, anchor: Anchor | None, careful: bool = False) -> Result:
    """Asks an item, about the anchor if there is one; `careful`: facts of several unknown owners must all agree."""
    match item:
        case AllOf():
            return _all(item, world, anchor, careful) if anchor else _chained(item, world)
        case AnyOf():
            results = [evaluate(i, world, anchor, careful) for i in item.items]
            return _merged(item, either(r.value for r in results), results)
        case NotItem():
            return _not(item, world, anchor)
        case Absent():
            return _absent(item, world, anchor)
        case FactItem():
            return _fact(item, world, anchor, careful)
        case _:
            return _leaf(item, world, anchor)


def _merged(item: Item, value: Value, results: list[Result]) -> Result:
    claims = tuple(replace(c, item=item) for r in results if r.value for c in r.claims) if value else ()
    unknown = tuple(u for r in results for u in r.unknown) if value is None else ()
    return Result(value, claims, unknown)


def _all(item: AllOf, world: World, anchor: Anchor, careful: bool) -> Result:
    results = [evaluate(i, world, anchor, careful) for i in item.items]
    value = both(r.value for r in results)
    merged = _merged(item, value, results)
    return replace(merged, claims=(_together(item, merged.claims),)) if merged.claims else merged


def _together(item: Item, claims: tuple[Claim, ...]) -> Claim:
    """Several records that make one point; what an earlier one says of the entity holds."""
    entity: dict[str, str] = {}
    facts: dict[str, Scalar] = {}
    for claim in reversed(claims):
        entity |= claim.entity
        facts |= claim.facts
    evidence = tuple(dict.fromkeys(e for c in claims for e in c.evidence))
    return Claim(item, evidence, entity, facts, claims[0].record, claims[0].kernel, claims[0].count)


def _chained(item: AllOf, world: World) -> Result:
    """`all` in `when`: each record of the first member that can raise is joined with records of the others."""
    order = sorted(item.items, key=lambda i: isinstance(i, NotItem | Absent))
    first = evaluate(order[0], world, None)
    if not first.value:
        rest = [evaluate(i, world, None) for i in order[1:]]
        value = both(r.value for r in (first, *rest))
        return Result(value, (), (*first.unknown, *(u for r in rest for u in r.unknown)) if value is None else ())
    claims, unknown, values = [], [], []
    for claim in first.claims:
        results = [evaluate(i, world, anchor_of(claim)) for i in order[1:]]
        values.append(both(r.value for r in results))
        unknown += [u for r in results for u in r.unknown] if values[-1] is None else []
        if values[-1]:
            claims.append(_together(item, (claim, *(r.claims[0] for r in results if r.claims))))
    value = either(values)
    return Result(value, tuple(claims), tuple(dict.fromkeys(unknown)) if value is None else ())


def _not(item: NotItem, world: World, anchor: Anchor | None) -> Result:
    inner = evaluate(item.item, world, anchor)
    value = negate(inner.value)
    claims = (Claim(item, anchor.moments[:1], anchor.entity),) if value and anchor and anchor.moments else ()
    return Result(value, claims, inner.unknown)


def _absent(item: Absent, world: World, anchor: Anchor | None) -> Result:
    inner = evaluate(item.item, world, anchor)
    if inner.value:
        return Result(False)
    moment = anchor.moments[0] if anchor and anchor.moments else None
    shown = None if _maybe_there(item.item, inner) else absence(item.item, world, moment)
    if shown is None:
        return Result(None, (), (item,))
    return Result(True, (Claim(item, (shown,), record=f"absent {item.key}"),))


def _maybe_there(item: LineItem | EventItem, inner: Result) -> bool:
    """Whether a record is there of which only the join is unknown."""
    return bool(inner.unknown) and bool(inner.claims)


def _leaf(item: LineItem | EventItem | ClassItem, world: World, anchor: Anchor | None) -> Result:
    sure: list[Claim] = []
    unsure: list[Claim] = []
    for claim, value in candidates(item, world):
        value = both((value, _about(item, claim, anchor)))
        if value is not False:
            (sure if value else unsure).append(claim)
    if sure:
        return Result(True, tuple(sure))
    if unsure or not _would_be_seen(item, world):
        return Result(None, tuple(unsure), (item,))
    return Result(False)


def _would_be_seen(item: LineItem | EventItem | ClassItem, world: World) -> bool:
    if isinstance(item, ClassItem):
        return item.class_id not in world.open
    return bool(world.covering(item)) and item.key not in world.hits.gave_up


def _about(item: Item, claim: Claim, anchor: Anchor | None) -> Value:
    """Whether a record is about the anchor and stands in the wanted place in time."""
    if anchor is None:
        return True
    joined = join(anchor.entity, claim.entity, item.same, anchor.kernel == claim.kernel)
    return both((joined, _timed(item, claim.moment, anchor.moments)))


def _timed(item: Item, moment: Evidence, anchors: tuple[Evidence, ...]) -> Value:
    if not item.order and item.within_s is None:
        return True
    if item.order == "before":
        anchors = anchors[:1]
    return either(both((_ordered(item, moment, a), _near(item, moment, a))) for a in anchors)


def _ordered(item: Item, moment: Evidence, anchor: Evidence) -> Value:
    if not item.order:
        return True
    return before(moment, anchor) if item.order == "before" else before(anchor, moment)


def _near(item: Item, moment: Evidence, anchor: Evidence) -> Value:
    return True if item.within_s is None else within(moment, anchor, item.within_s)


def _fact(item: FactItem, world: World, anchor: Anchor | None, careful: bool) -> Result:
    rows = []
    for fact in world.facts.get(item.name, ()):
        facts: dict[str, Scalar] = {item.name: fact.value, "value": fact.value}
        claim = Claim(item, (fact.evidence,), entity_of(fact.entity), facts, f"{fact.evidence.source} {item.name}")
        about = _about(item, claim, anchor)
        if about is not False:
            rows.append((claim, both((passes(item.test, fact.value), about)), about))
    passing = tuple(claim for claim, value, _ in rows if value)
    failing = any(value is False and about for _, value, about in rows)
    doubtful = any(value is None for _, value, _ in rows)
    if passing and not (careful and not item.same and (failing or doubtful)):
        return Result(True, passing)
    if rows and not passing and not doubtful:
        return Result(False)
    return Result(None, (), (item,))
