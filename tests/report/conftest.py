"""Reports of real folders, and a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import postmortem

ROOT = Path(__file__).parent.parent.parent
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@cache
def report_of(folder: Path) -> Any:
    """The report on a folder, made once."""
    return postmortem.analyze(folder)


@pytest.fixture(scope="session")
def sample() -> Any:
    return report_of(ROOT / "samples/syntax-error-zombie/files")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium of the system."""
    if CHROMIUM is None:
        pytest.skip("no chromium here: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()
