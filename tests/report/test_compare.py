"""Two reports side by side, and saved reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hostile import PAYLOADS
from test_formats import tokens

import postmortem
from postmortem.errors import ReportError
from postmortem.report.compare import compare, masked
from postmortem.report.formats import compared, render
from postmortem.report.load import is_report, load

LOG = "2026-01-01T00:00:0{}Z INFO app: step {} done\n"
FAULT = "2026-01-01T00:00:09Z ERROR app: bind: Address already in use (os error 98)\n"


def made(path: Path, log: str, limit: str) -> Any:
    path.mkdir()
    (path / "app.log").write_text(log)
    (path / "cgroup").mkdir()
    (path / "cgroup/memory.max").write_text(limit)
    (path / "cgroup/memory.peak").write_text("500\n")
    return postmortem.analyze(path)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Any, Any]:
    steady = "".join(LOG.format(n, n) for n in range(5))
    return made(tmp_path / "a", steady, "1000\n"), made(
        tmp_path / "b", (steady + FAULT).replace("T00", "T07"), "2048\n"
    )


def test_what_differs(pair: tuple[Any, Any]) -> None:
    found = compare(*pair)
    told = {(d.topic, d.name): (d.a, d.b) for d in found.differences}
    assert told["numbers", "Memory of the container: limit"] == ("1000 B", "2.0 KiB")
    assert told["verdict", "cause"] == ("", "network.port-in-use")
    assert ("numbers", "Memory of the container: peak") not in told
    assert [text for _, _, text in found.new] == [FAULT.replace("T00", "T07").strip()]
    assert found.vanished == ()
    assert not found.same_failure
    assert found.unread == ()


def test_facts_of_one_class_differ(pair: tuple[Any, Any]) -> None:
    root = pair[1]["root_cause"]
    other = {**pair[1], "root_cause": {**root, "facts": {**root["facts"], "port": 81}}}
    found = compare({**pair[1], "root_cause": {**root, "facts": {**root["facts"], "port": 80}}}, other)
    assert [(d.topic, d.name, d.a, d.b) for d in found.differences] == [("facts", "port", "80", "81")]


@pytest.mark.parametrize("form", ["terminal", "markdown", "json"])
def test_a_log_too_big_for_a_report_is_named(form: str, tmp_path: Path) -> None:
    big = "".join(f"2026-01-01T00:00:00Z INFO app: step {n} done\n" for n in range(2000))
    pair = made(tmp_path / "a", big, "1\n"), made(tmp_path / "b", big + FAULT, "1\n")
    text = compared(*pair, form, {"a": "x", "b": "y"})
    assert "app.log" in text
    assert ("not_compared" if form == "json" else "Lines not compared") in text


@pytest.mark.parametrize("form", ["terminal", "markdown", "json"])
def test_hostile_lines_are_text(form: str, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    (one / "app.log").write_text("2026-01-01T00:00:00Z INFO app: fine\n")
    two.mkdir()
    (two / "app.log").write_text("2026-01-01T00:00:00Z ERROR app: " + "".join(PAYLOADS).replace("\n", " ") + "\n")
    text = compared(postmortem.analyze(one), postmortem.analyze(two), form, {"a": "`@x|", "b": "<b>#1</b>"})
    assert not set(text) & set("\x1b\x07\x00\x08\u202e\u2066")
    assert "onerror=" in text
    if form == "markdown":
        kinds = {t.type for t in tokens(text)}
        assert not kinds & {"link_open", "image", "html_inline", "html_block", "blockquote_open"}


def test_a_report_and_itself(pair: tuple[Any, Any]) -> None:
    found = compare(pair[1], pair[1])
    assert (found.differences, found.new, found.vanished) == ((), (), ())
    assert found.same_failure


@pytest.mark.parametrize("form", ["terminal", "markdown", "json"])
def test_forms(form: str, pair: tuple[Any, Any]) -> None:
    text = compared(*pair, form, {"a": "x.json", "b": "y.json"})
    assert "network.port-in-use" in text
    assert "Address already in use" in text
    if form == "json":
        assert json.loads(text)["schema"] == "postmortem/comparison/v1"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("2026-01-01T00:00:01Z took 5 ms", "2026-02-03T11:22:33.5Z took 77 ms", True),
        ("[   12.345678] eth0 up", "[  999.000001] eth0 up", True),
        ("Jun 11 03:46:43 h app[12]: x", "Jul  1 13:46:43 h app[9]: x", True),
        ("at 0x7f00aa", "at 0x1200bb", True),
        ("opened a", "opened b", False),
    ],
)
def test_numbers_and_times_do_not_differ(a: str, b: str, same: bool) -> None:
    assert (masked(a) == masked(b)) is same


def test_a_saved_report_is_the_same_report(sample: Any, tmp_path: Path) -> None:
    saved = tmp_path / "r.json"
    saved.write_text(render(sample, "json"), encoding="utf-8")
    assert is_report(saved)
    for form in ("terminal", "markdown", "html", "json", "junit"):
        assert render(load(saved), form) == render(sample, form)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "{", '{"schema": "other/v1"}', '{"schema": "postmortem/diagnosis/v1"}', "\xff", "[" * 100_000],
)
def test_what_is_no_report_is_said_in_a_sentence(text: str, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(ReportError, match=r"r\.json"):
        load(file)


def test_a_saved_report_cannot_drive_the_terminal(sample: Any, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text(json.dumps({**sample, "warnings": ["\x1b]0;owned\x07\u202ex"]}))
    assert not set(render(load(file), "terminal")) & {"\x1b", "\x07", "\u202e"}
