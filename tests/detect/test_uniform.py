"""Logs of one form of stamp: what their form says is what a look at every line says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scene_texts import log, scene, seen

from postmortem.detect import reorder, torn
from postmortem.detect.looking import kept
from postmortem.detect.uniform import uniform
from postmortem.model import Kind

PLAIN = [f"2026-05-01T12:{i:02d}:00Z INFO worker: item {i}" for i in range(20)]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        pytest.param(PLAIN, ("0000-00-00T00:00:00Z", (), (), 0.0), id="all-lines"),
        pytest.param([*PLAIN, "Traceback:"], ("0000-00-00T00:00:00Z", (21,), (), 0.0), id="one-line-without"),
        pytest.param([*PLAIN, PLAIN[3]], ("0000-00-00T00:00:00Z", (), (), 960.0), id="a-stamp-goes-back"),
        pytest.param(
            [*PLAIN, f"{PLAIN[19]}2026-05-01T12:19:00Z x"], ("0000-00-00T00:00:00Z", (), (21,), 0.0), id="glued"
        ),
        pytest.param(
            [f"2026/05/01 12:00:{i:02d} main.go:1: x" for i in range(9)], ("0000/00/00 00:00:00", (), (), 0.0), id="go"
        ),
        pytest.param(
            ["2026-05-01T12:00:00+02:00 a"] * 9 + ["2026-05-01T11:30:00+01:00 b"],
            ("0000-00-00T00:00:00+00:00", (), (), 0.0),
            id="two-zones-are-one-time",
        ),
        pytest.param(PLAIN[:5], None, id="few-lines"),
        pytest.param(PLAIN[:9] + ["text"] * 9, None, id="half-of-the-lines"),
        pytest.param([f"{line[:10]} {line[11:19]} UTC {line[20:]}" for line in PLAIN], None, id="zone-by-name"),
        pytest.param([f"[{line}" for line in PLAIN], None, id="brackets"),
        pytest.param([f"2026-13-45T12:{i:02d}:00Z x" for i in range(9)], None, id="no-dates"),
        pytest.param([f"{line}\a" for line in PLAIN], None, id="control-characters"),
    ],
)
def test_what_the_lines_have_in_common(lines: list[str], told: tuple[object, ...] | None) -> None:
    found = uniform(scene(log("\n".join(lines) + "\n")).readings[0])
    assert (found and (found.form, found.others, found.inside, found.back_s)) == told


ROWS = st.lists(
    st.tuples(
        st.integers(0, 90),
        st.sampled_from(["INFO a: x", "ERROR b: y", "", "x2026-05-01T12:00:07Z INFO a: x", "+ grep -c a f"]),
        st.sampled_from(["", "", "", "", "", "torn", "bare", "other"]),
    ),
    min_size=8,
    max_size=40,
)


def row(second: int, message: str, kind: str) -> str:
    stamp = f"2026-05-01T12:{second // 60:02d}:{second % 60:02d}Z"
    return {"torn": stamp[:13] + message, "bare": message, "other": f"{stamp[:10]} 12:00:01 {message}"}.get(
        kind, f"{stamp} {message}"
    )


@settings(max_examples=150)
@given(ROWS, st.booleans())
def test_the_short_way_finds_what_the_long_way_finds(rows: list[tuple[int, str, str]], in_order: bool) -> None:
    if in_order:
        rows = sorted(rows, key=lambda r: r[0])
    text = "\n".join(row(*r) for r in rows) + "\n"
    made = scene(log(text)).readings[0]
    lines = kept(made)
    shape = torn.usual_shape(lines)
    long_way = [tear for line in lines if shape and (tear := torn.torn(line, shape)) is not None]
    assert torn.torn_in(made) == long_way[:8]
    short = [(e.line, e.fields) for e in seen(reorder.DETECTOR, log(text))[0]]
    entries = reorder.entries(lines)
    found = [e for b in reorder.judged(reorder.backs(entries), entries) for e in reorder._event(made, b)]
    if reorder.in_order(made):
        assert found == []
        assert short == []


def test_a_log_in_order_is_seen_to_be_so() -> None:
    made = scene(log("\n".join(PLAIN) + "\n")).readings[0]
    assert reorder.in_order(made)
    assert not reorder.in_order(scene({"a.log": (Kind.LOG, "\n".join([*PLAIN, "phase 2: x"]) + "\n")}).readings[0])
