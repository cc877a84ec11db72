"""Matching: what raises, what counts for and against, whom a finding is about, and what stays unknown."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenes import catalogue, event, fact, findings, lines, scene

from clocked import least_cpu
from postmortem.model import Event, Fact, Finding, Kind, State, Verdict
from postmortem.scene import Reading
from postmortem.signatures import match, proves
from postmortem.signatures.verdict import Points, in_words, verdict_of

KERNEL = lines(Kind.KERNEL, "[    0.000000] Linux version 6.8.0\n[    1.0] quiet\n")
LOG = lines(Kind.LOG, "start\nbind failed: address in use\nstop\n")
BIND = "when: [{log: 'bind failed: (?P<why>.+)'}]\n"


def verdicts(found: Sequence[Finding]) -> list[str]:
    return [str(f.verdict) for f in found]


VERDICT_ROWS = {
    "R and D": (Points(decisive=1, refuting=1), Verdict.CONTESTED),
    "R": (Points(strong=3, sources=3, refuting=1), Verdict.REFUTED),
    "R alone": (Points(refuting=1), Verdict.REFUTED),
    "D": (Points(decisive=1), Verdict.CONFIRMED),
    "D and weak against": (Points(decisive=1, weak=1), Verdict.CONFIRMED),
    "D and A": (Points(decisive=1, strong=5, sources=5, against=1), Verdict.CONTESTED),
    "S of two sources": (Points(strong=2, sources=2), Verdict.SUPPORTED),
    "S of two sources, A fewer": (Points(strong=2, sources=2, against=1), Verdict.SUPPORTED),
    "S of two sources, A as many": (Points(strong=2, sources=2, against=2), Verdict.POSSIBLE),
    "S of two sources, A more": (Points(strong=2, sources=2, against=3), Verdict.SUSPECTED),
    "S of one source": (Points(strong=2, sources=1), Verdict.POSSIBLE),
    "S and A": (Points(strong=1, sources=1, against=1), Verdict.POSSIBLE),
    "S and more A": (Points(strong=1, sources=1, against=2), Verdict.SUSPECTED),
    "weak": (Points(weak=4), Verdict.SUSPECTED),
    "suspect": (Points(), Verdict.SUSPECTED),
}


class TestVerdictTable:
    """Row by row as in docs/signatures.md, with the rows beside each border."""

    @pytest.mark.parametrize(("points", "verdict"), VERDICT_ROWS.values(), ids=VERDICT_ROWS)
    def test_row(self, points: Points, verdict: Verdict) -> None:
        assert verdict_of(points) is verdict

    @given(st.builds(Points, *[st.integers(0, 4)] * 6))
    def test_more_against_never_raises_confidence(self, points: Points) -> None:
        order = [Verdict.CONFIRMED, Verdict.SUPPORTED, Verdict.POSSIBLE, Verdict.SUSPECTED]
        worse = Points(points.decisive, points.strong, points.weak, points.sources, points.refuting, points.against + 1)
        was, now = verdict_of(points), verdict_of(worse)
        if was in order and now in order:
            assert order.index(now) >= order.index(was)

    @pytest.mark.parametrize(
        ("points", "words"),
        [
            (Points(decisive=1), "1 decisive point, nothing against"),
            (Points(1, 2, 0, 2), "1 decisive and 2 strong points from 2 sources, nothing against"),
            (Points(weak=1, against=2), "1 weak point, 2 strong against"),
            (Points(refuting=1, against=1), "a suspicion, 1 refuting and 1 strong against"),
        ],
    )
    def test_words(self, points: Points, words: str) -> None:
        assert in_words(points) == words


ZOMBIE = event("zombie", 5, "ps.txt", pid="7")


GRADE_RULES = {
    "strong is the default": ("when: [{event: zombie}]", "possible"),
    "decisive": ("when: [{event: zombie, grade: decisive}]", "confirmed"),
    "weak": ("when: [{event: zombie, grade: weak}]", "suspected"),
    "suspect": ("when: [{event: dstate}]\nsuspect: [{event: zombie}]", "suspected"),
    "suspect with strong support": (
        "when: [{event: dstate}]\nsuspect: [{event: zombie}]\nfor: [{fact: disk.use, is: 99}]",
        "possible",
    ),
    "supported from another source": ("when: [{event: zombie}]\nfor: [{fact: disk.use, is: 99}]", "supported"),
    "weak support changes nothing": (
        "when: [{event: zombie}]\nfor: [{fact: disk.use, is: 99, grade: weak}]",
        "possible",
    ),
    "support that does not hold": ("when: [{event: zombie}]\nfor: [{fact: disk.use, is: 1}]", "possible"),
    "one record counts once": (
        "when: [{event: zombie}, {event: zombie, where: {pid: 7}}]\nfor: [{event: zombie}]",
        "possible",
    ),
    "refuted": ("when: [{event: zombie}]\nagainst: [{fact: disk.use, is: 99, grade: refutes}]", "refuted"),
    "contested": (
        "when: [{event: zombie, grade: decisive}]\nagainst: [{fact: disk.use, is: 99, grade: refutes}]",
        "contested",
    ),
    "decisive and strong against": (
        "when: [{event: zombie, grade: decisive}]\nagainst: [{fact: disk.use, is: 99}]",
        "contested",
    ),
    "what is weak against is only told": (
        "when: [{event: zombie, grade: decisive}]\nagainst: [{fact: disk.use, is: 99, grade: weak}]",
        "confirmed",
    ),
    "unknown never counts": (
        "when: [{event: zombie, grade: decisive}]\nagainst: [{fact: disk.inode_use, is: 99, grade: refutes}]",
        "confirmed",
    ),
}


class TestGrades:
    """The same table through whole entries."""

    @pytest.mark.parametrize(("rule", "verdict"), GRADE_RULES.values(), ids=GRADE_RULES)
    def test_rule(self, rule: str, verdict: str) -> None:
        assert verdicts(findings(rule, events=[ZOMBIE], facts=[fact("disk.use", 99)])) == [verdict]

    def test_for_never_raises(self) -> None:
        rule = "when: [{event: dstate}]\nfor: [{event: zombie, grade: decisive}]"
        assert findings(rule, events=[ZOMBIE]) == ()

    def test_an_echo_of_a_line_in_another_log_is_no_second_witness(self) -> None:
        rule = "when: [{log: 'disk (?:is )?full'}]\n"
        one, echo = lines(Kind.LOG, "disk full\n", "a.log"), lines(Kind.LOG, "disk full\n", "b.log")
        other = lines(Kind.LOG, "disk is full\n", "c.log")
        assert verdicts(findings(rule, [one, echo])) == ["possible"]
        assert verdicts(findings(rule, [one, other])) == ["supported"]


VALUES = {
    "line, not collected": ("log: 'panic'", [], [], "unknown"),
    "line, collected and not there": ("log: 'panic'", [LOG], [], "false"),
    "line, only refused": ("log: 'panic'", [lines(Kind.LOG, "", state=State.DENIED)], [], "unknown"),
    "line, cut": ("log: 'panic'", [lines(Kind.LOG, "start\n", state=State.CUT)], [], "false"),
    "line, there": ("log: 'bind failed'", [LOG], [], "true"),
    "kernel line, kernel log": ("kernel: 'panic'", [KERNEL], [], "false"),
    "kernel line, a program's log": ("kernel: 'panic'", [LOG], [], "unknown"),
    "kernel line, a journal of programs": (
        "kernel: 'panic'",
        [lines(Kind.JOURNAL, "Mar  1 12:00:00 h sshd[1]: hello\n")],
        [],
        "unknown",
    ),
    "kernel line, a journal with the kernel": (
        "kernel: 'panic'",
        [lines(Kind.JOURNAL, "Mar  1 12:00:00 h kernel: hello\n")],
        [],
        "false",
    ),
    "event, not collected": ("event: gpu.xid", [LOG], [], "unknown"),
    "event, collected and not there": ("event: gpu.xid", [KERNEL], [], "false"),
    "event, other field": ("event: zombie, where: {signal: 9}", [], [event("zombie", signal="6")], "unknown"),
    "event, field unknown": (
        "event: zombie, where: {signal: 9}",
        [lines(Kind.PS, "x\n")],
        [event("zombie", pid="1")],
        "unknown",
    ),
    "event, other field and collected": (
        "event: zombie, where: {signal: 9}",
        [lines(Kind.PS, "x\n")],
        [event("zombie", signal="6")],
        "false",
    ),
    "fact, not collected": ("fact: disk.use, is: 99", [], [], "unknown"),
    "fact, other": ("fact: disk.use, is: 99", [], [fact("disk.use", 5)], "false"),
    "fact, so": ("fact: disk.use, is: 99", [], [fact("disk.use", 99)], "true"),
    "absent line, kernel log since the boot": ("absent: {kernel: 'panic'}", [KERNEL], [], "true"),
    "absent line, it is there": ("absent: {kernel: 'quiet'}", [KERNEL], [], "false"),
    "absent line, not collected": ("absent: {kernel: 'panic'}", [LOG], [], "unknown"),
    "absent line, ring buffer that wrapped": (
        "absent: {kernel: 'panic'}",
        [lines(Kind.KERNEL, "[ 99.0] late\n", times={1: 50})],
        [],
        "unknown",
    ),
    "absent line, kernel log that begins before": (
        "absent: {kernel: 'panic'}",
        [lines(Kind.KERNEL, "[ 99.0] early\n", times={1: -50})],
        [],
        "true",
    ),
    "absent line, cut log": ("absent: {log: 'panic'}", [lines(Kind.LOG, "x\n", state=State.CUT)], [], "unknown"),
    "absent line, whole log": ("absent: {log: 'panic'}", [LOG], [], "true"),
    "absent line, one log of two was not readable": (
        "absent: {log: 'panic'}",
        [LOG, lines(Kind.LOG, "", "b.log", state=State.TIMEOUT)],
        [],
        "unknown",
    ),
    "all: false wins": ("all: [{log: 'panic'}, {fact: disk.use, is: 9}]", [LOG], [], "false"),
    "all: unknown": ("all: [{log: 'bind failed'}, {fact: disk.use, is: 9}]", [LOG], [], "unknown"),
    "any: true wins": ("any: [{log: 'bind failed'}, {fact: disk.use, is: 9}]", [LOG], [], "true"),
    "any: unknown": ("any: [{log: 'panic'}, {fact: disk.use, is: 9}]", [LOG], [], "unknown"),
    "not": ("not: {log: 'panic'}", [LOG], [], "true"),
    "not unknown": ("not: {log: 'panic'}", [], [], "unknown"),
}


class TestThreeValues:
    """What `not: {X}` makes of each source tells false (it holds) from unknown (it does not)."""

    @pytest.mark.parametrize(("item", "readings", "records", "value"), VALUES.values(), ids=VALUES)
    def test_item(self, item: str, readings: list[Reading], records: list[Event | Fact], value: str) -> None:
        rule = f"when: [{{event: dstate}}]\nagainst: [{{{item}, grade: refutes}}, {{not: {{{item}}}, grade: strong}}]"
        events = [event("dstate", 0, "ps.txt"), *(r for r in records if isinstance(r, Event))]
        (found,) = findings(rule, readings, events, [r for r in records if isinstance(r, Fact)])
        told = {Verdict.REFUTED: "true", Verdict.POSSIBLE: "false" if found.against else "unknown"}
        assert told[found.verdict] == value
        assert bool(found.unknown) == (value == "unknown")

    @pytest.mark.parametrize(
        ("item", "ask"),
        [
            ("kernel: 'panic'", "the kernel log of the host, from before the failure on (`dmesg` or `journalctl -k`)"),
            (
                "absent: {event: gpu.xid}",
                "the kernel log of the host, from before the failure on (`dmesg` or `journalctl -k`)",
            ),
            (
                "fact: cgroup.memory.oom_kill, is: 0",
                "memory.events, memory.peak and memory.max of the process's cgroup, before it is removed",
            ),
            (
                "event: zombie",
                "a process table (`ps axo pid,ppid,stat,comm`) from while the dead process is there",
            ),
            ("listing: 'Tasks: ', ask: '`systemctl status UNIT`'", "`systemctl status UNIT`"),
        ],
    )
    def test_what_is_unknown_is_asked_for(self, item: str, ask: str) -> None:
        rule = f"when: [{{event: dstate}}]\nagainst: [{{{item}}}]"
        assert findings(rule, events=[event("dstate")])[0].unknown == (ask,)

    def test_of_another_class_what_it_looks_at_is_asked_for(self) -> None:
        cause = "id: c.d\nwhen: [{kernel: 'went away'}]"
        effect = "when: [{event: dstate}]\nagainst: [{not: {class: c.d}, grade: refutes}]"
        (found,) = findings([cause, effect], [LOG], [event("dstate")])
        assert found.unknown == ("the kernel log of the host, from before the failure on (`dmesg` or `journalctl -k`)",)

    def test_a_class_is_unknown_while_what_would_raise_it_is(self) -> None:
        cause = "id: c.d\nwhen: [{kernel: 'went away'}]"
        effect = "when: [{event: dstate}]\nagainst: [{not: {class: c.d}, grade: refutes}]"
        assert verdicts(findings([cause, effect], [LOG], [event("dstate")])) == ["possible"]
        assert verdicts(findings([cause, effect], [KERNEL], [event("dstate")])) == ["refuted"]

    def test_a_class_by_its_verdict(self) -> None:
        cause = "id: c.d\nwhen: [{event: zombie}]"
        for wanted, raised in (("possible", True), (">= supported", False), ("refuted", False), ("!= refuted", True)):
            rule = f"id: e.f\nwhen: [{{class: c.d, is: '{wanted}'}}]"
            found = findings([cause, rule], events=[event("zombie", pid="3")])
            assert [f.entity for f in found if f.class_id == "e.f"] == ([{"pid": "3"}] if raised else [])


OWNERS = {
    "its own": ({"pid": "7"}, "", "refuted"),
    "another's": ({"pid": "8"}, "", "possible"),
    "nobody's": ({}, "", "refuted"),
    "nobody's, but the same is wanted": ({}, ", same: [pid]", "possible"),
    "its own, and the same is wanted": ({"pid": "7"}, ", same: [pid]", "refuted"),
    "another's, and anybody's will do": ({"pid": "8"}, ", same: []", "refuted"),
}


class TestWhom:
    """Instances, and which records belong to them."""

    def test_two_victims_are_two_findings_and_repeats_are_one(self) -> None:
        events = [
            event("gpu.xid", t, line=n, gpu=g, xid="79") for n, (t, g) in enumerate([(1, "a"), (2, "b"), (3, "a")])
        ]
        found = findings("when: [{event: gpu.xid}]", events=events)
        assert [(f.entity, f.facts.get("count", 1), len(f.evidence)) for f in found] == [
            ({"gpu": "a"}, 2, 2),
            ({"gpu": "b"}, 1, 1),
        ]

    def test_a_vaguer_record_belongs_to_the_nearest_that_it_does_not_contradict(self) -> None:
        text = "gpu 0 lost pid 1\ngpu 1 lost pid 2\ngpu 1 lost\nlost\n"
        log = lines(Kind.LOG, text, times={1: 0, 2: 100, 3: 1, 4: 99})
        found = findings("when: [{log: '(?:gpu (?P<gpu>[01]) )?lost(?: pid (?P<pid>[12]))?'}]", [log])
        assert [(f.entity, sorted(e.line for e in f.evidence)) for f in found] == [
            ({"gpu": "0", "pid": "1"}, [1]),
            ({"gpu": "1", "pid": "2"}, [2, 3, 4]),
        ]

    def test_lines_that_name_nobody_are_one_finding(self) -> None:
        (found,) = findings(BIND, [lines(Kind.LOG, "bind failed: x\n" * 40)])
        assert found.facts == {"why": "x", "count": 40}
        assert [e.line for e in found.evidence] == [*range(1, 9), *range(37, 41)]

    def test_a_log_that_is_there_twice_does_not_double_the_count(self) -> None:
        twice = [lines(Kind.LOG, "bind failed: x\n" * 3, name) for name in ("a.log", "b.log")]
        assert findings(BIND, twice)[0].facts["count"] == 3

    def test_numbers_become_numbers_and_other_texts_stay(self) -> None:
        (found,) = findings(
            "when: [{event: exit}]", events=[event("exit", pid="412", code="007", how="0x1f", status="-1")]
        )
        assert found.facts == {"pid": 412, "code": "007", "how": "0x1f", "status": "-1"}
        assert found.entity == {"pid": "412"}

    @pytest.mark.parametrize(("entity", "same", "verdict"), OWNERS.values(), ids=OWNERS)
    def test_facts_of(self, entity: dict[str, str], same: str, verdict: str) -> None:
        rule = f"when: [{{event: zombie}}]\nagainst: [{{fact: proc.threads, is: '> 1', grade: refutes{same}}}]"
        found = findings(rule, events=[event("zombie", pid="7")], facts=[fact("proc.threads", 3, **entity)])
        assert verdicts(found) == [verdict]

    def test_facts_of_unknown_owners_that_disagree_refute_nothing(self) -> None:
        rule = "when: [{event: zombie}]\nagainst: [{fact: cgroup.memory.oom_kill, is: 0, grade: refutes}]"
        zero, one = (fact("cgroup.memory.oom_kill", n, cgroup=g) for n, g in ((0, "/a"), (1, "/b")))
        assert verdicts(findings(rule, events=[event("zombie", pid="7")], facts=[zero])) == ["refuted"]
        assert verdicts(findings(rule, events=[event("zombie", pid="7")], facts=[zero, one])) == ["possible"]
        assert verdicts(findings(rule, events=[event("zombie", cgroup="/a")], facts=[zero, one])) == ["refuted"]

    def test_members_of_all_are_about_one_entity(self) -> None:
        rule = "when: [{all: [{event: zombie}, {event: exit, same: [pid]}]}]"
        events = [
            event("zombie", pid="7"),
            event("zombie", line=2, pid="8"),
            event("exit", line=3, pid="8", status="137"),
        ]
        (found,) = findings(rule, events=events)
        assert (found.entity, found.facts) == ({"pid": "8"}, {"pid": 8, "status": 137})
        assert [e.line for e in found.evidence] == [2, 3]


XID = "when: [{event: gpu.xid, where: {xid: 79}}]\n"


TIMES = {
    "before, and it was": ("order: before", -5, "possible", "refuted"),
    "before, and it was not": ("order: before", 5, "possible", "possible"),
    "after, and it was": ("order: after", 5, "possible", "refuted"),
    "within, near": ("within: 10s", 5, "possible", "refuted"),
    "within, far": ("within: 10s", 50, "possible", "possible"),
    "before and within, far": ("order: before, within: 10s", -50, "possible", "possible"),
    "before, at the same time elsewhere": ("order: before", 0, "possible", "possible"),
    "before, no time": ("order: before", None, "possible", "possible"),
    "no order wanted, no time": ("grade: refutes", None, "possible", "refuted"),
}


class TestTime:
    @pytest.mark.parametrize(("keys", "time", "_", "verdict"), TIMES.values(), ids=TIMES)
    def test_order_and_distance(self, keys: str, time: float | None, _: str, verdict: str) -> None:
        grade = "" if "grade" in keys else ", grade: refutes"
        rule = f"{XID}against: [{{event: cuda.error, {keys}{grade}}}]"
        events = [event("gpu.xid", 0, xid="79"), event("cuda.error", time, "app.log", code="719")]
        assert verdicts(findings(rule, [LOG], events)) == [verdict]

    def test_before_means_before_the_first_and_after_means_after_it(self) -> None:
        events = [event("gpu.xid", 0, xid="79"), event("gpu.xid", 100, line=9, xid="79"), event("dstate", 50, "ps.txt")]
        for order, verdict in (("before", "possible"), ("after", "refuted")):
            rule = f"{XID}against: [{{event: dstate, order: {order}, grade: refutes}}]"
            assert verdicts(findings(rule, [lines(Kind.PS, "x\n")], events)) == [verdict]

    def test_a_retry_that_worked_cancels(self) -> None:
        rule = BIND + "cancelled_by: [{log: 'listening', say: 'a retry worked'}]"
        (passed,) = findings(rule, [lines(Kind.LOG, "bind failed: x\nlistening\n")])
        assert passed.verdict is Verdict.REFUTED
        assert [(say, e.line) for say, e in passed.against] == [("a retry worked", 2)]
        for text in ("listening\nbind failed: x\n", "bind failed: x\nlistening\nbind failed: x\n"):
            assert verdicts(findings(rule, [lines(Kind.LOG, text)])) == ["possible"]

    def test_somebody_elses_success_does_not_cancel(self) -> None:
        rule = "when: [{log: 'port (?P<port>1|2) failed'}]\ncancelled_by: [{log: 'port (?P<port>1|2) open'}]"
        found = findings(rule, [lines(Kind.LOG, "port 1 failed\nport 2 failed\nport 2 open\n")])
        assert [(f.entity["port"], str(f.verdict)) for f in found] == [("1", "possible"), ("2", "refuted")]


LINES = {
    "unless": ("log: 'bind failed', unless: 'in use'", "bind failed: in use", False),
    "unless of a list": ("log: 'bind failed', unless: [abc, 'in use']", "bind failed: in use", False),
    "unless something else": ("log: 'bind failed', unless: abc", "bind failed: in use", True),
    "case matters": ("log: 'Bind failed'", "bind failed", False),
    "where of a group": ("log: 'bind (?P<port>[0-9]+)', where: {port: '> 1000'}", "bind 9820", True),
    "where that fails": ("log: 'bind (?P<port>[0-9]+)', where: {port: '> 1000'}", "bind 80", False),
    "start of the message": ("log: '^bind'", "2026-03-01T12:00:00Z INFO bind", True),
    "not the start of the message": ("log: '^bind'", "2026-03-01T12:00:00Z INFO no bind", False),
}


JOURNAL = (
    "Mar  1 12:00:00 h kernel: bind one\nMar  1 12:00:00 h sshd[1]: bind two\nMar  1 12:00:00 h app[2]: bind three\n"
)


SEEN = {
    "kernel": ("kernel: 'bind (?P<what>.+)'", ["one"]),
    "log": ("log: 'bind (?P<what>.+)'", ["two", "three"]),
    "log of a program": ("log: 'bind (?P<what>.+)', program: '^sshd$'", ["two"]),
    "log of no such program": ("log: 'bind (?P<what>.+)', program: '^cron$'", []),
    "script": ("script: 'bind (?P<what>.+)'", []),
}


class TestLines:
    @pytest.mark.parametrize(("item", "text", "raised"), LINES.values(), ids=LINES)
    def test_item(self, item: str, text: str, raised: bool) -> None:
        assert bool(findings(f"when: [{{{item}}}]", [lines(Kind.LOG, text + "\n")])) == raised

    @pytest.mark.parametrize(("item", "seen"), SEEN.values(), ids=SEEN)
    def test_which_lines_of_a_journal_a_head_looks_at(self, item: str, seen: list[str]) -> None:
        rule = f"when: [{{{item}}}]"
        book = catalogue(rule)
        _, hits = scene(book, [lines(Kind.JOURNAL, JOURNAL)])
        assert [e.fields["what"] for e in hits["a.b:when[0]"]] == seen

    def test_where_lines_name_no_program_any_may_have_written_them(self) -> None:
        assert findings("when: [{log: 'bind failed', program: sshd}]", [LOG])


class TestSentences:
    def test_summary_and_reasons(self) -> None:
        rule = """
            when: [{event: exit, grade: decisive, say: '{comm} ended with {status}'}]
            for: [{fact: cgroup.memory.oom_kill, is: '> 0', say: '{value} kills counted'}]
            against:
              - {fact: disk.use, is: '< 50', grade: weak, say: 'the disk was {value} % full'}
              - {fact: disk.read_only, is: false, grade: weak}
            summary: '{comm} (pid {pid}) died[ in {cgroup}][ by signal {signal}].'
        """
        facts = [fact("cgroup.memory.oom_kill", 2), fact("disk.use", 20), fact("disk.read_only", False)]
        (found,) = findings(rule, events=[event("exit", comm="java", status="137", signal="9")], facts=facts)
        assert found.summary == "java (pid unknown pid) died by signal 9."
        assert found.because == "java ended with 137; 2 kills counted; 1 decisive and 1 strong points, nothing against"
        assert [say for say, _ in found.against] == ["the disk was 20 % full", "disk.read_only is False"]
        assert found.facts["cgroup.memory.oom_kill"] == 2

    def test_the_text_of_a_log_is_never_read_as_a_template(self) -> None:
        (found,) = findings(BIND + "summary: 'because {why}'", [lines(Kind.LOG, "bind failed: {pid} [x]\n")])
        assert found.summary == "because {pid} [x]"


def test_a_line_of_a_script_says_which_script_and_line() -> None:
    rule = r"when: [{script: '^\s*let (?P<name>\w+)'}]"
    (found,) = findings(rule, [lines(Kind.SCRIPT, "#!/bin/bash\n  let n\n", "scripts/bench.sh")])
    assert (found.entity, found.facts["line"]) == ({"script": "scripts/bench.sh"}, 2)


def test_findings_do_not_depend_on_the_order_of_what_was_read() -> None:
    rule = "when: [{event: gpu.xid}, {event: cuda.error}]\nfor: [{event: dstate}]"
    events = [event("gpu.xid", t, line=t, gpu=g, xid="79") for t, g in ((1, "a"), (2, "b"), (3, "a"), (3, "c"))]
    events += [event("cuda.error", None, "b.log", code="719"), event("dstate", 1, "ps", pid="3")]
    first = findings(rule, [KERNEL, LOG], events)
    assert len(first) == 3

    @given(st.permutations(events))
    def shuffled(order: list[Event]) -> None:
        assert findings(rule, [LOG, KERNEL], order) == first

    shuffled()


def test_the_proof_of_a_link_is_asked_about_both() -> None:
    proof = "{event: zombie, where: {signal: 6}, same: [pid]}"
    cause = f"id: c.d\nwhen: [{{event: gpu.xid}}]\nexplains: [{{class: a.b, proof: {proof}}}]"
    book = catalogue(cause, "when: [{event: dstate}]")
    (link,) = book.by_id["c.d"].explains
    for signal, pid, proven in (("6", "7", True), ("9", "7", False), ("6", "8", False)):
        events = [event("gpu.xid", 1, pid="7"), event("dstate", 2, "ps", pid="7")]
        events.append(event("zombie", 3, "ps", 2, pid=pid, signal=signal))
        seen, hits = scene(book, [lines(Kind.PS, "x\n")], events)
        effect, causing = match(book, seen, hits)
        assert proves(link, causing, effect, seen, hits) is proven


def test_a_hundred_and_fifty_signatures_take_a_few_milliseconds() -> None:
    both = "when: [{{log: 'needle{n} (?P<pid>[0-9]+)'}}, {{event: zombie, where: {{pid: {n}}}}}]"
    book = catalogue(*(f"id: a.b{n}\n{both.format(n=n)}" for n in range(150)))
    seen, hits = scene(book, [LOG, KERNEL], [event("zombie", n, "ps", n, pid=str(n)) for n in range(145, 200)])
    assert len(match(book, seen, hits)) == 5
    assert least_cpu(lambda: match(book, seen, hits), 5) < 0.1


def test_a_record_that_names_nothing_is_of_the_story_near_it() -> None:
    units = lines(
        Kind.LOG,
        "one.service: gone\nFailed to start it.\nquiet\ntwo.service: gone\nFailed to start it.\n",
        times={1: 0.0, 2: 1.0, 3: 20_000.0, 4: 40_000.0, 5: 40_001.0},
    )
    found = findings(r"when: [{log: '(?P<unit>\w+\.service): gone'}, {log: 'Failed to start it'}]", [units])
    assert [(f.entity["unit"], [e.line for e in f.evidence]) for f in found] == [
        ("one.service", [1, 2]),
        ("two.service", [4, 5]),
    ]
