"""The loader: every mistake at once, each with its place, a suggestion and what to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenes import entry

from postmortem.errors import SignatureError
from postmortem.model import Kind, Role, Verdict
from postmortem.signatures import load_files, parse
from postmortem.signatures.language import (
    ENTITY_KEYS,
    HEADS,
    Absent,
    AllOf,
    ClassItem,
    EventItem,
    FactItem,
    LineItem,
    NotItem,
    Test,
)
from postmortem.signatures.vocabulary import EVENTS, FACTS

TOP = "schema: 1\nsignatures:\n"
PLAIN = """\
- id: network.port-in-use
  title: Another process already listens on the port
  role: root
  when:
    - log: '(?i)\\b(?:bind|listen)\\b.*(?:address already in use|EADDRINUSE)'
  yes: ['Error: bind 127.0.0.1:9820: Address already in use (os error 98)']
  no: ['listening on 127.0.0.1:9820']
"""
ITEM = "{event: exit, where: {status: '!= 0'}}"


def exits(old: str = "", new: str = "", more: str = "") -> str:
    """A file of one small entry, with a replacement or a further key."""
    small = f"- {{id: a.b, title: T, role: root, when: [{ITEM}]"
    return TOP + (small.replace(old, new) if old else small) + (f", {more}}}" if more else "}")


def mistakes(text: str) -> tuple[str, ...]:
    with pytest.raises(SignatureError) as caught:
        parse([("s.yaml", text)])
    return caught.value.mistakes


def place(marked: str) -> str:
    """`file:line:column` of the mark ¦."""
    before = marked[: marked.index("¦")]
    return f"s.yaml:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def test_a_plain_entry_takes_seven_lines() -> None:
    book = parse([("s.yaml", TOP + PLAIN)])
    (one,) = book.signatures
    assert (one.id, one.role, one.when[0].grade) == ("network.port-in-use", Role.ROOT, "strong")
    assert book.by_id == {one.id: one}
    assert book.patterns == (r"(?i)\b(?:bind|listen)\b.*(?:address already in use|EADDRINUSE)",)


MISTAKES = {
    "not yaml": ("schema: 1\nsignatures: [\n¦", "this is not YAML: did not find expected node content; put patterns"),
    "empty": ("¦", "the file is empty; begin with `schema: 1` and `signatures:`"),
    "no schema": ("¦signatures: []", "'schema' is missing; add `schema: 1` at the top"),
    "other schema": ("schema: ¦2\nsignatures: []", "unknown schema '2'; this program reads schema: 1"),
    "unknown key": (
        exits(more="¦expalins: [c.d]"),
        "unknown key 'expalins' in an entry; did you mean 'explains'? use one of: id, title,",
    ),
    "key twice": (exits(more="¦title: U"), "key 'title' is given twice in an entry; remove one of the two"),
    "no title": (
        TOP + "- ¦{id: a.b, role: root, when: [{event: zombie}]}",
        "'title' is missing in a.b; add it: title: the fault in a few words",
    ),
    "bad id": (exits("a.b", "¦A b"), "'A b' is no class id; write area.name in small letters, digits and hyphens"),
    "unknown role": (
        exits("root", "¦symptoms"),
        "unknown role 'symptoms'; did you mean 'symptom'? use one of: root, mechanism,",
    ),
    "outcome without outcome": (
        exits("root", "outcome").replace("- {", "- ¦{"),
        "'outcome' is missing in an entry of that role; add outcome: failed, or outcome: healthy",
    ),
    "outcome of a root": (exits(more="¦outcome: failed"), "'outcome' does not go with role root; remove it"),
    "no head": (exits("{event: exit, ", "¦{"), "an item has no head; give it exactly one of: kernel, log,"),
    "two heads": (
        exits("{event: exit", "¦{event: exit, log: abc"),
        "an item has several heads: event, log; give it exactly one of: kernel, log,",
    ),
    "unknown head": (
        exits("{event: exit", "{¦events: exit"),
        "unknown key 'events' in an item; did you mean 'event'? use one of",
    ),
    "unknown event": (exits("exit", "¦exits"), "unknown event 'exits'; did you mean 'exit'? use one of: oom.kill,"),
    "unknown field of an event": (
        exits("status", "¦statsu"),
        "unknown field 'statsu' in where; did you mean 'status'? event exit has: code, comm,",
    ),
    "unknown group of a pattern": (
        TOP + PLAIN.replace("    - log: '(?i)", "    - where: {¦prot: 1}\n      log: '(?P<port>1)(?i)"),
        "unknown field 'prot' in where; did you mean 'port'? the pattern has: port",
    ),
    "tag instead of a test": (
        exits("'!= 0'", "¦!= 0"),
        "where status is a YAML tag, not a test; put it in quotes: '!= 0'",
    ),
    "test of nothing": (exits("'!= 0'", "¦'!='"), "where status cannot compare with ''; write an operator and a"),
    "order of words": (exits("'!= 0'", "¦'> a'"), "where status cannot compare with 'a'; write an operator and a"),
    "in without a list": (exits("'!= 0'", "¦'in 3'"), "where status cannot compare with '3'; write an operator"),
    "unknown fact": (
        exits(ITEM, "{fact: ¦disk.usage, is: '> 1'}"),
        "unknown fact 'disk.usage'; did you mean 'disk.use'? use one of",
    ),
    "fact without a test": (exits(ITEM, "{fact: ¦disk.use}"), "a fact without `is`; say what it must be, such as"),
    "bad pattern": (
        TOP + PLAIN.replace("'(?i)", "¦'(?i)").replace("EADDRINUSE)", "EADDRINUSE"),
        "bad pattern in log: missing ) at character 62, its end; correct it; the syntax is that of the regex module",
    ),
    "bad pattern in the middle": (
        TOP + PLAIN.replace("'(?i)", "¦'*(?i)"),
        "bad pattern in log: nothing to repeat at character 1 ('*(?i)",
    ),
    "pattern of nothing": (
        TOP + PLAIN.replace("'(?i)", "¦'(?i)x*|"),
        "the pattern in log matches an empty line; ask for some literal text in every branch",
    ),
    "no yes": (
        (TOP + re.sub("  yes.*\n", "", PLAIN)).replace("- id", "- ¦id"),
        "'yes' is missing in an entry with a line item; add yes: ['a real line that must raise it']",
    ),
    "no no": (
        (TOP + re.sub("  no.*\n", "", PLAIN)).replace("- id", "- ¦id"),
        "'no' is missing in an entry with a line item; add no: ['a look-alike that must not raise it']",
    ),
    "empty no": (TOP + re.sub(r"no: .*", "no: ¦[]", PLAIN), "'no' is empty; add a look-alike that must not raise it"),
    "sample is a number": (TOP + re.sub(r"no: .*", "no: [¦5]", PLAIN), "a sample of no is not a text; put the line"),
    "sample of an unknown kind": (
        TOP + re.sub(r"no: .*", "no: [{¦kernal: x}]", PLAIN),
        "unknown key 'kernal' in a sample of no; did you mean 'kernel'? use one of",
    ),
    "grade of against in when": (
        exits("{event: exit", "{event: exit, grade: ¦refutes"),
        "unknown grade 'refutes'; use one of: decisive, strong, weak",
    ),
    "same in when": (
        exits("{event: exit", "{event: exit, ¦same: [pid]"),
        "'same' has nothing to compare with in when; remove it, or put the item into an `all`",
    ),
    "unknown entity key": (
        exits(more="for: [{event: zombie, same: [¦pids]}]"),
        "unknown entity key 'pids'; did you mean 'pid'? use one of: pid, comm,",
    ),
    "span without a unit": (
        exits(more="for: [{event: zombie, within: ¦10}]"),
        "within is not a span of time: '10'; write a number and ms, s, m, h or d: 10s",
    ),
    "is with an event": (
        exits("{event: exit", "{event: exit, ¦is: 1"),
        "'is' does not go with event; with event you may write: where, grade",
    ),
    "program with kernel": (
        TOP + PLAIN.replace("- log:", "- ¦program: sshd\n      kernel:"),
        "'program' does not go with kernel; with kernel you may write: where, unless",
    ),
    "absent fact": (
        exits(more="against: [{absent: ¦{fact: disk.use, is: '> 1'}}]"),
        "only a line or an event can be absent; name one; for anything else use `not`",
    ),
    "not alone raises": (
        exits(ITEM, "¦{not: {event: exit}}"),
        "`not` alone cannot raise a class in when; use `absent`, or `all` with an item that is there",
    ),
    "unknown verdict": (
        exits(more="against: [{class: a.b, is: ¦refutet}]"),
        "unknown verdict 'refutet'; did you mean 'refuted'? use one of",
    ),
    "unknown effect": (
        exits(more="explains: [¦a.c]"),
        "unknown class 'a.c'; did you mean 'a.b'? use the id of an entry, or add one",
    ),
    "effect of itself": (
        exits(more="explains: [¦a.b]"),
        "explains make a circle: a.b -> a.b; a cause cannot be its own effect: remove one of the links",
    ),
    "waits for itself": (
        exits(more="against: [{class: a.b}]").replace("- {", "- ¦{"),
        "class items make a circle: a.b -> a.b; two classes cannot wait for each other: ask a fact instead",
    ),
    "unknown field of a sentence": (
        exits(more="summary: ¦'{statsu} x'"),
        "unknown field '{statsu}' in a sentence; did you mean 'status'? no item of this entry gives it",
    ),
    "open bracket": (exits(more="summary: ¦'[x'"), "a '[' without ']' in a sentence; close it, or write a backslash"),
    "second entry": (
        exits() + "\n" + exits().removeprefix(TOP).replace("- {", "- ¦{"),
        "a second entry 'a.b'; the first is in line 3: make one of the two",
    ),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_its_place(text: str, message: str) -> None:
    expected = f"{place(text)}: {message}"
    assert [m[: len(expected)] for m in mistakes(text.replace("¦", ""))] == [expected]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    bad = exits("exit", "exits", more="expalins: [], summary: '['") + "\n" + PLAIN.replace("root", "rot")
    bad += entry("id: c.d\nwhen: [{event: exit}]\nexplains: [a.b, c.d, z.z]")
    told = ["unknown event 'exits'", "unknown key 'expalins' in an entry", "a '[' without ']' in a sentence"]
    told += ["unknown role 'rot'", "unknown class 'z.z'", "explains make a circle"]
    assert [re.split(r":\d+: |;|: c.d", m)[1] for m in mistakes(bad)] == told


@given(st.data())
def test_any_damage_to_a_file_is_a_list_of_mistakes_or_a_catalogue(data: st.DataObject) -> None:
    text = TOP + PLAIN + entry("when: [{all: [{event: exit, say: '[{pid}]'}, {absent: {log: 'abc'}, within: 1s}]}]")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        drop = data.draw(st.integers(0, 6))
        text = text[:at] + data.draw(st.text("{}[]:,'\"|>&*!#?-\n \\()~=%@`a1\0", max_size=3)) + text[at + drop :]
    told: tuple[str, ...] = ("s.yaml:1:1: nothing; a catalogue",)
    try:
        parse([("s.yaml", text)])
    except SignatureError as error:
        told = error.mistakes
    assert told
    assert [m for m in told if not re.match(r"s\.yaml:\d+:\d+: .+; .+", m, re.DOTALL)] == []


def test_what_is_nested_too_deep_is_a_mistake() -> None:
    (told,) = mistakes("schema: 1\nsignatures: " + "[" * 20_000)
    assert "this is not YAML" in told


def test_links_may_not_form_a_circle_over_several_entries() -> None:
    chain = [("a.b", "c.d"), ("c.d", "e.f"), ("e.f", "a.b")]
    body = "".join(entry(f"id: {x}\nwhen: [{{event: zombie}}]\nexplains: [{y}]") for x, y in chain)
    assert mistakes(TOP + body) == (
        "s.yaml:7:14: explains make a circle: a.b -> c.d -> e.f -> a.b; "
        "a cause cannot be its own effect: remove one of the links",
    )


def test_every_shape_of_item() -> None:
    body = entry(r"""
        when:
          - all:
              - {log: 'x(?P<pid>\d+)y', unless: [abc], program: sshd, where: {pid: '> 1'}}
              - {event: zombie, same: [pid], within: 500ms, order: after}
        against:
          - {fact: disk.use, is: '<= 0.98', grade: refutes, say: "{value} %"}
          - {class: c.d, is: '>= supported', grade: weak}
          - absent: {event: gpu.xid, where: {xid: 'in [79, 119]'}}
            same: [gpu]
          - not: {fact: proc.state, is: Z}
        """) + entry("id: c.d\nwhen: [{event: exit}]")
    book = parse([("s.yaml", TOP + body)])
    assert [s.id for s in book.signatures] == ["c.d", "a.b"]  # a class comes after those it asks about
    one = book.by_id["a.b"]
    assert isinstance(one.when[0], AllOf)
    line, event = one.when[0].items
    assert isinstance(line, LineItem)
    assert (line.unless, line.program, line.where) == (("abc",), "sshd", (("pid", Test(">", 1)),))
    assert isinstance(event, EventItem)
    assert (event.same, event.within_s, event.order) == (("pid",), 0.5, "after")
    number, other, absent, negated = one.against
    assert isinstance(number, FactItem)
    assert (number.test, number.grade) == (Test("<=", 0.98), "refutes")
    assert isinstance(other, ClassItem)
    assert other.verdicts == {Verdict.SUPPORTED, Verdict.CONFIRMED}
    assert isinstance(absent, Absent)
    assert (absent.grade, absent.item.same) == ("strong", ("gpu",))
    assert isinstance(negated, NotItem)
    keys = [line.key, event.key, negated.item.key]
    assert keys == ["a.b:when[0].all[0]", "a.b:when[0].all[1]", "a.b:against[3].not"]


def test_a_later_file_adds_and_replaces_by_id(tmp_path: Path) -> None:
    first, second = tmp_path / "one.yaml", tmp_path / "two.yaml"
    old = entry("id: a.b\ntitle: Old\nwhen: [{event: exit}]\nexplains: [c.d]")
    first.write_text(TOP + old + entry("id: c.d\nwhen: [{event: exit}]"))
    second.write_text(TOP + entry("id: c.d\ntitle: New\nwhen: [{event: zombie}]"))
    book = load_files([first, second])
    assert {s.id: s.title for s in book.signatures} == {"a.b": "Old", "c.d": "New"}
    assert book.digest != load_files([first]).digest
    assert book == load_files([first, second])


def test_a_file_that_cannot_be_read_is_a_mistake(tmp_path: Path) -> None:
    gone = tmp_path / "gone.yaml"
    with pytest.raises(SignatureError, match="No such file or directory; name a signature file"):
        load_files([gone])


def test_a_part_of_a_catalogue_may_name_other_classes() -> None:
    text = exits(more="explains: [z.z]")
    assert parse([("s.yaml", text)], partial=True).signatures[0].explains[0].class_id == "z.z"


SRC = Path(__file__).parents[2] / "src" / "postmortem"
DOCS = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    part = DOCS.split(f"## Vocabulary: {heading}")[1].split("\n## ")[0]
    return [[c.strip() for c in row.strip("|").split("|")] for row in part.splitlines() if row.startswith("| `")]


def test_what_the_architecture_names_can_be_asked() -> None:
    assert {row[0].strip("`") for row in table("events")} - {"line"} - EVENTS.keys() == set()
    assert {name for row in table("facts") for name in _names(row[0])} - FACTS == set()


def _names(cell: str) -> set[str]:
    names = re.findall(r"`([a-z.][\w.]+)`", re.sub(r"\([^)]*\)", "", cell))
    stem = names[0].rsplit(".", 1)[0]
    return {stem + n if n.startswith(".") else n for n in names}


def test_what_parsers_and_detectors_write_out_can_be_asked() -> None:
    events, facts = set(), set()
    for folder in ("parse", "detect"):
        for path in (SRC / folder).glob("**/*.py"):
            text = path.read_text(encoding="utf-8")
            events |= set(re.findall(r"""(?:\.event|Event)\(\s*"([a-z][\w.-]*)\"""", text))
            facts |= set(re.findall(r"""(?:\.fact|Fact)\(\s*"([a-z][\w.-]*)\"""", text))
    assert len(events) > 10
    assert len(facts) > 20
    assert (events - EVENTS.keys(), facts - FACTS) == (set(), set())


def test_heads_look_at_kinds_of_source_that_exist() -> None:
    assert {k for kinds in HEADS.values() for k in kinds} <= set(Kind)
    assert len(set(ENTITY_KEYS)) == len(ENTITY_KEYS)
