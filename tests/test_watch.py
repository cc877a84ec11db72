"""Where the time goes (`--profile`) and how far it is (on a terminal)."""

from __future__ import annotations

import io
import time
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner

from postmortem.cli import cli
from postmortem.cli.progress import progress
from postmortem.watch import Watch

LOG = "2026-03-01T10:00:00Z INFO start\n2026-03-01T10:00:05Z FATAL cannot bind to 0.0.0.0:80: address already in use\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_stages_add_up_and_a_slow_signature_is_named() -> None:
    ticks = count(0.0, 0.5)
    watch = Watch(lambda: next(ticks))
    for name in ("read", "report", "read"):
        with watch.stage(name):
            watch.scanned(500_000)
    watch.signatures.update({"a.fast": 0.01, "b.slow": 0.3, **{f"c.{n}": 0.001 for n in range(20)}})
    lines = watch.table().splitlines()
    assert lines[:3] == ["   1000.0 ms  read", "    500.0 ms  report", "      1.5 MB  scanned"]
    assert lines[3:5] == ["    300.0 ms  signature b.slow  slow", "     10.0 ms  signature a.fast"]
    assert len(lines) == 13


def test_profile_says_where_the_time_goes(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(LOG)
    done = CliRunner().invoke(cli, ["analyze", str(tmp_path), "--profile"])
    assert done.exit_code == 0
    for stage in (
        "catalogue",
        "read and scan",
        "time line",
        "parsers",
        "detectors",
        "signatures",
        "diagnosis",
        "report",
    ):
        assert f" ms  {stage}\n" in done.stderr
    assert "ms  signature network.port-in-use" in done.stderr
    assert " ms " not in CliRunner().invoke(cli, ["analyze", str(tmp_path)]).stderr


@pytest.mark.parametrize(
    ("out", "after_s", "told"),
    [
        pytest.param(Terminal(), 0.0, True, id="a terminal"),
        pytest.param(io.StringIO(), 0.0, False, id="a pipe"),
        pytest.param(Terminal(), 5.0, False, id="done before a second is over"),
    ],
)
def test_progress(out: io.StringIO, after_s: float, told: bool) -> None:
    watch = Watch()
    with progress(watch, out, after_s), watch.stage("read and scan"):
        watch.scanned(7_000_000)
        time.sleep(0.5)
    assert ("read and scan: 7 MB, 0 s" in out.getvalue()) is told
    assert out.getvalue().endswith("\r\x1b[K") is told
