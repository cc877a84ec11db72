"""A pattern that runs away is stopped, named as unknown, and takes nothing from the others."""

from __future__ import annotations

from scenes import catalogue, event, findings, lines, scene

from clocked import Stopwatch
from postmortem.model import Kind, Verdict
from postmortem.signatures import confirm
from postmortem.signatures.patterns import search

RUNAWAY = "error (?:a|aa)+$"
LINE = "error " + "a" * 64 + "b"
BOTH = (f"id: a.b\nwhen: [{{log: '{RUNAWAY}'}}]", "id: c.d\nwhen: [{log: 'error aa'}]")


def test_one_line() -> None:
    watch = Stopwatch()
    assert search(RUNAWAY, LINE, 0.05).gave_up
    assert watch.seconds() < 1


def test_a_thousand_lines_take_no_longer_than_the_budget_of_the_item() -> None:
    book = catalogue(*BOTH)
    watch = Stopwatch()
    _, hits = scene(book, [lines(Kind.LOG, (LINE + "\n") * 1000)])
    assert watch.seconds() < 5
    assert hits.gave_up == {"a.b:when[0]"}
    assert len(hits["c.d:when[0]"]) == 1000


def test_the_whole_budget_holds_over_many_items() -> None:
    book = catalogue(
        *(f"id: a.b{n}\nwhen: [{{log: '{RUNAWAY.replace('error', f'(?:error|x{n:03})')}'}}]" for n in range(40))
    )
    seen, _ = scene(catalogue(BOTH[1]), [])
    log = lines(Kind.LOG, (LINE + "\n") * 50)
    from dataclasses import replace

    nominated = replace(log, source=replace(log.source, hits={p: tuple(range(1, 51)) for p in book.patterns}))
    watch = Stopwatch()
    hits = confirm(book, [nominated], budget_s=1.0)
    assert watch.seconds() < 4
    assert len(hits.gave_up) == 40
    assert seen.readings == ()


def test_what_was_not_searched_to_the_end_is_unknown_and_not_false() -> None:
    rule = f"when: [{{event: dstate}}]\nagainst: [{{not: {{log: '{RUNAWAY}'}}, grade: refutes}}]"
    slow, quick = lines(Kind.LOG, LINE + "\n"), lines(Kind.LOG, "error b\n")
    assert findings(rule, [slow], [event("dstate")])[0].verdict is Verdict.POSSIBLE
    assert findings(rule, [quick], [event("dstate")])[0].verdict is Verdict.REFUTED
    absent = f"when: [{{event: dstate}}]\nagainst: [{{absent: {{log: '{RUNAWAY}'}}, grade: refutes}}]"
    assert findings(absent, [slow], [event("dstate")])[0].verdict is Verdict.POSSIBLE
    assert findings(absent, [quick], [event("dstate")])[0].verdict is Verdict.REFUTED


def test_an_unless_that_runs_away_confirms_nothing() -> None:
    rule = f"when: [{{log: 'error a', unless: '{RUNAWAY}'}}]"
    assert findings(rule, [lines(Kind.LOG, LINE + "\n")]) == ()
    assert findings(rule, [lines(Kind.LOG, "error ab\n")])
