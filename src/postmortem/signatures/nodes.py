"""YAML nodes -> plain values, each with a mistake at its place when it is not what the grammar wants."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import regex
import yaml

from postmortem.signatures.language import Scalar
from postmortem.signatures.mistakes import Mistakes
from postmortem.signatures.patterns import fault_of, search

Fields = dict[str, tuple[yaml.ScalarNode, yaml.Node]]


def is_text(node: yaml.Node) -> bool:
    """Whether the node is a text and not, say, a number or an empty value."""
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:str"


def scalar_of(node: yaml.ScalarNode) -> Scalar | None:
    """The node's value as YAML types it, or None for null and for what is no plain scalar."""
    if node.tag not in {f"tag:yaml.org,2002:{t}" for t in ("str", "int", "float", "bool")}:
        return None
    value = yaml.SafeLoader("").construct_object(node)
    return value if isinstance(value, str | int | float | bool) else None


def fields_of(node: yaml.Node, mistakes: Mistakes, known: Collection[str], what: str) -> Fields | None:
    """The keys of a mapping; unknown and repeated ones are mistakes."""
    if not isinstance(node, yaml.MappingNode):
        mistakes.add(node, f"{what} is not a mapping", f"write keys and values: {', '.join(known)}")
        return None
    fields: Fields = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value not in known:
            word = key.value if isinstance(key, yaml.ScalarNode) else "?"
            mistakes.add(key, f"unknown key '{word}' in {what}", f"use one of: {', '.join(known)}", word, known)
        elif key.value in fields:
            mistakes.add(key, f"key '{key.value}' is given twice in {what}", "remove one of the two")
        else:
            fields[key.value] = (key, value)
    return fields


def text_of(node: yaml.Node, mistakes: Mistakes, what: str) -> str:
    """The text of a scalar, or "" with a mistake."""
    if isinstance(node, yaml.ScalarNode) and node.value.strip() and node.tag != "tag:yaml.org,2002:null":
        return str(node.value)
    mistakes.add(node, f"{what} is not a text", "write one line of text, in quotes")
    return ""


def elements(node: yaml.Node, mistakes: Mistakes, what: str) -> Iterator[yaml.Node]:
    """The members of a list."""
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    else:
        mistakes.add(node, f"{what} is not a list", "write it as a list: [...] or lines that begin with '- '")


def texts_of(node: yaml.Node, mistakes: Mistakes, what: str) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(text_of(n, mistakes, what) for n in elements(node, mistakes, what))


def choice_of(node: yaml.Node, mistakes: Mistakes, what: str, known: Collection[str]) -> str:
    """One word of a closed set, or "" with a mistake."""
    word = node.value if isinstance(node, yaml.ScalarNode) else ""
    if word in known:
        return str(word)
    mistakes.add(node, f"unknown {what} '{word}'", f"use one of: {', '.join(known)}", word, known)
    return ""


def seconds_of(node: yaml.Node, mistakes: Mistakes, what: str) -> float | None:
    """A span such as `10s`, `5m`, `500ms`, `1h`."""
    text = node.value if isinstance(node, yaml.ScalarNode) else ""
    if span := regex.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", str(text)):
        return float(span[1]) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}[span[2]]
    mistakes.add(node, f"{what} is not a span of time: '{text}'", "write a number and ms, s, m, h or d: 10s")
    return None


def pattern_of(node: yaml.Node, mistakes: Mistakes, what: str) -> str:
    """A pattern that compiles, or "" with a mistake that shows where it breaks."""
    pattern = text_of(node, mistakes, what)
    if not pattern or mistakes.tested:
        return pattern
    if fault := fault_of(pattern):
        mistakes.add(node, f"bad pattern in {what}: {fault}", "correct it; the syntax is that of the regex module")
        return ""
    if search(pattern, "").match is not None:
        mistakes.add(node, f"the pattern in {what} matches an empty line", "ask for some literal text in every branch")
        return ""
    return pattern
