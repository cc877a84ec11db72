"""Takes the pictures of README: python tests/report/screenshots.py docs/images; add a folder for all widths and schemes to look at."""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import postmortem
from postmortem.report.html import render

CASES = Path(__file__).parent.parent / "cases/open"
SHOWN = {
    "report-script": ("app/app-seed-rtx5090-syntax-zombie", 1270),
    "report-oom": ("sys/oom-cgroup-pod-slice-lxc-01", 1790),
    "report-xid79": ("gpu/gpu-fell-off-bus-power-01", 1450),
}
IN_README = ("report-script", "report-oom")


def page_of(case: str, folder: Path) -> Path:
    """The report of a case as a file, with a short name of the input."""
    report = postmortem.analyze(CASES / case / "files")
    file = folder / f"{case.rpartition('/')[2]}.html"
    file.write_text(render({**report, "input": {**report["input"], "path": "bundle.tar.gz"}}), encoding="utf-8")
    return file


def shot(browser: Browser, page: Path, file: Path, width: int, height: int, scheme: str) -> None:
    """The upper part of a page, or all of it for height 0, in 256 colours."""
    tab = browser.new_page(viewport={"width": width, "height": height or 900}, color_scheme=scheme)
    tab.goto(page.as_uri())
    tab.wait_for_timeout(300)
    tab.screenshot(path=file, full_page=not height)
    tab.close()
    Image.open(file).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        file, optimize=True
    )


def main(images: Path, looks: Path | None) -> None:
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, (case, height) in SHOWN.items():
            page = page_of(case, looks or images)
            if name in IN_README:
                shot(browser, page, images / f"{name}.png", 1120, height, "light")
            for width in (1280, 390) if looks else ():
                for scheme in ("light", "dark"):
                    shot(browser, page, (looks or images) / f"{name}.{width}.{scheme}.png", width, 0, scheme)
            if not looks:
                page.unlink()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
