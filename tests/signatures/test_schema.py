"""The JSON Schema for editors says what the loader says, as far as a schema can."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
import yaml
from jsonschema import Draft202012Validator
from scenes import entry
from test_load import MISTAKES, PLAIN, TOP

from postmortem.signatures import parse
from postmortem.signatures.entries import KEYS
from postmortem.signatures.items import ITEM_HEADS
from postmortem.signatures.schema import schema
from postmortem.signatures.vocabulary import EVENTS, FACTS

SCHEMA = json.loads(files("postmortem").joinpath("signatures", "schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)

GOOD = {
    "plain": TOP + PLAIN,
    "no entries": "schema: 1\nsignatures: []",
    "grades": TOP + entry("when: [{event: exit, grade: weak}]\nagainst: [{fact: disk.use, is: '> 1', grade: refutes}]"),
    "nested": TOP
    + entry("when: [{all: [{event: exit}, {any: [{event: zombie, same: [pid]}, {not: {event: dstate}}]}]}]"),
    "absent": TOP + entry("when: [{event: exit}]\nagainst: [{absent: {kernel: 'abc'}, within: 10s, say: x}]"),
    "program": TOP + entry("when: [{log: 'abc', program: sshd, unless: [de, fg], where: {}}]"),
    "outcome": TOP + entry("role: outcome\noutcome: healthy\nwhen: [{event: exit, where: {status: 0}}]"),
    "link": TOP
    + entry("when: [{event: exit}]\nexplains: [{class: c.d, same: [pid], within: 1m}]")
    + entry("id: c.d\nwhen: [{event: zombie}]"),
    "samples of a kind": TOP + entry("yes: [{kernel: a}]\nno: [{log: a, kernel: b}, 'c']\nwhen: [{kernel: 'abc'}]"),
    "class": TOP
    + entry("when: [{event: exit}]\nagainst: [{class: c.d, is: '>= supported'}]")
    + entry("id: c.d\nwhen: [{event: zombie}]"),
}
# What the loader alone can see: patterns, tests, names of fields and classes, circles, what is there twice.
LOADER_ONLY = {
    "not yaml", "key twice", "unknown field of an event", "unknown group of a pattern", "tag instead of a test",
    "test of nothing", "order of words", "in without a list", "bad pattern", "bad pattern in the middle",
    "pattern of nothing", "no yes", "no no", "empty no", "same in when", "absent fact", "not alone raises",
    "unknown verdict", "unknown effect", "effect of itself", "waits for itself", "unknown field of a sentence",
    "open bracket", "second entry",
}  # fmt: skip


class Core(yaml.SafeLoader):
    """YAML 1.2, as editors read it: `yes` and `no` are words."""


Core.yaml_implicit_resolvers = {
    first: [(tag, r) for tag, r in known if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def complaints(text: str) -> list[str]:
    return [e.message for e in VALIDATOR.iter_errors(yaml.load(text.replace("¦", ""), Core))]


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_both_take_what_is_good(text: str) -> None:
    parse([("s.yaml", text)])
    assert complaints(text) == []


@pytest.mark.parametrize("name", sorted(MISTAKES.keys() - LOADER_ONLY))
def test_both_refuse_what_is_bad(name: str) -> None:
    """That the loader does, test_load says."""
    assert complaints(MISTAKES[name][0])


@pytest.mark.parametrize("name", sorted(LOADER_ONLY - {"not yaml", "tag instead of a test"}))
def test_what_only_the_loader_sees_is_listed_rightly(name: str) -> None:
    assert complaints(MISTAKES[name][0]) == []


def test_the_published_file_is_made_from_the_tables_of_the_loader() -> None:
    assert schema() == SCHEMA, "python -m postmortem.signatures schema > src/postmortem/signatures/schema.json"


def test_closed_sets_are_those_of_the_loader() -> None:
    assert tuple(SCHEMA["$defs"]["entry"]["properties"]) == KEYS
    heads = {branch["required"][0]: branch["properties"] for branch in SCHEMA["$defs"]["member"]["oneOf"]}
    assert tuple(heads) == ITEM_HEADS
    assert set(heads["event"]["event"]["enum"]) == EVENTS.keys()
    assert set(heads["fact"]["fact"]["enum"]) == FACTS
