"""A class of the catalogue in words: what it is, how it shows, what proves and refutes it, what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from postmortem.model import Role
from postmortem.signatures.language import (
    Absent,
    AllOf,
    AnyOf,
    Catalogue,
    ClassItem,
    Common,
    EventItem,
    FactItem,
    Item,
    LineItem,
    Link,
    NotItem,
    Sample,
    Signature,
    Test,
    Where,
)

ROLES = {
    Role.ROOT: "a cause: it may head a chain",
    Role.MECHANISM: "a mechanism: it is the answer only while nothing that was seen explains it",
    Role.SYMPTOM: "a symptom: it never heads a chain while a cause of it is known",
    Role.CONTRIBUTING: "contributing: it hides or worsens a cause",
    Role.CONTEXT: "context: it explains the log or the setting, never the failure",
    Role.OUTCOME: "an outcome: it says how a run ended, not why",
}
SAMPLES = 4


def explain(catalogue: Catalogue, signature: Signature) -> str:
    """The text of `postmortem explain CLASS`: sections with a heading each, left out where there is nothing."""
    proofs = [i for i in (*signature.when, *signature.support) if i.grade == "decisive"]
    signs = [i for i in (*signature.when, *signature.support) if i.grade != "decisive"]
    refuting = [i for i in signature.against if i.grade == "refutes"]
    doubts = [i for i in signature.against if i.grade != "refutes"]
    sections = (
        ("What proves it", said(proofs)),
        ("How it shows", said(signs)),
        ("Lines that show it", samples(signature.yes)),
        ("Raises only a suspicion", said(signature.suspect)),
        ("What refutes it", said(refuting)),
        ("What speaks against it", said(doubts)),
        ("It passed when, later", said(signature.cancelled_by)),
        ("Looks like it and is not", samples(signature.no)),
        ("Caused by", causes(catalogue, signature.id)),
        ("Causes", [effect(catalogue, link) for link in signature.explains]),
        ("What to do", [filled(a) for a in signature.advice]),
        ("References", list(signature.references)),
    )
    head = f"{signature.id}\n{signature.title}.\nRole: {ROLES[signature.role]}.\n"
    return head + "".join(section(title, rows) for title, rows in sections if rows)


def section(title: str, rows: Sequence[str]) -> str:
    return f"\n{title}\n" + "".join(f"  - {row}\n" for row in rows)


def said(items: Iterable[Item]) -> list[str]:
    """One sentence an item: its own, else one made from what it asks."""
    return list(dict.fromkeys(filled(i.say) if i.say else described(i) for i in items))


def samples(texts: Sequence[Sample]) -> list[str]:
    """The first line of the first samples."""
    return [next((row for row in s.texts[0][1].splitlines() if row.strip()), "") for s in texts[:SAMPLES]]


def causes(catalogue: Catalogue, class_id: str) -> list[str]:
    """The classes that say that they cause this one."""
    found = ((s, link) for s in catalogue.signatures for link in s.explains if link.class_id == class_id)
    return sorted(f"{s.id}: {filled(link.say or s.title)}" for s, link in found)


def effect(catalogue: Catalogue, link: Link) -> str:
    known = catalogue.by_id.get(link.class_id)
    sentence = link.say or (known.title if known else "")
    return f"{link.class_id}: {filled(sentence)}" if sentence else link.class_id


def filled(template: str) -> str:
    """A sentence template as it reads without values: `{pid}` becomes PID, optional parts stay."""
    bare = re.sub(r"(?<!\\)[\[\]]", "", template)
    return re.sub(r"\\([\[\]{}\\])", r"\1", re.sub(r"\{([\w.-]+)\}", lambda m: m[1].upper(), bare))


def described(item: Common) -> str:
    """What an item asks, in words."""
    match item:
        case LineItem():
            return f"a line of a {item.head} source that matches {item.pattern}"
        case EventItem():
            return f"the event {item.kind}{conditions(item.where)}"
        case FactItem():
            return f"the fact {item.name} {test(item.test)}"
        case ClassItem():
            return f"{item.class_id} is {' or '.join(sorted(item.verdicts))}"
        case Absent():
            return f"its source was collected and does not hold: {said([item.item])[0]}"
        case AllOf():
            return " and ".join(said(item.items))
        case AnyOf():
            return " or ".join(said(item.items))
        case NotItem():
            return f"not: {said([item.item])[0]}"
    return ""


def conditions(where: Where) -> str:
    return " where " + ", ".join(f"{name} {test(t)}" for name, t in where) if where else ""


def test(one: Test) -> str:
    literal = "[" + ", ".join(map(str, one.literal)) + "]" if isinstance(one.literal, tuple) else str(one.literal)
    return f"{one.operator} {literal}"
