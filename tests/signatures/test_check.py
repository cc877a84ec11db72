"""`check` runs every sample through the real matching, and names patterns that cannot work."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import catalogue

from postmortem.signatures import check, load_files, shipped, warnings
from postmortem.signatures.__main__ import main
from postmortem.signatures.branches import branches

BIND = "when: [{log: 'bind failed: (?P<why>.+)', unless: 'but retrying'}]\n"
GOOD = {
    "plain": BIND + "yes: ['bind failed: x']\nno: ['bind worked']",
    "the message behind a stamp": (
        "when: [{log: '^bind failed'}]\nyes: ['2026-03-01T12:00:00Z ERROR bind failed']\nno: ['no bind failed']"
    ),
    "unless": BIND + "yes: ['bind failed: x']\nno: ['bind failed: x but retrying']",
    "of another kind": (
        "when: [{log: 'abcde'}, {kernel: 'went away'}]\nyes: [{kernel: '[  1.5] gpu went away'}, abcde]\n"
        "no: [{log: 'gpu went away'}]"
    ),
    "a plain line of the second kind": (
        "when: [{kernel: 'went away'}, {log: 'is lost'}]\nyes: ['gpu went away', 'gpu is lost']\nno: ['gpu is here']"
    ),
    "of several lines": (
        "when: [{all: [{log: 'attempt failed'}, {log: 'giving up', order: after}]}]\n"
        'yes: ["attempt failed\\ngiving up"]\nno: ["giving up\\nattempt failed", \'attempt failed\']'
    ),
    "of two sources": (
        "when: [{all: [{log: 'attempt failed'}, {kernel: 'went away'}]}]\n"
        "yes: [{log: 'attempt failed', kernel: 'gpu went away'}]\nno: [{log: 'attempt failed', kernel: 'hello'}]"
    ),
    "a suspicion may catch a look-alike": (
        "when: [{log: 'killed by oom'}]\nsuspect: [{log: 'killed'}]\nyes: ['killed by oom']\nno: ['killed']"
    ),
    "a line with a fact that no sample shows": (
        "when: [{all: [{log: 'no space'}, {fact: disk.use, is: '> 98'}]}]\nyes: ['no space left']\nno: ['space']"
    ),
    "a retry that worked": (
        BIND + "cancelled_by: [{log: 'listening'}]\nyes: ['bind failed: x']\nno: [\"bind failed: x\\nlistening\"]"
    ),
}


@pytest.mark.parametrize("rule", GOOD.values(), ids=GOOD)
def test_a_good_entry_has_no_problem(rule: str) -> None:
    assert check(catalogue(rule)) == ()


BAD = {
    "yes that does not match": (
        BIND + "yes: ['bind faild: x']\nno: ['y']",
        "the yes sample of a.b does not match; correct the pattern, or name the kind of source",
    ),
    "yes of the wrong kind": (
        BIND + "yes: [{kernel: 'bind failed: x'}]\nno: ['y']",
        "the yes sample of a.b does not match; correct the pattern, or name the kind of source",
    ),
    "yes that is only suspect": (
        "when: [{log: 'killed by oom'}]\nsuspect: [{log: 'killed'}]\nyes: ['killed']\nno: ['y']",
        "the yes sample of a.b does not match; correct",
    ),
    "yes with half of all": (
        "when: [{all: [{log: 'attempt failed'}, {log: 'giving up'}]}]\nyes: ['attempt failed']\nno: ['y']",
        "the yes sample of a.b has the line, but not what goes with it; look at where, same and order",
    ),
    "yes that is refuted": (
        BIND + "against: [{log: 'bind', grade: refutes}]\nyes: ['bind failed: x']\nno: ['y']",
        "the yes sample of a.b is refuted: bind failed: x; correct `against`, or the sample",
    ),
    "no that matches": (
        BIND + "yes: ['bind failed: x']\nno: ['bind failed: y']",
        "the no sample of a.b raises it by: bind failed: y; narrow the pattern, or add `unless`",
    ),
    "plain no that matches as the second kind": (
        "when: [{kernel: 'went away'}, {log: 'is lost'}]\nyes: ['gpu went away']\nno: ['gpu is lost']",
        "the no sample of a.b raises it by: gpu is lost; narrow the pattern, or add `unless`",
    ),
    "no literal": (
        "when: [{log: '[0-9]+ ?(?:ms|s)\\b!'}]\nyes: ['5 ms!']\nno: ['y']",
        "the scanner cannot look for '[0-9]+ ?(?:ms|s)\\b!'; put a literal piece of three characters or more",
    ),
    "always hit": (
        "when: [{log: '(?i)info|error|warn'}]\nyes: ['error']\nno: ['y']",
        "'(?i)info|error|warn' matches ordinary lines; ask for more of the message",
    ),
    "slow": (
        "when: [{log: '(?:a|aa)+ Error'}]\nyes: ['aa Error']\nno: ['y']",
        "'(?:a|aa)+ Error' is slow on long lines; nest no repeats, bound `.*` in the middle",
    ),
}


@pytest.mark.parametrize(("rule", "problem"), BAD.values(), ids=BAD)
def test_a_problem_is_named_with_its_place(rule: str, problem: str) -> None:
    (found,) = check(catalogue(rule))
    place, _, said = found.partition(": ")
    assert said.startswith(problem)
    assert place.startswith("t.yaml:")


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("abc", ("abc",)),
        ("abc|def", ("abc", "def")),
        ("(?i)abc|(?:d|e)f", ("(?i)abc", "(?i)(?:d|e)f")),
        (r"a\|b|[|]c", (r"a\|b", "[|]c")),
        ("(a|b)", ("(a|b)",)),
        (r"(usage \(?word)|b", (r"(usage \(?word)", "b")),
        ("(?i)a|(?s)b", ("(?i)(?s)a", "(?i)(?s)b")),
    ],
)
def test_top_level_alternatives(pattern: str, parts: tuple[str, ...]) -> None:
    assert branches(pattern) == parts


def test_an_alternative_that_no_sample_reaches_is_a_warning() -> None:
    rule = "when: [{log: 'disk full|quota exceeded|no space'}]\nno: ['y']\nyes: ['disk full', 'no space left']"
    assert check(catalogue(rule)) == ()
    (found,) = warnings(catalogue(rule))
    assert found.endswith("no yes sample of a.b reaches the alternative 'quota exceeded'; add one")


def test_the_command_for_authors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "s.yaml"
    rule = "- {id: a.b, title: T, role: root, when: [{log: abcd}], yes: [%s], no: [y], explains: [c.d]}"
    file.write_text("schema: 1\nsignatures:\n" + rule % "abcd")
    assert (main(["check", str(file)]), main(["check", "--partial", str(file)]), main([])) == (1, 0, 2)
    file.write_text("schema: 1\nsignatures:\n" + rule % "abc")
    assert main(["check", "--partial", str(file)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0].endswith(": unknown class 'c.d'; use the id of an entry, or add one")
    assert out[1] == out[-1].replace("1 problems", "0 problems") == "1 signatures, 1 patterns, 0 problems"


def test_the_shipped_catalogue_has_no_problem() -> None:
    assert check(load_files([shipped()])) == ()
