"""What is news: against a healthy run of the same kind, and without one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from postmortem import analyze
from postmortem.diagnose.trouble import is_trouble
from postmortem.lines import split

BEGIN = ["INFO starting simd 2.4.1 on node-3", "WARN config key legacy_mode is deprecated", "INFO errors so far: 0"]
TILES = [f"INFO tile {n}/40 rendered in {300 + 7 * n} ms" for n in range(1, 41)]
END = ["INFO written 40 tiles, 0 skipped", "INFO rate 0.829 tiles/s", "INFO leaving"]
GOOD = [*BEGIN, "ERROR telemetry endpoint did not answer, going on without", *TILES, *END]
BROKEN = "ERROR lattice 4411 cannot converge: residual 3.2e+11 grew for 50 sweeps"


def log(folder: Path, name: str, rows: Sequence[str], day: int = 1) -> Path:
    """A log with a stamp on each line, three seconds apart."""
    at = folder / name
    at.mkdir()
    lines = [f"2026-05-{day:02}T12:{n * 3 // 60:02}:{n * 3 % 60:02}Z {row}" for n, row in enumerate(rows)]
    (at / "simd.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return at


def news(report: dict[str, Any]) -> list[str]:
    """The messages, without their stamps."""
    return [n["text"].partition("Z ")[2] for n in report["news"]]


@pytest.mark.parametrize(
    ("rows", "status", "first", "absent"),
    [
        pytest.param([*GOOD[:20], BROKEN, "ERROR giving up"], "failed", [BROKEN, "ERROR giving up"], "telemetry", id="new-errors-come-first"),
        pytest.param(GOOD[:20], "failed", [END[0]], "tile", id="stops-short-of-the-healthy-end"),
        pytest.param([*GOOD[:-2], "INFO rate 0.000 tiles/s", END[2]], "failed", ["INFO rate 0.000 tiles/s"], "tile", id="zero-where-it-never-is"),
        pytest.param(GOOD, "undecided", [], "", id="the-same-run-again"),
        pytest.param([r.replace("node-3", "node-77").replace("40", "52") for r in GOOD], "undecided", [], "", id="other-names-and-sizes"),
        pytest.param([*GOOD[:9], "INFO loaded cache of 77 MB from /opt/x/cache.bin", *GOOD[9:]], "undecided", ["INFO loaded cache of 77 MB from /opt/x/cache.bin"], "", id="a-new-line-alone-is-no-failure"),
        pytest.param([*GOOD[:9], "ERROR cell 7 failed, computed again", *GOOD[9:]], "undecided", ["ERROR cell 7 failed, computed again"], "", id="new-trouble-and-yet-the-same-end"),
    ],
)  # fmt: skip
def test_against_a_healthy_run(tmp_path: Path, rows: list[str], status: str, first: list[str], absent: str) -> None:
    report = analyze(log(tmp_path, "run", rows, day=2), baseline=log(tmp_path, "good", GOOD))
    assert report["status"] == status
    assert news(report)[: len(first)] == first
    assert bool(report["news"]) == bool(first)
    assert not absent or not [n for n in news(report) if absent in n and n not in first]
    assert report["root_cause"] is None


def test_a_missing_end_is_quoted_from_the_baseline(tmp_path: Path) -> None:
    report = analyze(log(tmp_path, "run", GOOD[:20]), baseline=log(tmp_path, "good", GOOD))
    assert report["news"][0]["source"] == "baseline/simd.log"
    assert report["news"][0]["line"] == GOOD.index(END[0]) + 1


@pytest.mark.parametrize(
    ("in_baseline", "root"),
    [(True, None), (False, "network.port-in-use")],
    ids=["a-line-of-every-healthy-run", "a-new-line"],
)
def test_a_finding_that_rests_on_lines_of_the_healthy_run_is_ruled_out(
    tmp_path: Path, in_baseline: bool, root: str | None
) -> None:
    fault = "ERROR bind 127.0.0.1:9820: Address already in use (os error 98)"
    good = [*BEGIN, *([fault] if in_baseline else []), *TILES, *END]
    report = analyze(log(tmp_path, "run", [*BEGIN, *TILES[:5], fault], day=2), baseline=log(tmp_path, "good", good))
    assert report["status"] == "failed"
    assert (report["root_cause"] or {}).get("class") == root
    assert [r["reason"] for r in report["ruled_out"] if r["class"] == "network.port-in-use"] == (
        ["the healthy run has the same line"] if in_baseline else []
    )


@pytest.mark.parametrize(
    ("rows", "status", "expected"),
    [
        pytest.param([*GOOD[:20], BROKEN], "failed", [GOOD[3], BROKEN, GOOD[19]], id="trouble-then-last-progress"),
        pytest.param(GOOD[4:30], "undecided", [GOOD[29]], id="nothing-but-progress"),
        pytest.param([*TILES[:9], *[f"ERROR peer {n} lost" for n in range(8)], BROKEN], "failed", [BROKEN, TILES[8]], id="what-this-log-always-says-is-left-out"),
    ],
)  # fmt: skip
def test_unknown_failures_without_a_healthy_run(
    tmp_path: Path, rows: list[str], status: str, expected: list[str]
) -> None:
    report = analyze(log(tmp_path, "run", rows))
    assert report["status"] == status
    assert report["root_cause"] is None
    assert news(report) == expected
    assert all(n["why"] and n["line"] for n in report["news"])
    assert bool(report["would_decide"])


def test_a_known_cause_needs_no_first_look(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(
        "2026-05-01T12:00:00Z ERROR bind 127.0.0.1:9820: Address already in use (os error 98)\n"
    )
    report = analyze(tmp_path)
    assert report["root_cause"]["class"] == "network.port-in-use"
    assert report["root_cause"]["confidence"] == "low" or report["news"] == []


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("2026-05-01T12:00:00Z ERROR widget jammed", True),
        ("could not open the valve", True),
        ("worker 3 crashed", True),
        ("errors: 0", False),
        ("errors so far: 0", False),
        ("finished without errors", False),
        ("0 failed, 12 passed", False),
        ("2026-05-01T12:00:00Z DEBUG retry failed", False),
        ("set on_error=off", False),
        ("tile 3/40 rendered", False),
        ("3 failed, 12 passed", True),
    ],
)
def test_words_of_trouble(raw: str, expected: bool) -> None:
    assert is_trouble(split(raw)) is expected
