"""The samples and sentences of an entry."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from postmortem.signatures.items import line_fields
from postmortem.signatures.language import (
    ENTITY_KEYS,
    HEADS,
    ClassItem,
    EventItem,
    FactItem,
    Item,
    LineItem,
    Sample,
    leaves,
)
from postmortem.signatures.mistakes import Mistakes
from postmortem.signatures.nodes import Fields, elements, fields_of, is_text, text_of
from postmortem.signatures.template import faults, fields_in
from postmortem.signatures.vocabulary import EVENTS


def samples_of(
    node: yaml.Node, fields: Fields, sections: Mapping[str, tuple[Item, ...]], mistakes: Mistakes, flawed: bool
) -> dict[str, tuple[Sample, ...]]:
    """The `yes` and `no` of an entry; both must be there where `when` holds a line item.

    A `flawed` entry may hold line items that were not understood.
    """
    items = tuple(i for section in sections.values() for i in section)
    lines = flawed or any(isinstance(leaf, LineItem) for leaf in leaves(items))
    samples = {k: _samples(fields[k][1], k, lines, mistakes) if k in fields else () for k in ("yes", "no")}
    if any(isinstance(leaf, LineItem) for leaf in leaves(sections["when"])):
        for key, line in (("yes", "a real line that must raise it"), ("no", "a look-alike that must not raise it")):
            if key not in fields:
                mistakes.add(node, f"'{key}' is missing in an entry with a line item", f"add {key}: ['{line}']")
            elif isinstance(fields[key][1], yaml.SequenceNode) and not fields[key][1].value:
                mistakes.add(fields[key][1], f"'{key}' is empty", f"add {line}")
    return samples


def _samples(node: yaml.Node, key: str, lines: bool, mistakes: Mistakes) -> tuple[Sample, ...]:
    return tuple(s for n in elements(node, mistakes, key) if (s := _sample(n, key, lines, mistakes)) is not None)


def _sample(node: yaml.Node, key: str, lines: bool, mistakes: Mistakes) -> Sample | None:
    if isinstance(node, yaml.MappingNode):
        fields = fields_of(node, mistakes, tuple(HEADS), f"a sample of {key}") or {}
        pairs = tuple((kind, text_of(value, mistakes, "sample")) for kind, (_, value) in fields.items())
        return Sample(pairs, mistakes.place(node)) if pairs else None
    if not isinstance(node, yaml.ScalarNode) or not is_text(node):
        mistakes.add(node, f"a sample of {key} is not a text", "put the line in quotes, as it stands in the log")
        return None
    if not lines:
        todo = "remove it, or name its kind: {log: ...}"
        mistakes.add(node, f"a sample of {key} in an entry without a line item", todo)
        return None
    return Sample((("", node.value),), mistakes.place(node))


def sentences(fields: Fields, known: frozenset[str] | None, mistakes: Mistakes) -> None:
    """Mistakes in the summary and in every `say` of an entry; `known` are the fields that they may name."""
    if "summary" in fields and isinstance(fields["summary"][1], yaml.ScalarNode):
        template_faults(fields["summary"][1], known, mistakes)
    for section in ("when", "suspect", "for", "against", "cancelled_by", "explains"):
        if section in fields:
            for node in _says(fields[section][1]):
                template_faults(node, known, mistakes)


def _says(node: yaml.Node) -> list[yaml.ScalarNode]:
    if isinstance(node, yaml.SequenceNode):
        return [say for child in node.value for say in _says(child)]
    if not isinstance(node, yaml.MappingNode):
        return []
    own = [v for k, v in node.value if k.value == "say" and isinstance(v, yaml.ScalarNode)]
    return own + [say for _, v in node.value for say in _says(v)]


def known_fields(items: tuple[Item, ...]) -> frozenset[str] | None:
    """The fields that a sentence of this entry may name; None where another class's fields come in."""
    names = {"count", "value", *ENTITY_KEYS}
    for leaf in leaves(items):
        match leaf:
            case LineItem():
                names |= line_fields(leaf.head, leaf.pattern)
            case EventItem():
                names |= EVENTS[leaf.kind].fields
            case FactItem():
                names.add(leaf.name)
            case ClassItem():
                return None
    return frozenset(names)


def template_faults(node: yaml.ScalarNode, known: frozenset[str] | None, mistakes: Mistakes) -> None:
    """Mistakes in the brackets and fields of one sentence."""
    for fault in faults(node.value):
        mistakes.add(node, f"{fault} in a sentence", "close it, or write a backslash before a bracket that is text")
    for name in fields_in(node.value):
        if known is not None and name not in known:
            todo = "no item of this entry gives it: name a group (?P<...>) so, or remove it"
            mistakes.add(node, f"unknown field '{{{name}}}' in a sentence", todo, name, known)
