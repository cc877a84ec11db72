"""The records that may make an item true, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from postmortem.model import Event, Evidence, Kind
from postmortem.signatures.entity import entity_of
from postmortem.signatures.language import ClassItem, EventItem, Item, LineItem, Scalar, Where
from postmortem.signatures.truth import Value, both, passes
from postmortem.signatures.vocabulary import EVENTS
from postmortem.signatures.world import World


@dataclass(frozen=True, slots=True)
class Claim:
    """A record that makes an item true, and whom it is about."""

    item: Item
    evidence: tuple[Evidence, ...]
    entity: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Scalar] = field(default_factory=dict)
    record: str = ""  # the text by which an echo of it in another source is known
    kernel: bool = False  # its pids are the host's
    count: int = 1

    @property
    def moment(self) -> Evidence:
        return self.evidence[0]


@dataclass(frozen=True, slots=True)
class Anchor:
    """What raised the class: whom it is about, and when (earliest first)."""

    entity: Mapping[str, str]
    moments: tuple[Evidence, ...]
    kernel: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The value of an item, what makes it true, and the leaves that are unknown."""

    value: Value
    claims: tuple[Claim, ...] = ()
    unknown: tuple[Item, ...] = ()


def anchor_of(claim: Claim) -> Anchor:
    """One record as what later ones are compared with."""
    return Anchor(claim.entity, (claim.moment,), claim.kernel)


def candidates(item: LineItem | EventItem | ClassItem, world: World) -> Iterator[tuple[Claim, Value]]:
    """The records that may make the item true, each with whether its own fields do."""
    match item:
        case LineItem():
            for event in world.hits[item.key]:
                yield _claim(item, event, world), _where(item.where, event.fields)
        case EventItem():
            for event in world.events.get(item.kind, ()):
                value = _where(item.where, event.fields)
                if value is not False:
                    yield _claim(item, event, world), value
        case ClassItem():
            for f in world.found.get(item.class_id, ()):
                if f.verdict in item.verdicts:
                    yield Claim(item, f.evidence, f.entity, f.facts, f"class {f.class_id} {f.evidence[0].text}"), True


def _where(where: Where, fields: Mapping[str, str]) -> Value:
    return both(passes(test, fields.get(name)) for name, test in where)


def _claim(item: Item, event: Event, world: World) -> Claim:
    entity = entity_of(event.fields)
    facts = {name: typed(value) for name, value in event.fields.items()}
    count = facts.get("count", 1)
    return Claim(
        item,
        event.evidence,
        entity,
        facts,
        world.hits.messages.get((event.source, event.line), event.text),
        _of_kernel(item),
        count if isinstance(count, int) else 1,
    )


def _of_kernel(item: Item) -> bool:
    if isinstance(item, EventItem):
        return Kind.KERNEL in EVENTS[item.kind].sources
    return isinstance(item, LineItem) and item.head == "kernel"


def typed(value: str) -> str | int:
    """A decimal number as a number; anything that would not read the same again stays a text."""
    return (
        int(value) if value.isdecimal() and value.isascii() and len(value) < 19 and str(int(value)) == value else value
    )
