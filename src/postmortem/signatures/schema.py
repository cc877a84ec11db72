"""The JSON Schema of signature files for editors, made from the same tables that the loader reads.

`python -m postmortem.signatures schema > src/postmortem/signatures/schema.json` writes it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from postmortem.model import Role
from postmortem.signatures.language import ENTITY_KEYS, GRADES_AGAINST, GRADES_FOR, HEADS
from postmortem.signatures.vocabulary import EVENTS, FACTS

Node = dict[str, Any]

TEXT: Node = {"type": "string", "minLength": 1}
TEXTS: Node = {"type": "array", "items": TEXT}
JOINS: Node = {
    "same": {
        "type": "array",
        "items": {"enum": list(ENTITY_KEYS)},
        "description": "Entity keys that must agree with what raised the class; without it none may differ.",
    },
    "within": {"type": "string", "pattern": r"^\d+(\.\d+)?\s*(ms|s|m|h|d)$"},
    "order": {"enum": ["before", "after"]},
    "say": {**TEXT, "description": "The sentence for the report; {field} is filled."},
    "ask": {**TEXT, "description": "What to bring where nothing shows the item: a command or a file."},
}


def schema() -> Node:
    """The schema; what it cannot say (patterns, samples, circles) `postmortem signatures check` says."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "postmortem/signatures/v1",
        "title": "Signature file of postmortem",
        **_object({"schema": {"const": 1}, "signatures": _list("entry")}, "schema", "signatures"),
        "$defs": {
            "id": {"type": "string", "pattern": r"^[a-z0-9]+(-[a-z0-9]+)*\.[a-z0-9]+(-[a-z0-9]+)*$"},
            "pattern": {**TEXT, "description": "A pattern of the regex module, searched in the message of a line."},
            "test": {
                "type": ["string", "number", "boolean"],
                "description": 'An operator and a literal: "> 0", "in [13, 31]", "~ ^nvidia"; a bare value is ==.',
            },
            "where": {"type": "object", "additionalProperties": _ref("test")},
            "sample": {"anyOf": [TEXT, {**_object(dict.fromkeys(HEADS, TEXT)), "minProperties": 1}]},
            "link": _link(),
            "member": _items(()),
            "raising": _items(GRADES_FOR),
            "speaking-against": _items(GRADES_AGAINST),
            "entry": _entry(),
        },
    }


def _ref(name: str) -> Node:
    return {"$ref": f"#/$defs/{name}"}


def _list(name: str, least: int = 0) -> Node:
    return {"type": "array", "items": _ref(name), **({"minItems": least} if least else {})}


def _object(properties: Node, *required: str) -> Node:
    must = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **must, "additionalProperties": False}


def _items(grades: Sequence[str]) -> Node:
    """An item with exactly one head, and a grade where grades are possible."""
    more = {**JOINS, "grade": {"enum": list(grades)}} if grades else JOINS
    where = {"where": _ref("where")}
    line = {**where, "unless": {"anyOf": [_ref("pattern"), {"type": "array", "items": _ref("pattern")}]}}
    heads: list[tuple[str, Node, Node]] = [
        (head, _ref("pattern"), {**line, "program": _ref("pattern")} if head == "log" else line) for head in HEADS
    ]
    heads += [
        ("event", {"enum": list(EVENTS)}, where),
        ("fact", {"enum": sorted(FACTS)}, {"is": _ref("test")}),
        ("class", _ref("id"), {"is": _ref("test")}),
        ("absent", _ref("member"), {}),
        ("all", _list("member", 1), {}),
        ("any", _list("member", 1), {}),
        ("not", _ref("member"), {}),
    ]
    must = {"fact": ("is",)}
    return {"oneOf": [_object({head: value, **own, **more}, head, *must.get(head, ())) for head, value, own in heads]}


def _link() -> Node:
    parts = {"class": _ref("id"), "proof": _ref("member")} | {k: JOINS[k] for k in ("same", "within", "say")}
    return {"anyOf": [_ref("id"), _object(parts, "class")]}


def _entry() -> Node:
    properties = {
        "id": _ref("id"),
        "title": TEXT,
        "role": {"enum": [str(role) for role in Role]},
        "when": _list("raising", 1),
        "suspect": _list("member"),
        "for": _list("raising"),
        "against": _list("speaking-against"),
        "cancelled_by": _list("member"),
        "explains": _list("link"),
        "summary": TEXT,
        "advice": TEXTS,
        "references": TEXTS,
        "outcome": {"enum": ["failed", "healthy"]},
        "yes": _list("sample"),
        "no": _list("sample"),
    }
    return {
        **_object(properties, "id", "title", "role", "when"),
        "if": {"properties": {"role": {"const": "outcome"}}},
        "then": {"required": ["outcome"]},
        "else": {"not": {"required": ["outcome"]}},
    }
