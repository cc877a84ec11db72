"""Signatures, a scene and confirmed lines -> findings, with what speaks for and against each and what is unknown."""

from __future__ import annotations

from collections.abc import Iterable

from postmortem.model import Finding, Verdict
from postmortem.scene import Scene
from postmortem.signatures.claims import Anchor, Claim, Result
from postmortem.signatures.confirm import Hits
from postmortem.signatures.evaluate import evaluate
from postmortem.signatures.finding import Case, finding_of
from postmortem.signatures.group import Instance, anchor, instances, moment_order
from postmortem.signatures.language import Catalogue, Item, Link, Signature
from postmortem.signatures.verdict import points_of, verdict_of
from postmortem.signatures.world import World, world_of


def match(catalogue: Catalogue, scene: Scene, hits: Hits) -> tuple[Finding, ...]:
    """All classes that something raises, those that are refuted among them; by class, then time, then entity."""
    world = world_of(scene, hits)
    world.by_id = catalogue.by_id
    for signature in catalogue.signatures:
        found, maybe = _judged(signature, world)
        world.found[signature.id] = found
        if maybe and not found:
            world.open.add(signature.id)
    return tuple(sorted((f for found in world.found.values() for f in found), key=_order))


def proves(link: Link, cause: Finding, effect: Finding, scene: Scene, hits: Hits) -> bool | None:
    """Whether the link's `proof` holds for these two; None for a link without one, and where it is unknown."""
    if link.proof is None:
        return None
    moments = tuple(sorted((cause.evidence[0], effect.evidence[0]), key=moment_order))
    return evaluate(link.proof, world_of(scene, hits), Anchor({**effect.entity, **cause.entity}, moments)).value


def _order(finding: Finding) -> tuple[object, ...]:
    return (finding.class_id, moment_order(finding.evidence[0]), tuple(sorted(finding.entity.items())))


def _judged(signature: Signature, world: World) -> tuple[tuple[Finding, ...], bool]:
    """The findings of one class, and whether an unknown item could have raised it."""
    raising = [evaluate(item, world, None) for item in signature.when]
    suspecting = [evaluate(item, world, None) for item in signature.suspect]
    found = instances(_true(raising), _true(suspecting))
    return tuple(_finding(signature, i, world) for i in found), any(r.value is None for r in raising)


def _true(results: Iterable[Result]) -> list[Claim]:
    return [claim for result in results if result.value for claim in result.claims]


def _finding(signature: Signature, instance: Instance, world: World) -> Finding:
    about = anchor(instance)
    support = [evaluate(item, world, about) for item in signature.support]
    against = [evaluate(item, world, about, careful=True) for item in signature.against]
    last = Anchor(about.entity, about.moments[-1:], about.kernel)
    passed = _true(evaluate(item, world, last) for item in signature.cancelled_by)
    points = points_of([*instance.raised, *_true(support)], _true(against))
    return finding_of(
        Case(
            signature,
            instance,
            tuple(_true(support)),
            tuple(_true(against)),
            tuple(passed),
            points,
            Verdict.REFUTED if passed else verdict_of(points),
            _unknown(zip((*signature.against, *signature.support), (*against, *support), strict=True)),
        ),
        world,
    )


def _unknown(judged: Iterable[tuple[Item, Result]]) -> tuple[Item, ...]:
    """The items that nobody knows, those that would decide most first."""
    open_ones = [(item, result) for item, result in judged if result.value is None]
    open_ones.sort(key=lambda pair: pair[0].grade not in ("refutes", "decisive"))
    return tuple(dict.fromkeys(leaf for _, result in open_ones for leaf in result.unknown))
