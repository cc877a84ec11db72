"""Reports of real folders, each made once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import postmortem

ROOT = Path(__file__).parent.parent.parent


@cache
def report_of(folder: Path) -> Any:
    """The report on a folder, made once."""
    return postmortem.analyze(folder)
