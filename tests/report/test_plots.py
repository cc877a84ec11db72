"""Pictures: the page's colours, no style attributes, words beside them, the same bytes each time."""

from __future__ import annotations

import re
from typing import Any

import pytest

from postmortem.report.html import plots as module
from postmortem.report.html import render
from postmortem.report.html.plots import plots

GIB = 1 << 30


def at(second: int) -> dict[str, Any]:
    return {"utc": f"2026-01-01T00:00:{second:02d}Z", "plus_minus_s": 0.5, "zone_known": True}


def point(name: str, value: float, second: int | None) -> dict[str, Any]:
    return {"name": name, "value": value, "when": None if second is None else at(second), "source": "a", "line": 1}


def memory(*seconds: int | None) -> dict[str, Any]:
    return {
        "kind": "series", "name": "memory", "title": "Memory <b>", "unit": "bytes",
        "levels": [point("limit", 2 * GIB, None), point("$peak_1$", GIB, None)],
        "points": [point("in use", GIB + (s or 0), s) for s in seconds],
        "marks": [{"text": "OOM kill of x", "when": at(3), "source": "a", "line": 2}],
    }  # fmt: skip


MONITOR = {
    "kind": "series", "name": "gpu-power", "title": "Power", "unit": "W", "levels": [], "points": [],
    "marks": [{"text": "Xid", "when": at(5), "source": "a", "line": 2}],
    "lines": [{"name": f"GPU {n}", "points": [{"when": at(s), "value": 10.0 * s + n} for s in range(6)]} for n in range(8)],
}  # fmt: skip
UNTIMED = {
    **MONITOR,
    "marks": [],
    "lines": [{"name": "☃ GPU", "points": [{"when": None, "value": v} for v in (1, 2, 3)]}],
}


def with_series(sample: Any, *series: Any) -> Any:
    return {**sample, "exhibits": list(series)}


@pytest.mark.parametrize(
    "series",
    [memory(None), memory(1), memory(1, 2, 3), MONITOR, UNTIMED, memory()],
    ids=["bars", "one time", "over time", "monitor", "untimed", "levels only"],
)
def test_pictures_obey_the_policy(series: Any, sample: Any) -> None:
    (one,) = plots(with_series(sample, series))
    svg = str(one.svg)
    assert svg.startswith("<svg")
    assert 'role="img"' in svg
    assert "aria-label=" in svg
    assert not re.search(r'\bstyle="|<style|<script|<metadata|xlink|href="(?!#)|url\((?!#)|Date', svg)
    assert not re.search(r"#0[0-9a-f]0[0-9a-f]0[0-9a-f]", svg)  # every stand-in colour became one of the page's
    assert "var(--" in svg
    assert one.rows
    assert [str(p.svg) for p in plots(with_series(sample, series))] == [svg]


def test_two_pictures_share_no_id(sample: Any) -> None:
    ids = [re.findall(r'id="([^"]+)"', str(p.svg)) for p in plots(with_series(sample, MONITOR, MONITOR, memory(1, 2)))]
    assert not set(ids[0]) & set(ids[1])
    assert all(len(found) == len(set(found)) for found in ids)


def test_words_instead_of_pictures_where_matplotlib_cannot_start(sample: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> str:
        raise OSError("no writable cache directory")

    monkeypatch.setattr(module, "draw", refused)
    page = render(with_series(sample, memory(1, 2)))
    assert "limit: 2.0 GiB" in page


def test_no_matplotlib_without_a_picture(sample: Any) -> None:
    import subprocess
    import sys

    code = (
        "import json, sys; from postmortem.report.html import render; render(json.load(sys.stdin));"
        "print('matplotlib' in sys.modules)"
    )
    import json

    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(with_series(sample)), capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "False", done.stderr
