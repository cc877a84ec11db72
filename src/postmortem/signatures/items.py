"""One item of a list (`when`, `for` …) -> its value, with all mistakes in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict, cast

import regex
import yaml

from postmortem.signatures.conditions import condition_of, verdicts_of, where_of
from postmortem.signatures.language import (
    ENTITY_KEYS,
    GRADES_AGAINST,
    GRADES_FOR,
    HEADS,
    Absent,
    AllOf,
    AnyOf,
    ClassItem,
    EventItem,
    FactItem,
    Item,
    LineItem,
    NotItem,
    Order,
)
from postmortem.signatures.mistakes import Mistakes
from postmortem.signatures.nodes import Fields, choice_of, elements, fields_of, pattern_of, seconds_of, text_of
from postmortem.signatures.vocabulary import EVENTS, FACTS

COMPOSITE = ("absent", "all", "any", "not")
ITEM_HEADS = (*HEADS, "event", "fact", "class", *COMPOSITE)
EXTRAS = ("where", "unless", "program", "is")
COMMON = ("grade", "same", "within", "order", "say", "ask")
GRADED = {"when": GRADES_FOR, "for": GRADES_FOR, "against": GRADES_AGAINST}
_GROUP = regex.compile(r"\(\?P?<([A-Za-z_]\w*)>")


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in an entry an item stands."""

    section: str
    key: str
    anchored: bool  # there is something to compare with: what raised the class, or an earlier member of an `all`
    top: bool = True


class Said(TypedDict):
    """The keys that every item may have."""

    key: str
    place: str
    grade: str
    same: tuple[str, ...] | None
    within_s: float | None
    order: Order
    say: str
    ask: str


def groups_of(pattern: str) -> frozenset[str]:
    """The named groups of a pattern."""
    return frozenset(_GROUP.findall(pattern))


def line_fields(head: str, pattern: str) -> frozenset[str]:
    """The fields of a line: its named groups, and of a line of a script its place."""
    return groups_of(pattern) | ({"script", "line"} if head == "script" else frozenset())


def item_of(node: yaml.Node, spot: Spot, mistakes: Mistakes) -> Item | None:
    """The item that a node states, or None with at least one mistake."""
    fields = fields_of(node, mistakes, (*ITEM_HEADS, *EXTRAS, *COMMON), "an item")
    if fields is None:
        return None
    heads = [key for key in fields if key in ITEM_HEADS]
    if not heads and isinstance(node, yaml.MappingNode) and len(node.value) > len(fields):
        return None  # its head is misspelt, and named already
    if len(heads) != 1:
        what = "an item has no head" if not heads else f"an item has several heads: {', '.join(heads)}"
        mistakes.add(node, what, f"give it exactly one of: {', '.join(ITEM_HEADS)}")
        return None
    _misplaced(heads[0], fields, mistakes)
    said = _said(node, fields, spot, mistakes)
    return _headed(heads[0], fields, said, spot, mistakes)


def _misplaced(head: str, fields: Fields, mistakes: Mistakes) -> None:
    fits = {"event": ("where",), "fact": ("is",), "class": ("is",), "log": ("where", "unless", "program")}
    good = fits.get(head, ("where", "unless") if head in HEADS else ())
    for key in EXTRAS:
        if key in fields and key not in good:
            todo = f"with {head} you may write: {', '.join((*good, *COMMON))}"
            mistakes.add(fields[key][0], f"'{key}' does not go with {head}", todo)


def _said(node: yaml.Node, fields: Fields, spot: Spot, mistakes: Mistakes) -> Said:
    grades = GRADED.get(spot.section, ()) if spot.top else ()
    if "grade" in fields and not grades:
        todo = "remove it; the grade stands at the items of when, for and against themselves"
        mistakes.add(fields["grade"][0], f"no grade is possible inside {spot.section if spot.top else 'an item'}", todo)
    for key in ("same", "within", "order"):
        if key in fields and not spot.anchored:
            todo = "remove it, or put the item into an `all` after the one that it is compared with"
            mistakes.add(fields[key][0], f"'{key}' has nothing to compare with in {spot.section}", todo)
    if "order" in fields and spot.section == "cancelled_by":
        todo = "remove it: only a later item cancels"
        mistakes.add(fields["order"][0], "'order' is not needed in cancelled_by", todo)
    order = choice_of(fields["order"][1], mistakes, "order", ("before", "after")) if "order" in fields else ""
    return Said(
        key=spot.key,
        place=mistakes.place(node),
        grade=choice_of(fields["grade"][1], mistakes, "grade", grades) if "grade" in fields and grades else "strong",
        same=keys_of(fields["same"][1], mistakes) if "same" in fields else None,
        within_s=seconds_of(fields["within"][1], mistakes, "within") if "within" in fields else None,
        order=cast(Order, "after" if spot.section == "cancelled_by" else order),
        say=text_of(fields["say"][1], mistakes, "say") if "say" in fields else "",
        ask=text_of(fields["ask"][1], mistakes, "ask") if "ask" in fields else "",
    )


def keys_of(node: yaml.Node, mistakes: Mistakes) -> tuple[str, ...]:
    """A list of entity keys."""
    names = (choice_of(n, mistakes, "entity key", ENTITY_KEYS) for n in elements(node, mistakes, "same"))
    return tuple(name for name in names if name)


def _headed(head: str, fields: Fields, said: Said, spot: Spot, mistakes: Mistakes) -> Item | None:
    value = fields[head][1]
    if head in HEADS:
        return _line(head, value, fields, said, mistakes)
    if head == "event":
        kind = choice_of(value, mistakes, "event", EVENTS)
        known = EVENTS[kind].fields if kind else None
        where = where_of(fields["where"][1], mistakes, known, f"event {kind}") if "where" in fields else ()
        return EventItem(kind=kind, where=where, **said) if kind else None
    if head == "fact":
        return _fact(value, fields, said, mistakes)
    if head == "class":
        verdicts = verdicts_of(fields["is"][1] if "is" in fields else None, mistakes)
        return ClassItem(class_id=text_of(value, mistakes, "class"), verdicts=verdicts, **said)
    return _composite(head, value, said, spot, mistakes)


def _line(head: str, value: yaml.Node, fields: Fields, said: Said, mistakes: Mistakes) -> LineItem | None:
    pattern = pattern_of(value, mistakes, head)
    unless: tuple[str, ...] = ()
    if "unless" in fields:
        node = fields["unless"][1]
        members = node.value if isinstance(node, yaml.SequenceNode) else [node]
        unless = tuple(pattern_of(n, mistakes, "unless") for n in members)
    program = pattern_of(fields["program"][1], mistakes, "program") if "program" in fields else ""
    known = line_fields(head, pattern) if pattern else None
    where = where_of(fields["where"][1], mistakes, known, "the pattern") if "where" in fields else ()
    if not pattern:
        return None
    return LineItem(head=head, pattern=pattern, unless=unless, program=program, where=where, **said)


def _fact(value: yaml.Node, fields: Fields, said: Said, mistakes: Mistakes) -> FactItem | None:
    name = choice_of(value, mistakes, "fact", FACTS)
    if "is" not in fields:
        mistakes.add(value, "a fact without `is`", 'say what it must be, such as is: "> 0"')
        return None
    test = condition_of(fields["is"][1], mistakes, "is")
    return FactItem(name=name, test=test, **said) if name and test else None


def _composite(head: str, value: yaml.Node, said: Said, spot: Spot, mistakes: Mistakes) -> Item | None:
    if head in ("all", "any"):
        return _several(head, value, said, spot, mistakes)
    inner = item_of(value, Spot(spot.section, f"{spot.key}.{head}", spot.anchored, top=False), mistakes)
    if inner is None:
        return None
    inner = inherit(inner, said)
    if head == "not":
        return NotItem(item=inner, **said)
    if isinstance(inner, LineItem | EventItem):
        return Absent(item=inner, **said)
    mistakes.add(value, "only a line or an event can be absent", "name one; for anything else use `not`")
    return None


def _several(head: str, value: yaml.Node, said: Said, spot: Spot, mistakes: Mistakes) -> Item | None:
    nodes = list(elements(value, mistakes, head))
    if isinstance(value, yaml.SequenceNode) and not nodes:
        mistakes.add(value, f"{head} is empty", "list at least one item")
    found = []
    for i, node in enumerate(nodes):
        anchored = spot.anchored or (head == "all" and i > 0)
        member = item_of(node, Spot(spot.section, f"{spot.key}.{head}[{i}]", anchored, top=False), mistakes)
        found += [] if member is None else [inherit(member, said)]
    if not nodes or len(found) != len(nodes):
        return None
    return AllOf(items=tuple(found), **said) if head == "all" else AnyOf(items=tuple(found), **said)


def inherit(item: Item, outer: Said) -> Item:
    """The item with the joins of the composite that holds it, where it has none of its own."""
    joined = replace(
        item,
        same=outer["same"] if item.same is None else item.same,
        within_s=outer["within_s"] if item.within_s is None else item.within_s,
        order=item.order or outer["order"],
    )
    if isinstance(joined, AllOf | AnyOf):
        return replace(joined, items=tuple(inherit(i, outer) for i in joined.items))
    if isinstance(joined, NotItem):
        return replace(joined, item=inherit(joined.item, outer))
    if isinstance(joined, Absent):
        return replace(joined, item=cast("LineItem | EventItem", inherit(joined.item, outer)))
    return joined
