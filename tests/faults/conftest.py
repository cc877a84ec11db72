"""The way to the collector's helpers, and the table that the run leaves in docs/reliability.md."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "collect"))


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder that other users may enter, which pytest's own may not."""
    folder = Path(tempfile.mkdtemp(prefix="pm-fault-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the table after a run that was asked to: POSTMORTEM_WRITE_DOCS=1, as `make test-all` does."""
    if os.environ.get("POSTMORTEM_WRITE_DOCS") and not hasattr(session.config, "workerinput"):
        from reliability import write

        write()
