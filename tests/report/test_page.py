"""The HTML report in a real browser: silent, offline, usable by hand, by keyboard, on a phone, in the dark, on paper."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hostile import folder
from made_reports import ROOT, report_of

from postmortem.report.html import render

CASES = (
    *sorted((ROOT / "samples").glob("*/files")),
    *(
        sorted(p)[0]
        for pattern in (
            "open/app*/app-seed*/files", "*/adv-trap-old-xid*/files", "*/adv-ecc-xid48*/files", "*/adv-thermal-hw*/files",
            "*/adv-gsp-xid120*/files", "*/adv-nccl-timeout*/files", "*/adv-script-syntax-late*/files",
            "*/adv-log-torn*/files", "*/adv-power-brake*/files", "*/adv-driver-hang*/files", "*/adv-python-exceptiongroup*/files",
            "*/*oom*/files", "*/adv-go-nil*/files", "*/adv-trap-graceful*/files",
        )
        if (p := list((ROOT / "tests/cases").glob(pattern)))
    ),
)  # fmt: skip
SERIOUS = ("serious", "critical")


def test_ten_cases_are_there() -> None:
    assert len(CASES) >= 10


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The page of a folder as a file, made once."""
    made: dict[Path, Path] = {}

    def page_of(case: Path) -> Path:
        if case not in made:
            made[case] = tmp_path_factory.mktemp("page") / "report.html"
            made[case].write_text(render(report_of(case)), encoding="utf-8")
        return made[case]

    return page_of


def opened(browser: Any, file: Path, **context: Any) -> tuple[Any, list[str]]:
    """The page, and everything it said or asked for beside itself."""
    page = browser.new_page(**{"viewport": {"width": 1200, "height": 900}, **context})
    noise: list[str] = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("request", lambda request: noise.append(request.url) if request.url != file.as_uri() else None)
    page.goto(file.as_uri())
    return page, noise


@pytest.mark.parametrize("case", CASES, ids=[c.parent.name for c in CASES])
def test_opens_in_silence_and_fits(case: Path, browser: Any, saved: Any) -> None:
    page, noise = opened(browser, saved(case))
    assert page.title().startswith(("Failed", "Healthy", "Undecided"))
    assert page.locator("h1").is_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert page.locator("h1").is_visible()
    assert len(page.pdf()) > 5000
    assert noise == []
    page.close()


@pytest.mark.parametrize(
    ("case", "scheme"),
    [(case, "light") for case in CASES[:10]] + [(case, "dark") for case in CASES[1:4]],
    ids=lambda value: value if isinstance(value, str) else value.parent.name,
)
def test_no_serious_fault_of_access(case: Path, scheme: str, browser: Any, saved: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page, _ = opened(browser, saved(case), color_scheme=scheme, bypass_csp=True)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    faults = axe.run(page).response["violations"]
    told = [(f["id"], f["nodes"][0]["html"][:200]) for f in faults if f["impact"] in SERIOUS]
    assert told == []
    page.close()


@pytest.fixture
def page(browser: Any, saved: Any) -> Any:
    one, noise = opened(browser, saved(ROOT / "samples/syntax-error-zombie/files"))
    one.locator("#line").scroll_into_view_if_needed()
    yield one
    assert noise == []
    one.close()


def view(page: Any) -> tuple[float, float]:
    x, _, width, _ = map(float, page.locator("#line").get_attribute("viewBox").split())
    return x, width


def middle(page: Any, selector: str) -> tuple[float, float]:
    box = page.locator(selector).first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def zoom_in(page: Any) -> None:
    page.mouse.move(*middle(page, "#line"))
    page.mouse.wheel(0, -400)
    page.wait_for_timeout(50)


def test_wheel_zooms_around_the_pointer(page: Any) -> None:
    x, width = view(page)
    zoom_in(page)
    nearer_x, nearer = view(page)
    assert nearer < width * 0.8
    assert x < nearer_x < x + width / 2
    ticks = page.locator("#axis text").all_text_contents()
    page.mouse.wheel(0, 400)
    page.wait_for_timeout(50)
    assert view(page)[1] > nearer
    assert ticks != page.locator("#axis text").all_text_contents()


def test_wheel_scrolls_the_page_when_all_is_shown(page: Any) -> None:
    page.locator("#all").click()
    page.mouse.move(*middle(page, "#line"))
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, 300)
    page.wait_for_timeout(400)
    assert page.evaluate("scrollY") > before


def test_drag_moves(page: Any) -> None:
    zoom_in(page)
    x, width = view(page)
    at = middle(page, "#line")
    page.mouse.down()
    page.mouse.move(at[0] + 150, at[1], steps=5)
    page.mouse.up()
    assert view(page)[0] < x
    assert view(page)[1] == pytest.approx(width)
    assert page.evaluate("location.hash") == ""


def test_click_on_a_mark_goes_to_its_line(page: Any) -> None:
    page.mouse.click(*middle(page, ".mark.root.lead .dot"))
    hash_ = page.evaluate("location.hash")
    assert re.fullmatch(r"#(context|script)-\d+-\d+", hash_)
    page.wait_for_timeout(700)
    target = page.locator(hash_)
    assert "syntax error" in target.inner_text()
    box = target.bounding_box()
    assert 0 <= box["y"] <= 900


def test_pointer_shows_the_line(page: Any) -> None:
    page.mouse.move(*middle(page, ".mark.root.lead .dot"))
    page.wait_for_timeout(100)
    assert "syntax error near unexpected token" in page.locator("#tip").inner_text()


def test_keys_and_buttons_zoom(page: Any) -> None:
    _, width = view(page)
    page.locator("#closer").click()
    assert view(page)[1] == pytest.approx(width / 2)
    page.locator(".mark.root.lead").focus()
    page.keyboard.press("+")
    assert view(page)[1] < width / 2
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") != ""
    page.locator("#all").click()
    assert view(page) == (0, 1000)


def test_search_finds_lines_and_opens_their_source(page: Any) -> None:
    page.locator("#find").fill("supraseal")
    found = page.locator("#found a")
    assert found.count() > 0
    assert "benchmark-full.log:" in found.first.inner_text()
    assert not page.locator("details.source[open]").count()
    found.first.click()
    opened_source = page.locator("details.source[open]")
    assert opened_source.count() == 1
    assert "supraseal" in page.evaluate("[...CSS.highlights.get('line')].toString()").lower()


def test_everything_is_there_without_script(browser: Any, saved: Any) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(saved(ROOT / "samples/syntax-error-zombie/files").as_uri())
    assert page.locator(".mark.root").count() >= 1
    assert page.locator("#axis text").count() >= 2
    assert page.locator("#processes li.zombie").count() == 1
    assert page.locator("#script .hit").first.is_visible()
    page.close()


def test_hostile_logs_are_text(browser: Any, tmp_path: Path) -> None:
    report = report_of(folder(tmp_path / "in"))
    file = tmp_path / "r.html"
    file.write_text(render(report), encoding="utf-8")
    assert file.stat().st_size < 2_000_000
    page, noise = opened(browser, file)
    page.wait_for_timeout(300)
    assert noise == []
    assert "owned" not in page.title().split(":")[0]
    assert (
        page.evaluate("document.querySelectorAll('img, iframe, [onerror], [onload], main script, main style').length")
        == 0
    )
    assert page.locator("h1").is_visible()
    text = page.locator("main").inner_text()
    assert "<img src=x onerror=document.title='owned'>" in text
    assert not set(text) & {"\x1b", "\x07", "\u202e", "\u2066"}
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
