"""A run that names its phases and stops before the last."""

from __future__ import annotations

import pytest
from scene_texts import log, seen

from postmortem.detect.unfinished import DETECTOR

ROWS = [
    ("stopped in phase 1 of 3", "=== Benchmark ===\nphase 1/3: warmup\nphase 1/3: done\nboom\n", {"phase": "1", "phases": "3", "benchmark": "yes"}),
    ("stage n of m, no benchmark", "stage 2 of 4 load\n", {"phase": "2", "phases": "4"}),
    ("reached the last", "=== Benchmark ===\nphase 1/2\nphase 2/2\n", None),
    ("a fraction of something else", "loaded 3/7 shards\n", None),
    ("no plan", "starting\ndone\n", None),
]


@pytest.mark.parametrize(("text", "fields"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_unfinished(text: str, fields: dict[str, str] | None) -> None:
    events, _ = seen(DETECTOR, log(text))
    assert [dict(e.fields) for e in events] == ([] if fields is None else [{"file": "run.log", **fields}])
