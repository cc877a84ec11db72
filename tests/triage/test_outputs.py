"""What triage writes: dashboard, Prometheus, JUnit, CSV, SQL."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import fleets
import pytest
from click.testing import CliRunner
from fleets import triage

from postmortem.cli import cli
from postmortem.triage.progress import line, span
from postmortem.triage.run import Count
from postmortem.triage.table import render

HOSTILE = "2026-06-11T03:40:01Z ERROR app: </script><img src=http://evil.example/x onerror=alert(1)> bind 127.0.0.1:9820: Address already in use (os error 98)\n"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("outputs")
    fleets.fleet(top / "in", 24)
    fleets.tar(top / "in/hostile.tar.gz", {"files/</script>.log": HOSTILE})
    ran = triage(
        top / "in", "--out", top / "out", "--format", "html", "--prom", top / "pm.prom", "--junit", top / "junit.xml"
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == (top / "out/dashboard.html").read_text(encoding="utf-8")
    return top / "out"


def test_the_dashboard_asks_nobody_and_runs_nothing_of_a_log(out: Path) -> None:
    page = (out / "dashboard.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in unescape(page)
    assert page.count("<script") == 2, "the data and ours"
    assert "<img" not in page
    assert "&lt;img src=http://evil" in page, "a group of its own, as text"
    assert not re.search(r"<[^>]*(?:src|href)=[\"']?(?:https?:)?//", page)
    for heading in ("What to fix first", "Causes", "Over time", "Hosts by class", "Bundles"):
        assert f"<h2>{heading}</h2>" in page
    assert page.count("<svg") == 3


def test_its_links_lead_to_reports(out: Path) -> None:
    page = (out / "dashboard.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'href="(reports/[0-9a-f]{32}\.html)"', page))
    assert len(linked) == 4, "one for each kind of failure; the hostile program's words are its own"
    assert all("<title>" in (out / link).read_text(encoding="utf-8") for link in linked)


def test_prometheus(out: Path) -> None:
    text = (out.parent / "pm.prom").read_text()
    assert 'postmortem_triage_bundles{status="failed"} 19' in text
    assert 'postmortem_triage_failures{class="gpu.fell-off-bus"} 6' in text
    sample = re.compile(r'# (?:HELP|TYPE) \w+ .+|postmortem_triage_\w+(?:\{(?:\w+="[^"\n]*",?)*\})? \d+(?:\.\d+)?')
    assert all(sample.fullmatch(x) for x in text.splitlines())
    assert not list(out.parent.glob(".pm.prom*")), "written beside and moved"


def test_junit(out: Path) -> None:
    suite = ElementTree.parse(out.parent / "junit.xml").getroot()
    assert {k: suite.get(k) for k in ("tests", "failures", "errors")} == {
        "tests": "26",
        "failures": "19",
        "errors": "1",
    }
    assert len(suite.findall("testcase/failure")) == 19
    assert suite.find("testcase[@name='broken.tar.gz']/error") is not None


def test_csv_has_a_line_for_each_and_no_formula(tmp_path: Path) -> None:
    fleets.tar(tmp_path / "in/=1+1.tar.gz", {"app.log": fleets.text("port", 3, "h")})
    ran = triage(tmp_path / "in", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(ran.stdout))
    assert row["path"] == "'=1+1.tar.gz"
    assert json.loads(row["chain"]) == []
    assert row["class"] == "network.port-in-use"


@pytest.mark.parametrize(
    ("sql", "form", "want"),
    [
        ("select count(*) n from rows where class = 'gpu.fell-off-bus'", "csv", "n\n6\n"),
        ("select path from rows where error is not null", "json", '[{"path":"broken.tar.gz"}]\n'),
        ("select min(\"when\")::date d from rows", "csv", "d\n2026-06-01\n"),
        ("select facts->>'xid' x, count(*) n from rows where class like 'gpu%' group by all", "csv", "x,n\n79,6\n"),
    ],
    ids=["count", "errors", "times", "facts"],
)  # fmt: skip
def test_sql(out: Path, sql: str, form: str, want: str) -> None:
    pytest.importorskip("duckdb")
    assert CliRunner().invoke(cli, ["query", "--out", str(out), "--format", form, sql]).output == want


def test_parquet(out: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "rows.parquet"
    told = CliRunner().invoke(cli, ["query", "--out", str(out), "from rows", "--to", str(file)])
    assert told.output == f"{file}: 26 rows\n"
    counted = duckdb.connect().execute(f"select count(distinct id) from '{file}'").fetchone()
    assert counted == (26,)


@pytest.mark.parametrize(
    ("sql", "says"), [("select nope from rows", "nope"), ("selekt", "syntax")], ids=["column", "syntax"]
)
def test_wrong_sql_is_told(out: Path, sql: str, says: str) -> None:
    pytest.importorskip("duckdb")
    ran = CliRunner().invoke(cli, ["query", "--out", str(out), sql])
    assert ran.exit_code == 1
    assert says in ran.output


def test_the_table_names_what_to_fix(out: Path) -> None:
    text = render(json.loads((out / "summary.json").read_text()))
    assert "26 bundles: 19 failed, 6 healthy, 1 unread" in text
    assert re.search(r"6 +31\.6% +A GPU \w+ .*Xid 79", text)
    assert "broken.tar.gz: " in text
    assert "\x1b" not in text


TIMES = {0: "0 s", 59.6: "1 min 0 s", 754: "12 min 34 s", 7325: "2 h 2 min"}


@pytest.mark.parametrize(("seconds", "want"), TIMES.items())
def test_spans(seconds: float, want: str) -> None:
    assert span(seconds) == want


def test_progress() -> None:
    count = Count(rows=900, kept=300, broken=3)
    assert line(count, 2400, 30) == "1,200 of 2,400 bundles, 40/s, 30 s left, 3 unread or stopped"
    assert line(count, None, 30) == "1,200 bundles, 40/s, 30 s, 3 unread or stopped"
