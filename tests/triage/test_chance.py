"""Exact tails against counts by hand, and who is a lemon."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import pandas as pd
import pytest

from postmortem.triage.chance import binomial_tail, fisher_tail, holm
from postmortem.triage.lemons import changes, lemons


@pytest.mark.parametrize(("k", "n", "p"), [(0, 5, 0.3), (1, 5, 0.3), (5, 5, 0.3), (3, 40, 0.01), (7, 9, 0.9)])
def test_binomial(k: int, n: int, p: float) -> None:
    assert binomial_tail(k, n, p) == pytest.approx(sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1)))


@pytest.mark.parametrize(
    ("k", "drawn", "marked", "total"), [(2, 3, 4, 7), (0, 3, 4, 7), (3, 3, 4, 7), (1, 5, 2, 8), (3, 5, 5, 6)]
)
def test_fisher(k: int, drawn: int, marked: int, total: int) -> None:
    """Every way to draw, counted."""
    draws = list(combinations(range(total), drawn))
    assert fisher_tail(k, drawn, marked, total) == pytest.approx(
        sum(sum(i < marked for i in d) >= k for d in draws) / len(draws)
    )


@pytest.mark.parametrize(
    ("given", "want"),
    [([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]), ([0.5, 0.6], [1.0, 1.0]), ([], []), ([0.2], [0.2])],
    ids=["step down", "at most 1", "none", "one"],
)
def test_holm(given: list[float], want: list[float]) -> None:
    assert holm(given) == pytest.approx(want)


def frame(rows: list[tuple[str, str, int]], unit: str = "") -> Any:
    """(host, group, how often) -> a frame; group "" is a healthy run."""
    told = [
        (host, group, "failed" if group else "healthy", unit, "") for host, group, count in rows for _ in range(count)
    ]
    return pd.DataFrame(told, columns=["host", "group", "status", "unit", "day"])


HOSTS = [f"h{n}" for n in range(20)]
LEMONS = {
    "one host has the fault": ([*((h, "", 10) for h in HOSTS), ("h3", "xid", 6), ("h4", "xid", 1)], {("h3", "xid"), ("h3", "")}),
    "spread evenly": ([*((h, "xid", 3) for h in HOSTS), *((h, "", 5) for h in HOSTS)], set()),
    "a busy host has its share": ([*((h, "", 10) for h in HOSTS), ("h3", "", 200), ("h3", "oom", 12), *((h, "oom", 1) for h in HOSTS)], set()),
    "two failures are an accident": ([*((h, "", 50) for h in HOSTS), ("h3", "xid", 2)], set()),
    "only failures are archived": ([*((h, "oom", 4) for h in HOSTS), ("h3", "xid", 9)], {("h3", "xid")}),
    "one host alone": ([("h1", "xid", 9)], set()),
    "no host is known": ([("", "xid", 9), ("", "", 9)], set()),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "want"), LEMONS.values(), ids=LEMONS)
def test_lemons(rows: list[tuple[str, str, int]], want: set[tuple[str, str]]) -> None:
    found = {(i["value"], i["group"]) for i in lemons(frame(rows)) if i["unit"] == "host"}
    assert want <= found
    assert bool(found) == bool(want)


def test_a_p_value_is_stated_and_corrected() -> None:
    worst = lemons(frame([*((h, "", 10) for h in HOSTS), ("h3", "xid", 6)]))[0]
    assert (worst["failures"], worst["of"]) == (6, 6)
    assert worst["p"] == pytest.approx((16 / 206) ** 6)
    assert worst["p"] < worst["p_corrected"] < 0.01


def dated(rows: list[tuple[str, str, str, int]]) -> Any:
    """(day, group, driver, how often)."""
    told = [
        (day, group, "failed" if group else "healthy", driver, "", "", "", "1")
        for day, group, driver, n in rows
        for _ in range(n)
    ]
    return pd.DataFrame(told, columns=["day", "group", "status", "driver", "image", "script", "kernel", "version"])


DAYS = [f"2026-06-{n:02d}" for n in range(1, 11)]
OLD = [(d, "", "570.1", 20) for d in DAYS[:5]]
NEW = [(d, "", "580.2", 20) for d in DAYS[5:]]
CHANGES = {
    "with a new driver": (OLD + NEW + [(d, "gsp", "580.2", 5) for d in DAYS[5:]], [("gsp", DAYS[5], ["580.2"])]),
    "without any": (OLD + [(d, "", "570.1", 20) for d in DAYS[5:]] + [(d, "gsp", "570.1", 5) for d in DAYS[5:]], [("gsp", DAYS[5], [])]),
    "always the same": (OLD + NEW + [(d, "gsp", "570.1", 2) for d in DAYS], []),
    "more bundles, not more of them": ([(d, "", "1", 5) for d in DAYS[:5]] + [(d, "", "1", 100) for d in DAYS[5:]] + [(d, "gsp", "1", 1) for d in DAYS], []),
    "it became better": (OLD + NEW + [(d, "gsp", "570.1", 5) for d in DAYS[:5]], []),
    "one day only": ([(DAYS[0], "gsp", "1", 9), (DAYS[0], "", "1", 9)], []),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "want"), CHANGES.values(), ids=CHANGES)
def test_changes(rows: list[tuple[str, str, str, int]], want: list[tuple[str, str, list[str]]]) -> None:
    found = [(c["group"], c["day"], [v["value"] for v in c["versions"]]) for c in changes(dated(rows))]
    assert found == want
