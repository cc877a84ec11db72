"""One entry of a signature file -> `Signature`, with all mistakes in it."""

from __future__ import annotations

import regex
import yaml

from postmortem.model import Role
from postmortem.signatures.items import Spot, item_of, keys_of
from postmortem.signatures.language import AllOf, AnyOf, Item, Link, NotItem, Signature
from postmortem.signatures.mistakes import Mistakes
from postmortem.signatures.nodes import Fields, choice_of, elements, fields_of, seconds_of, text_of, texts_of
from postmortem.signatures.words import known_fields, samples_of, sentences

SECTIONS = ("when", "suspect", "for", "against", "cancelled_by")
MUST = ("id", "title", "role", "when")
KEYS = (*MUST, *SECTIONS[1:], "explains", "summary", "advice", "references", "outcome", "yes", "no")
_ID = regex.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\.[a-z0-9]+(?:-[a-z0-9]+)*")


def entry_of(node: yaml.Node, mistakes: Mistakes) -> Signature | None:
    """The signature that a node states, or None with at least one mistake."""
    before = len(mistakes.found)
    fields = fields_of(node, mistakes, KEYS, "an entry")
    if fields is None:
        return None
    name = _id_of(fields, mistakes)
    for key in MUST:
        if key not in fields:
            mistakes.add(node, f"'{key}' is missing in {name or 'an entry'}", f"add it: {_HINT[key]}")
    role = choice_of(fields["role"][1], mistakes, "role", [str(r) for r in Role]) if "role" in fields else ""
    sections = {s: _items(fields, s, name, mistakes) for s in SECTIONS}
    outcome = _outcome(node, fields, role, mistakes)
    texts = {k: text_of(fields[k][1], mistakes, k) if k in fields else "" for k in ("title", "summary")}
    lists = {k: texts_of(fields[k][1], mistakes, k) if k in fields else () for k in ("advice", "references")}
    links = _links(fields, name, mistakes)
    flawed = len(mistakes.found) != before
    samples = samples_of(node, fields, sections, mistakes, flawed)
    proofs = tuple(link.proof for link in links if link.proof is not None)
    items = (*(i for s in SECTIONS for i in sections[s]), *proofs)
    sentences(fields, None if flawed else known_fields(items), mistakes)
    if not role or len(mistakes.found) != before:
        return None
    return Signature(
        id=name, title=texts["title"], role=Role(role), outcome=outcome, place=mistakes.place(node),
        when=sections["when"], suspect=sections["suspect"], support=sections["for"], against=sections["against"],
        cancelled_by=sections["cancelled_by"], explains=links, summary=texts["summary"],
        advice=lists["advice"], references=lists["references"], yes=samples["yes"], no=samples["no"],
    )  # fmt: skip


_HINT = {
    "id": "id: area.name",
    "title": "title: the fault in a few words",
    "role": f"role: one of {', '.join(Role)}",
    "when": "when: a list of the items that raise it",
}


def _id_of(fields: Fields, mistakes: Mistakes) -> str:
    if "id" not in fields:
        return ""
    node = fields["id"][1]
    name = text_of(node, mistakes, "id")
    if name and not _ID.fullmatch(name):
        mistakes.add(node, f"'{name}' is no class id", "write area.name in small letters, digits and hyphens")
    return name


def _items(fields: Fields, section: str, name: str, mistakes: Mistakes) -> tuple[Item, ...]:
    if section not in fields:
        return ()
    anchored = section not in ("when", "suspect")
    found = []
    list_node = fields[section][1]
    if section == "when" and isinstance(list_node, yaml.SequenceNode) and not list_node.value:
        mistakes.add(list_node, "when is empty", "list at least one item that raises the class")
    for i, node in enumerate(elements(list_node, mistakes, section)):
        item = item_of(node, Spot(section, f"{name}:{section}[{i}]", anchored), mistakes)
        if item is not None:
            found.append(item)
            if not anchored and not _can_raise(item):
                todo = "use `absent`, or `all` with an item that is there"
                mistakes.add(node, f"`not` alone cannot raise a class in {section}", todo)
    return tuple(found)


def _can_raise(item: Item) -> bool:
    match item:
        case NotItem():
            return False
        case AllOf():
            return any(_can_raise(i) for i in item.items)
        case AnyOf():
            return all(_can_raise(i) for i in item.items)
        case _:
            return True


def _outcome(node: yaml.Node, fields: Fields, role: str, mistakes: Mistakes) -> str:
    if "outcome" not in fields:
        if role == Role.OUTCOME:
            mistakes.add(
                node, "'outcome' is missing in an entry of that role", "add outcome: failed, or outcome: healthy"
            )
        return ""
    if role and role != Role.OUTCOME:
        todo = "remove it, or write role: outcome"
        mistakes.add(fields["outcome"][0], f"'outcome' does not go with role {role}", todo)
    return choice_of(fields["outcome"][1], mistakes, "outcome", ("failed", "healthy"))


def _links(fields: Fields, name: str, mistakes: Mistakes) -> tuple[Link, ...]:
    if "explains" not in fields:
        return ()
    nodes = elements(fields["explains"][1], mistakes, "explains")
    links = (_link(node, f"{name}:explains[{i}].proof", mistakes) for i, node in enumerate(nodes))
    return tuple(link for link in links if link is not None)


def _link(node: yaml.Node, key: str, mistakes: Mistakes) -> Link | None:
    if isinstance(node, yaml.ScalarNode):
        return Link(text_of(node, mistakes, "explains"), place=mistakes.place(node))
    fields = fields_of(node, mistakes, ("class", "same", "within", "proof", "say"), "a link")
    if fields is None or "class" not in fields:
        mistakes.add(node, "a link without `class`", "name the class that is caused: class: area.name")
        return None
    return Link(
        text_of(fields["class"][1], mistakes, "class"),
        keys_of(fields["same"][1], mistakes) if "same" in fields else (),
        seconds_of(fields["within"][1], mistakes, "within") if "within" in fields else None,
        item_of(fields["proof"][1], Spot("proof", key, True), mistakes) if "proof" in fields else None,
        text_of(fields["say"][1], mistakes, "say") if "say" in fields else "",
        mistakes.place(fields["class"][1]),
    )
