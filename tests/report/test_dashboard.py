"""The dashboard of triage in a browser, as a phone and a desk show it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from made_reports import ROOT


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("triage")
    inputs = [ROOT / "samples", ROOT / "tests/cases/open/sys"]
    command = [
        sys.executable,
        "-m",
        "postmortem",
        "triage",
        *inputs,
        "--out",
        out,
        "--format",
        "html",
        "--reports",
        "none",
    ]
    subprocess.run([str(c) for c in command], capture_output=True, timeout=300, check=True)
    return out / "dashboard.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_dashboard_is_silent_fits_and_can_be_reached(width: int, scheme: str, browser: Any, dashboard: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    noise: list[str] = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("request", lambda request: noise.append(request.url) if request.url != dashboard.as_uri() else None)
    page.goto(dashboard.as_uri())
    assert noise == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#rows tr").count() > 10
    found = axe.run(page).response["violations"]
    assert [(f["id"], f["nodes"][0]["html"][:200]) for f in found if f["impact"] in ("serious", "critical")] == []
    page.close()


def test_filter_and_sort_work(browser: Any, dashboard: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(dashboard.as_uri())
    every = page.locator("#rows tr").count()
    page.locator("#filter").fill("oom-cgroup")
    assert 0 < page.locator("#rows tr").count() < every
    page.locator("#filter").fill("")
    page.locator("th[data-column='2']").click()
    classes = page.locator("#rows tr td:nth-child(3)").all_inner_texts()
    assert classes == sorted(classes)
    page.close()
