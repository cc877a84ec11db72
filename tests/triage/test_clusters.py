"""Failures without a cause fall together by what they say first; a stub of a signature comes from them."""

from __future__ import annotations

from pathlib import Path

import fleets
import pytest
from fleets import triage

from postmortem.errors import PostmortemError
from postmortem.signatures import check, parse
from postmortem.triage.clusters import Cluster, cluster
from postmortem.triage.suggest import pattern, stub, suggest

QUUX = "2026-06-{d:02d}T03:40:01Z ERROR frob[{p}]: quux table {p} of /data/{p}/t.bin is inside out, giving up"
SPLINE = "ERROR mesh: spline reticulation diverged after {p} rounds on gpu-{d}"
SHORT = "Jun {d:2d} 03:40:01 node{d} widget[{p}]: cannot fold 0x{p:x}"


def said(form: str, d: int, p: int) -> list[str]:
    return [form.format(d=d, p=p)]


ALIKE = {
    "days, pids and paths": (QUUX, QUUX, True),
    "a syslog line of another host": (SHORT, SHORT, True),
    "rounds and cards": (SPLINE, SPLINE, True),
    "another line": (QUUX, SPLINE, False),
    "a short other line": (SHORT, QUUX, False),
}


@pytest.mark.parametrize(("one", "two", "together"), ALIKE.values(), ids=ALIKE)
def test_what_falls_together(one: str, two: str, together: bool) -> None:
    found = cluster([said(one, 3, 411), said(two, 12, 98_230)], {})
    assert (len(found) == 1) is together


def test_the_largest_comes_first_and_names_an_example() -> None:
    rows = [said(SPLINE, 1, 7), said(QUUX, 2, 20), said(QUUX, 3, 30), []]
    found = cluster(rows, {})
    assert [c.members for c in found] == [
        (1, 2),
        *sorted([(0,), (3,)], key=lambda m: next(c.id for c in found if c.members == m)),
    ]
    assert found[0].example == 1
    assert cluster(rows, {})[0].id == found[0].id


def test_the_nearest_named_group() -> None:
    named = {"aaa": said(SHORT, 1, 2), "bbb": ["ERROR mesh: spline reticulation diverged at once"]}
    (found,) = cluster([said(SPLINE, 1, 7)], named)
    assert found.nearest == "bbb"
    (far,) = cluster([said(QUUX, 1, 7)], named)
    assert (far.nearest, far.likeness) == ("", 0.0)


@pytest.mark.parametrize("form", [QUUX, SPLINE, SHORT], ids=["path", "words", "hex"])
def test_a_pattern_matches_the_same_failure_elsewhere(form: str) -> None:
    import regex

    made = regex.compile(pattern(said(form, 3, 411)[0]))
    assert made.search(said(form, 12, 98_230)[0])
    assert not made.search("2026-06-03T03:40:01Z INFO frob: all is well")


def test_a_stub_is_a_signature_file(tmp_path: Path) -> None:
    for number in range(3):
        fleets.bundle(tmp_path / f"in/{number}.tar.gz", "odd", 1 + number)
    assert triage(tmp_path / "in", "--out", tmp_path / "out").returncode == 0
    with pytest.raises(PostmortemError, match="unknown-") as told:
        suggest(tmp_path / "out", "nope")
    name = str(told.value).rsplit(" ", 1)[-1]
    text = suggest(tmp_path / "out", name)
    assert "3 bundles" in text
    catalogue = parse([("stub.yaml", text)], True)
    assert [s.id for s in catalogue.signatures] == ["new.give-it-a-name"]
    assert not [p for p in check(catalogue) if "sample" in p or "yes" in p]


def test_a_cluster_without_a_line_has_no_stub() -> None:
    with pytest.raises(PostmortemError, match="no line"):
        stub(Cluster("unknown-1", (), (0,), 0), [("a.tar.gz", [])])
