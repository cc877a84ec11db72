"""Every format: hostile logs are inert, the same bytes for the same report, valid for its readers."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from hostile import folder
from made_reports import ROOT, report_of
from markdown_it import MarkdownIt

from clocked import least_cpu
from postmortem.report.formats import FORMATS, render
from postmortem.report.markdown import code, fence, inert
from postmortem.report.safe import plain

SCHEMA = json.loads((ROOT / "src/postmortem/report/schema.json").read_text(encoding="utf-8"))
CONTROLS = set(
    map(chr, [*range(9), *range(11, 32), 127, *range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
)
BREAK = "\u200b"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return report_of(folder(tmp_path_factory.mktemp("hostile") / "in"))


def test_a_line_of_a_megabyte_costs_no_time(tmp_path: Path) -> None:
    assert least_cpu(lambda: report_of(folder(tmp_path / "in")), 1) < 10


@pytest.mark.parametrize("form", FORMATS)
def test_no_control_character_leaves(form: str, hostile: Any) -> None:
    assert not set(render(hostile, form)) & CONTROLS


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_words_are_shown(form: str, hostile: Any) -> None:
    text = html.unescape(render(hostile, form)).replace(BREAK, "").replace("\\\\", "\\")
    assert "onerror=document.title='owned'" in text


@pytest.mark.parametrize("form", FORMATS)
def test_same_report_same_bytes(form: str, sample: Any) -> None:
    assert render(sample, form) == render(json.loads(json.dumps(sample)), form)


def test_json_is_valid(hostile: Any) -> None:
    jsonschema.validate(json.loads(render(hostile, "json")), SCHEMA)


def test_junit_is_xml(hostile: Any, sample: Any) -> None:
    for report in (hostile, sample):
        suites = ElementTree.fromstring(render(report, "junit"))
        assert suites.get("failures") == "1"
        failure = suites.find("testsuite/testcase/failure")
        assert failure is not None
        assert failure.get("type") == report["root_cause"]["class"]


@pytest.mark.parametrize(("status", "tag"), [("healthy", None), ("undecided", "skipped"), ("failed", "failure")])
def test_junit_tells_the_status(status: str, tag: str | None, sample: Any) -> None:
    case = ElementTree.fromstring(render({**sample, "status": status}, "junit")).find("testsuite/testcase")
    assert case is not None
    assert [child.tag for child in case] == ([tag] if tag else [])


def tokens(text: str) -> list[Any]:
    reader = MarkdownIt("gfm-like")
    assert reader.linkify is not None
    reader.linkify.set({"fuzzy_link": False})  # GitHub makes no link of a bare example.com
    found = reader.parse(text)
    return [inner for token in found for inner in [token, *(token.children or [])]]


def test_markdown_of_hostile_logs_is_ours_alone(hostile: Any) -> None:
    text = render(hostile, "markdown")
    kinds = {t.type for t in tokens(text)}
    assert not kinds & {"link_open", "image", "hr", "blockquote_open"}
    assert [t.content for t in tokens(text) if t.type.startswith("html")] == ["<sub>", "</sub>"]
    headings = re.findall(r"^#+ (?:Failed: .*|[A-Z]\w+(?: \w+)*)$", text, re.M)
    assert len(headings) == sum(t.type == "heading_open" for t in tokens(text))
    words = "".join(t.content for t in tokens(text) if t.type == "text")
    assert not re.search(r"@\w|#\d|\bGH-\d|(?<!\w):[\w+-]+:|https?:/|www\.", words)


@pytest.mark.parametrize(
    "text",
    [
        "# heading", "- item", "1. one", "+ plus", "= line", "*bold* _em_ ~~no~~", "`code`", "[a](b)", "![a](b)", "<b>x</b>",
        "&lt;b&gt;", "https://example.com/a", "www.example.com", "a@example.com", "@user", "owner/repo#12", "#12", "GH-12",
        ":boom:", "<!channel>", "<https://example.com>", "a | b", "$x$", "\\*not\\*", "a\nb", "javascript:alert(1)", "~~~",
    ],
)  # fmt: skip
def test_words_stay_words_in_markdown(text: str) -> None:
    found = tokens("- " + inert(text))
    assert {t.type for t in found} <= {
        "bullet_list_open", "list_item_open", "paragraph_open", "inline", "text", "text_special", "paragraph_close",
        "list_item_close", "bullet_list_close",
    }  # fmt: skip
    told = "".join(t.content for t in found if t.type in ("text", "text_special")).replace(BREAK, "")
    assert told == " ".join(text.split())
    assert not re.search(r"@\w|#\d|GH-\d|(?<!\w):[\w+-]+:|www\.", "".join(t.content for t in found if t.type == "text"))


@pytest.mark.parametrize(
    "lines", [["```", "x"], ["````", "```"], ["~~~", "a `` b"], ["```" * 9]], ids=["3", "4", "~", "27"]
)
def test_a_fence_holds(lines: list[str]) -> None:
    text = "\n".join(fence(lines))
    found = MarkdownIt("gfm-like").parse(text + "\n\nafter")
    assert [t.type for t in found][:2] == ["fence", "paragraph_open"]
    assert found[0].content == "\n".join(lines) + "\n"


@pytest.mark.parametrize("text", ["a", "`", "``a``", "`a", "a`", " "])
def test_code_holds_backticks(text: str) -> None:
    (inline,) = [t for t in MarkdownIt().parse(code(text)) if t.type == "inline"]
    assert [c.content.strip() for c in inline.children or [] if c.type == "code_inline"] in ([text.strip()], [])


def test_markdown_fits_an_issue(hostile: Any) -> None:
    assert len(render(hostile, "markdown").encode()) < 65_000


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;t\x07x", "x"),
        ("a\u202eb\u2066c", "abc"),
        ("tab\tstays", "tab\tstays"),
        ("ünï", "ünï"),
    ],
)
def test_plain(raw: str, shown: str) -> None:
    assert plain(raw) == shown


def test_no_heavy_import_for_the_terminal(sample: Any, tmp_path: Path) -> None:
    import subprocess
    import sys

    saved = tmp_path / "r.json"
    saved.write_text(render(sample, "json"), encoding="utf-8")
    code = (
        "import sys; from pathlib import Path; from postmortem.report.load import load; from postmortem.report.formats import render;"
        f"[render(load(Path({str(saved)!r})), f) for f in ('terminal', 'markdown', 'junit', 'json')];"
        "print(sorted({'matplotlib', 'jinja2', 'numpy', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
