"""The rows of a store as a frame: what stands, what is shared, and how little of it is held."""

from __future__ import annotations

import json
import tracemalloc
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.triage.chance import binomial_tail, fisher_tail
from postmortem.triage.frame import fleet_of
from postmortem.triage.row import COLUMNS, line_of
from postmortem.triage.shared import VALUES, Shared
from postmortem.triage.store import ROWS, Rows, head_of, read_rows, standing


def row(path: str, fingerprint: str = "aa01", status: str = "failed", **more: Any) -> dict[str, Any]:
    told = {"path": path, "status": status, "class": "gpu.lost", "confidence": "high", "fingerprint": fingerprint}
    empty = {"facts": {}, "gaps": [], "lines": [], "chain": [], "id": "", "title": "A GPU is lost"}
    return dict.fromkeys(COLUMNS) | told | empty | more


def kept(folder: Path, *rows: dict[str, Any], tail: bytes = b"") -> Path:
    (folder / ROWS).write_bytes(b"".join(line_of(r).encode() + b"\n" for r in rows) + tail)
    return folder


HEADS = {
    "a row": (line_of(row("a.tar.gz")) + "\n", ("a.tar.gz", "aa01")),
    "quotes and backslashes in the path": (line_of(row('a"\\,"fingerprint":"ffff"')) + "\n", ('a"\\,"fingerprint":"ffff"', "aa01")),
    "no cause": (line_of(row("a", "") | {"class": None, "confidence": None}) + "\n", ("a", "")),
    "healthy": (line_of(row("a", status="healthy") | {"fingerprint": None}) + "\n", ("a", "")),
    "keys in another order": ('{"fingerprint": "bb", "path": "a"}\n', ("a", "bb")),
    "cut": (line_of(row("a"))[:-5] + "\n", None),
    "without its end": (line_of(row("a"))[:-5], None),
    "no row": ("[]\n", None),
}  # fmt: skip


@pytest.mark.parametrize(("line", "want"), HEADS.values(), ids=HEADS)
def test_the_head_of_a_row(line: str, want: tuple[str, str] | None) -> None:
    assert head_of(line.encode()) == want


def test_the_last_row_of_a_path_stands(tmp_path: Path) -> None:
    kept(tmp_path, row("a", "01"), row("b", "02"), row("a", "03"), tail=b'{"path":"b","status":"fai\n')
    offsets = [offset for offset, _ in read_rows(tmp_path)]
    assert [(r["path"], r["fingerprint"]) for _, r in read_rows(tmp_path)] == [("b", "02"), ("a", "03")]
    with Rows(tmp_path) as whole:
        assert [whole.at(offset)["path"] for offset in offsets] == ["b", "a"]
    assert standing(tmp_path, offsets[1]).fingerprints == {"01", "02"}


def test_a_row_costs_little_memory(tmp_path: Path) -> None:
    """Long texts of their own in every row, as real ones have."""
    count = 4000
    facts = {f"fact{n}": "some value of a fact" for n in range(15)}
    made = [
        row(f"{n:06d}.tar.gz", f"{n % 90:04x}", summary=f"summary {n} " * 9, facts=facts | {"pid": n}, host=f"h{n % 40}",
            lines=[f"line {n} {i} " * 9 for i in range(3)], when=f"2026-06-11T03:{n // 60 % 60:02d}:{n % 60:02d}+00:00",
            gaps=[{"source": "kernel log", "state": "denied", "opens": ["memory.oom-kill-host"]}])
        for n in range(count)
    ]  # fmt: skip
    kept(tmp_path, *made)
    assert (tmp_path / ROWS).stat().st_size > 1400 * count
    del made
    fleet_of(read_rows(tmp_path))  # pandas itself
    tracemalloc.start()
    fleet = fleet_of(read_rows(tmp_path))
    held, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(fleet.frame) == count
    assert held < 700 * count
    assert most < 1400 * count


def test_what_four_in_five_agree_on() -> None:
    shared = Shared()
    for n in range(1000):
        shared.add({"pid": n, "xid": 79 if n % 10 else 48, "comm": "a" if n % 2 else "b", "list": [1], "all": True})
    assert shared.common() == {"all": True, "xid": 79}
    assert len(shared._counts["pid"]) <= VALUES


@settings(max_examples=200)
@given(st.integers(1, 60), st.data())
def test_tails_are_exact(total: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, total + 1))
    p = data.draw(st.sampled_from([0.001, 0.05, 0.3, 0.5, 0.9, 0.999]))
    want = sum(comb(total, i) * Fraction(p) ** i * (1 - Fraction(p)) ** (total - i) for i in range(k, total + 1))
    assert binomial_tail(k, total, p) == pytest.approx(float(want), rel=1e-9, abs=0)
    marked, drawn = data.draw(st.integers(0, total)), data.draw(st.integers(0, total))
    ways = sum(comb(marked, i) * comb(total - marked, drawn - i) for i in range(k, min(marked, drawn) + 1))
    assert fisher_tail(k, drawn, marked, total) == pytest.approx(ways / comb(total, drawn), rel=1e-9, abs=0)


def test_a_large_fleet_is_no_strain() -> None:
    assert 0 < binomial_tail(700, 1_000_000, 0.0005) < 1e-15
    assert fisher_tail(900, 400_000, 1000, 1_000_000) == pytest.approx(0, abs=1e-200)
    assert json.loads(json.dumps(fisher_tail(1, 2, 3, 1_000_000))) > 0
