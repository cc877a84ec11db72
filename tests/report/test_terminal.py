"""The report at a terminal, and times and numbers for a person."""

from __future__ import annotations

from typing import Any

import pytest

from postmortem.report.look import Look
from postmortem.report.moment import told
from postmortem.report.terminal import one_line, render
from postmortem.report.words import followed, reasons, shown, size, weight


def when(utc: str, plus_minus: float = 0.5, zone: bool = True) -> dict[str, Any]:
    return {"utc": utc, "plus_minus_s": plus_minus, "zone_known": zone}


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (None, "time unknown"),
        (when("2026-06-11T03:46:43Z"), "2026-06-11 03:46:43 UTC"),
        (when("2026-06-11T03:46:43.123456Z"), "2026-06-11 03:46:43.123 UTC"),
        (when("2026-06-11T03:46:43Z", zone=False), "2026-06-11 03:46:43 (no zone in the log)"),
        (when("1904-05-08T06:05:43Z"), "05-08 06:05:43 UTC (no year in the log)"),
        (when("1904-05-08T06:05:43Z", zone=False), "05-08 06:05:43 (no zone, no year in the log)"),
        (when("2026-06-11T03:46:43Z", 60), "2026-06-11 03:46:43 UTC ±60 s"),
        (when("2026-06-11T03:46:43Z", 3600, False), "2026-06-11 03:46:43 ±60 min (no zone in the log)"),
        (when("2026-06-11T03:46:43Z", 50400), "2026-06-11 03:46:43 UTC ±14 h"),
    ],
)
def test_told(moment: Any, text: str) -> None:
    assert told(moment) == text


@pytest.mark.parametrize(
    ("because", "parts", "counted"),
    [
        (
            "a; b; 1 decisive and 1 strong points, nothing against",
            ["a", "b"],
            "1 decisive and 1 strong points, nothing against",
        ),
        ("a", ["a"], ""),
        ("2 points made by a; 1 weak point, nothing against", ["2 points made by a"], "1 weak point, nothing against"),
        ("", [], ""),
    ],
    ids=["counted", "plain", "like a count", "empty"],
)
def test_because_is_taken_apart(because: str, parts: list[str], counted: str) -> None:
    assert reasons(because) == parts
    assert weight(because) == counted


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (367219703808, "342.0 GiB"), (2**50 * 3, "3.0 PiB")],
)
def test_size(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(True, "", "yes"), (False, "", "no"), (36, "C", "36 C"), (698.31, "W", "698.31 W"), (2048, "bytes", "2.0 KiB"), ("P0", "", "P0"), (3, "count", "3")],
)  # fmt: skip
def test_shown(value: Any, unit: str, text: str) -> None:
    assert shown(value, unit) == text


def test_sentences_wrap_and_evidence_does_not(sample: Any) -> None:
    wide, narrow = render(sample), render(sample, Look(width=60))
    marked = [line for line in wide.splitlines() if "benchmark-full.log:40: " in line]
    assert marked
    assert all(line in narrow.splitlines() for line in marked)
    head = narrow.splitlines()
    assert len(head[0]) <= 60
    assert head[1].startswith("        ")
    assert max(map(len, head[:4])) < max(map(len, wide.splitlines()[:4]))
    assert " ".join(narrow.split()) == " ".join(wide.split())


def test_colours_add_nothing_but_colours(sample: Any) -> None:
    import re

    coloured = render(sample, Look(colour=True))
    assert "\x1b[31;1mFAILED\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render(sample)


def test_links_are_off_by_default(sample: Any) -> None:
    assert "\x1b]8" not in render(sample, Look(colour=True))
    linked = render(sample, Look(folder="/var/in put"))
    assert "\x1b]8;;file:///var/in%20put/benchmark-full.log#40\x1b\\benchmark-full.log:40\x1b]8;;\x1b\\: " in linked


def test_verbose_shows_more(sample: Any) -> None:
    assert len(render(sample, Look(verbose=True)).splitlines()) > len(render(sample).splitlines())


def test_one_line(sample: Any) -> None:
    assert one_line(sample).count("\n") == 1
    assert one_line(sample).startswith("script.syntax-error  high  ")
    healthy = {**sample, "root_cause": None, "status": "healthy"}
    assert one_line(healthy).startswith("healthy  -  ")


@pytest.mark.parametrize(("status", "word"), [("healthy", "HEALTHY"), ("undecided", "UNDECIDED"), ("failed", "FAILED")])
def test_no_cause_named(status: str, word: str, sample: Any) -> None:
    text = render({**sample, "root_cause": None, "status": status})
    assert text.startswith(word + "  ")


def link(name: str, because_of: str | None, place: str = "consequence") -> dict[str, Any]:
    return {"class": name, "because_of": because_of, "place": place}


@pytest.mark.parametrize(
    ("links", "order"),
    [
        ([link("r", None, "root"), link("s", "m"), link("m", "r")], "r m s"),
        ([link("r", None, "root"), link("a", "r"), link("b", "r"), link("c", "a")], "r a c b"),
        ([link("r", None, "root"), link("x", "y"), link("y", "x")], "r x y"),
        ([link("a", "gone"), link("a", "gone"), link("c", None, "context")], "a a"),
        ([], ""),
    ],
    ids=["late cause", "branches", "circle", "twice", "empty"],
)
def test_effects_stand_below_their_causes(links: list[dict[str, Any]], order: str) -> None:
    assert " ".join(one["class"] for one in followed({"chain": links})) == order
