"""Hosts and GPUs with more failures than chance explains, and what changed when."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from postmortem.triage.chance import binomial_tail, fisher_tail, holm

ALPHA = 0.01  # after the correction
LEAST = 3  # failures; two are an accident
HEALTHY_SHARE = 0.05  # of all bundles, from which the number of bundles says how often a host ran
VERSIONS = ("driver", "image", "script", "kernel", "version")
LEMON_TEST = (
    "exact binomial, one-sided: k of a group's n failures on one host, by the host's share of all bundles (a GPU: by "
    "its share of all failures); for all failures together where hardly a healthy bundle is archived, by an equal "
    "share of the hosts; Holm over all pairs tested"
)
CHANGE_TEST = (
    "Fisher's exact test, one-sided: failures of the group among all bundles since a day against those before, at the "
    "best day; Holm over all days and groups"
)


def lemons(frame: Any) -> list[dict[str, Any]]:
    """Units (a host, a GPU) and groups that go together more than they should, surest first."""
    found: list[dict[str, Any]] = []
    failed = frame[frame["group"] != ""]
    for column in ("host", "unit"):
        found += pairs(frame, failed, column) + totals(frame, failed, column)
    for item, p in zip(found, holm([f["p"] for f in found]), strict=True):
        item["p_corrected"] = p
    return sorted((f for f in found if f["p_corrected"] <= ALPHA), key=lambda f: (f["p_corrected"], f["value"]))


def pairs(frame: Any, failed: Any, column: str) -> list[dict[str, Any]]:
    """One group on one unit, by the unit's share of everything that was archived."""
    base = frame if column == "host" else failed
    of = base[base[column] != ""]
    share, total = of[column].value_counts(), len(of)
    known = failed[failed[column] != ""]
    sizes = known["group"].value_counts()
    found = []
    for (group, value), k in known.groupby(["group", column], sort=True).size().items():
        n, p = int(sizes[group]), int(share[value]) / total
        if k >= LEAST and len(share) > 1:
            found.append(item(column, value, group, int(k), n, p))
    return found


def totals(frame: Any, failed: Any, column: str) -> list[dict[str, Any]]:
    """All failures of a unit together."""
    of = frame[frame[column] != ""]
    counts = failed[failed[column] != ""][column].value_counts()
    units, n = of[column].value_counts(), int(counts.sum())
    healthy = len(frame) and (frame["status"] == "healthy").mean() >= HEALTHY_SHARE
    by_share = healthy and column == "host"
    return [
        item(column, value, "", int(k), n, int(units[value]) / len(of) if by_share else 1 / len(units))
        for value, k in sorted(counts.items())
        if k >= LEAST and len(units) > 1
    ]


def item(column: str, value: str, group: str, k: int, n: int, share: float) -> dict[str, Any]:
    return {
        "unit": column, "value": value, "group": group, "failures": k, "of": n, "expected": round(n * share, 2),
        "p": binomial_tail(k, n, share),
    }  # fmt: skip


def changes(frame: Any) -> list[dict[str, Any]]:
    """Groups that became more frequent from a day on, with the versions first seen then."""
    dated = frame[frame["day"] != ""]
    days = sorted(dated["day"].unique())
    per_day = dated.groupby("day").size().reindex(days).cumsum()
    total, found = len(dated), []
    for group, rows in dated[dated["group"] != ""].groupby("group", sort=True):
        if len(rows) < LEAST or len(days) < 2:
            continue
        ours = rows.groupby("day").size().reindex(days, fill_value=0).cumsum()
        for before, day in pairwise(days):
            bundles, after = int(total - per_day[before]), int(len(rows) - ours[before])
            p = fisher_tail(after, bundles, len(rows), total)
            found.append((p, str(group), str(day), str(before), after, bundles, len(rows)))
    corrected = holm([f[0] for f in found])
    best: dict[str, dict[str, Any]] = {}
    for (p, group, day, before, after, bundles, size), sure in sorted(zip(found, corrected, strict=True)):
        if sure <= ALPHA and group not in best:
            best[group] = {
                "group": group, "day": day, "after": after, "before": size - after, "bundles_after": bundles,
                "bundles_before": total - bundles, "p": p, "p_corrected": sure,
                "versions": came(dated, group, before, day),
            }  # fmt: skip
    return sorted(best.values(), key=lambda c: (c["p_corrected"], c["group"]))


def came(dated: Any, group: str, before: str, day: str) -> list[dict[str, str]]:
    """Values of the version columns that were never seen up to the day before, and that the group's failures have."""
    ours = dated[(dated["group"] == group) & (dated["day"] >= day)]
    found = []
    for column in VERSIONS:
        old = set(dated[dated["day"] <= before][column])
        new = ours[(ours[column] != "") & ~ours[column].isin(old)]
        for value, count in new[column].value_counts().items():
            if count * 2 >= len(ours):
                found.append({"what": column, "value": str(value), "share": round(count / len(ours), 2)})
    return found
