"""`TEST` of the grammar: an operator and a literal, such as `"> 0"`; a bare value means equality."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import regex
import yaml

from postmortem.model import Verdict
from postmortem.signatures.language import LADDER, Operator, Scalar, Test, Where
from postmortem.signatures.mistakes import Mistakes
from postmortem.signatures.nodes import is_text, scalar_of
from postmortem.signatures.patterns import fault_of

_TEST = regex.compile(r"\s*(==|!=|<=|>=|<|>|~|in(?=[\s\[]))\s*(.*)", regex.DOTALL)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TODO = 'write an operator and a literal in quotes, such as "> 0", "in [13, 31]" or "~ ^nvidia"'


def condition_of(node: yaml.Node, mistakes: Mistakes, what: str, ranked: bool = False) -> Test | None:
    """The test that a scalar states, or None with a mistake; `ranked` words (verdicts) have an order."""
    if not isinstance(node, yaml.ScalarNode):
        mistakes.add(node, f"{what} is not a test", _TODO)
        return None
    if node.tag.startswith("!"):  # YAML reads a bare `!= 0` as a tag
        mistakes.add(node, f"{what} is a YAML tag, not a test", f"put it in quotes: '{node.tag} {node.value}'")
        return None
    parts = _TEST.fullmatch(node.value) if is_text(node) else None
    if parts is None:
        bare = scalar_of(node)
        if bare is None or bare == "":
            mistakes.add(node, f"{what} is empty", _TODO)
            return None
        return Test("==", bare)
    operator, rest = cast(Operator, parts[1]), parts[2].strip()
    test = _matching(rest, node, mistakes, what) if operator == "~" else _comparing(operator, rest, ranked)
    if test is None and operator != "~":
        mistakes.add(node, f"{what} cannot compare with '{rest}'", _TODO)
    return test


def _matching(rest: str, node: yaml.Node, mistakes: Mistakes, what: str) -> Test | None:
    if not mistakes.tested and (fault := fault_of(rest)):
        mistakes.add(node, f"bad pattern in {what}: {fault}", "correct it; the syntax is that of the regex module")
        return None
    if not rest:
        mistakes.add(node, f"{what} has nothing after ~", _TODO)
    return Test("~", rest) if rest else None


def _comparing(operator: Operator, rest: str, ranked: bool) -> Test | None:
    literal = _literal(rest)
    if literal is None or isinstance(literal, tuple) != (operator == "in") or literal == ():
        return None
    unordered = isinstance(literal, str | bool) and not ranked
    return None if operator not in ("==", "!=", "in") and unordered else Test(operator, literal)


@lru_cache(1024)  # most tests compare with one of a few words and numbers
def _literal(text: str) -> Scalar | tuple[Scalar, ...] | None:
    try:
        value = yaml.load(text, Loader=_LOADER)
    except yaml.YAMLError:
        return None
    if isinstance(value, list):
        return tuple(value) if all(isinstance(v, str | int | float | bool) for v in value) else None
    return value if isinstance(value, str | int | float | bool) else None


def where_of(node: yaml.Node, mistakes: Mistakes, known: frozenset[str] | None, what: str) -> Where:
    """The tests of `where`; a field that the item cannot have is a mistake."""
    if not isinstance(node, yaml.MappingNode):
        mistakes.add(node, "where is not a mapping", 'write {field: test}, such as {xid: "in [13, 31]"}')
        return ()
    found = []
    for key, value in node.value:
        field = str(key.value)
        if known is not None and field not in known:
            todo = f"{what} has: {', '.join(sorted(known))}" if known else f"{what} has no named group"
            mistakes.add(key, f"unknown field '{field}' in where", todo, field, known)
        elif test := condition_of(value, mistakes, f"where {field}"):
            found.append((field, test))
    return tuple(found)


def verdicts_of(node: yaml.Node | None, mistakes: Mistakes) -> frozenset[Verdict]:
    """The verdicts that `is` of a class item accepts; at least possible when it says nothing."""
    if node is None:
        return frozenset(LADDER[LADDER.index(Verdict.POSSIBLE) :])
    test = condition_of(node, mistakes, "is", ranked=True)
    names = frozenset(str(v) for v in Verdict)
    if test is None:
        return frozenset()
    words = [str(w) for w in (test.literal if isinstance(test.literal, tuple) else (test.literal,))]
    if any(w not in names for w in words) or test.operator == "~":
        word = next((w for w in words if w not in names), words[0])
        mistakes.add(node, f"unknown verdict '{word}'", f"use one of: {', '.join(sorted(names))}", word, names)
        return frozenset()
    return frozenset(v for v in Verdict if _accepts(test.operator, v, words))


def _accepts(operator: str, verdict: Verdict, words: list[str]) -> bool:
    if operator in ("==", "in"):
        return verdict in words
    if operator == "!=":
        return verdict not in words
    if verdict not in LADDER or words[0] not in LADDER:
        return False  # contested and refuted stand beside the ladder
    mine, other = LADDER.index(verdict), LADDER.index(Verdict(words[0]))
    return {"<": mine < other, "<=": mine <= other, ">": mine > other, ">=": mine >= other}[operator]
