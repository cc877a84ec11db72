"""Rows -> what fails, where, since when, and what to fix first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from postmortem.triage.clusters import Cluster
from postmortem.triage.frame import Fleet, fleet_of
from postmortem.triage.lemons import ALPHA, CHANGE_TEST, LEMON_TEST, changes, lemons
from postmortem.triage.names import label
from postmortem.triage.row import Row
from postmortem.triage.store import Rows, Standing, read_rows, standing

SCHEMA = "postmortem/triage/v1"
BY = ("host", "gpu", "unit", "driver", "image", "script", "region", "day", "hour")
COLUMN = {"serial": "unit", "gpu-unit": "unit", "model": "gpu", "hash": "script"}
MOST_VALUES, MOST_UNREAD = 50, 200
Summary = dict[str, Any]


def summary_of(folder: Path, start: int, since: datetime | None = None, by: Sequence[str] = BY) -> tuple[Summary, Any]:
    """(summary, frame) of the rows in a store; `start` is where the last run's rows begin."""
    known = standing(folder, start)
    fleet = fleet_of(read_rows(folder, known), since)
    frame = fleet.frame
    with Rows(folder) as rows:
        groups = grouped(fleet, known, rows)
    names = {g["id"]: g["label"] for g in groups}
    found: Summary = {
        "schema": SCHEMA,
        "bundles": len(frame),
        "rows_of_this_run": int((frame["offset"] >= start).sum()),
        "since": since.isoformat() if since else None,
        "first": earliest(frame),
        "last": latest(frame),
        "status": counted(frame["status"]),
        "groups": groups,
        "classes": classes(frame, groups),
        "by": {column: values(frame, column) for column in by},
        "lemons": {"test": LEMON_TEST, "alpha": ALPHA, "found": called(lemons(frame), names)},
        "changes": {"test": CHANGE_TEST, "alpha": ALPHA, "found": called(changes(frame), names)},
        "gaps": gaps(frame),
        "cost": cost(frame),
        "unread": unread(frame),
    }
    return found, frame


def columns(asked: str | None) -> tuple[str, ...]:
    """The columns that `--by` names, after the usual ones. Raises ValueError for one that rows do not have."""
    usual = list(BY)
    for name in (asked or "").replace(" ", "").split(","):
        column = COLUMN.get(name, name)
        if column and column not in usual:
            usual.append(column)
    known = {*BY, "unit", "image", "kernel", "version", "provider", "class", "confidence", "status"}
    unknown = [c for c in usual if c not in known]
    if unknown:
        raise ValueError(f"rows have no column {unknown[0]!r}; there are {', '.join(sorted(known))}")
    return tuple(usual)


def earliest(frame: Any) -> str | None:
    dated = frame["when"][frame["when"] != ""]
    return str(dated.min()) if len(dated) else None


def latest(frame: Any) -> str | None:
    dated = frame["when"][frame["when"] != ""]
    return str(dated.max()) if len(dated) else None


def counted(column: Any) -> dict[str, int]:
    return {str(k): int(v) for k, v in sorted(column.value_counts().items(), key=lambda i: (-i[1], i[0]))}


def grouped(fleet: Fleet, known: Standing, whole: Rows) -> list[dict[str, Any]]:
    """Every group of failures, the most frequent first."""
    of = {c.id: c for c in fleet.clusters}
    failed = int((fleet.frame["status"] == "failed").sum())
    found = [
        group(str(name), rows, of.get(str(name)), known)
        | of_example(whole.at(int(rows.iloc[0]["offset"])))
        | {"share": round(len(rows) / failed, 4), "facts": fleet.facts[str(name)].common()}
        for name, rows in fleet.frame.groupby("group")
        if name
    ]
    for one in found:
        cluster = of.get(one["id"])
        one["label"] = label(one, one.pop("title"), cluster.templates if cluster else ())
    return sorted(found, key=lambda g: (-g["count"], g["id"]))


def of_example(row: Row) -> dict[str, Any]:
    """What a group shows of its first bundle."""
    return {
        "class": row["class"],
        "title": row["title"] or "",
        "example": row["path"],
        "example_id": row["id"] or "",
        "summary": row["summary"] or "",
        "lines": row["lines"],
    }


def group(name: str, rows: Any, cluster: Cluster | None, known: Standing) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": name,
        "named": cluster is None,
        "label": "",
        "count": len(rows),
        "hosts": counted(rows["host"][rows["host"] != ""]) if rows["host"].any() else {},
        "first": earliest(rows),
        "last": latest(rows),
        "new": bool(known.paths) and is_new(name, rows, cluster, known),
        "mean_time_to_failure_s": mean(rows["run_s"]),
        "cost": cost(rows),
    }
    if cluster:
        told |= {"templates": list(cluster.templates), "nearest": cluster.nearest, "likeness": cluster.likeness}
    return told


def is_new(name: str, rows: Any, cluster: Cluster | None, known: Standing) -> bool:
    """Whether no earlier run had it; clusters have no lasting id, so their bundles are asked."""
    return not known.paths & set(rows["path"]) if cluster else name not in known.fingerprints


def mean(column: Any) -> float | None:
    known = column.dropna()
    return round(float(known.mean()), 1) if len(known) else None


def classes(frame: Any, groups: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    failed = frame[frame["status"] == "failed"]
    found: list[dict[str, Any]] = []
    for name, rows in failed.groupby("class"):
        found.append(
            {
                "class": str(name) or None,
                "title": str(rows.iloc[0]["title"]) if name else "no cause could be named",
                "count": len(rows),
                "share": round(len(rows) / len(failed), 4),
                "groups": int(rows["group"].nunique()),
                "hosts": int(rows["host"][rows["host"] != ""].nunique()),
                "first": earliest(rows),
                "last": latest(rows),
                "new": all(g["new"] for g in groups if g["class"] == (str(name) or None)),
            }
        )
    return sorted(found, key=lambda c: (-int(c["count"]), str(c["class"])))


def values(frame: Any, column: str) -> list[dict[str, Any]]:
    """Bundles and failures by the values of a column; days and hours in order, others by failures."""
    of = frame[frame[column] != ""]
    found: list[dict[str, Any]] = []
    for value, rows in of.groupby(column):
        failed = rows[rows["status"] == "failed"]
        top = failed["class"][failed["class"] != ""].value_counts()
        found.append(
            {
                "value": str(value),
                "bundles": len(rows),
                "failed": len(failed),
                "share": round(len(failed) / len(rows), 4),
                "top_class": str(sorted(top.items(), key=lambda i: (-i[1], i[0]))[0][0]) if len(top) else None,
            }
        )
    if column in ("day", "hour"):
        return sorted(found, key=lambda v: v["value"])
    return sorted(found, key=lambda v: (-v["failed"], v["value"]))[:MOST_VALUES]


def called(found: list[dict[str, Any]], names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [f | {"label": names.get(f["group"], "all failures")} for f in found]


def gaps(frame: Any) -> dict[str, Any]:
    """What was not collected where no cause could be named, and how often it stood in the way."""
    open_ones = frame[(frame["status"] == "undecided") | ((frame["status"] == "failed") & (frame["fingerprint"] == ""))]
    sources: Counter[str] = Counter()
    classes_open: Counter[str] = Counter()
    for told in open_ones["gaps"]:
        sources.update({gap for gap, _ in told})
        classes_open.update({c for _, opens in told for c in opens})
    return {
        "without_cause": len(open_ones),
        "with_a_gap": sum(bool(g) for g in open_ones["gaps"]),
        "sources": [{"gap": k, "bundles": n} for k, n in ranked(sources)[:20]],
        "left_open": [{"class": k, "bundles": n} for k, n in ranked(classes_open)[:20]],
    }


def ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda i: (-i[1], i[0]))


def cost(rows: Any) -> dict[str, Any] | None:
    """Machine hours that ended in failure, in the currency of the instances' prices; None where none is known."""
    known = rows[(rows["status"] == "failed") & rows["price"].notna() & rows["run_s"].notna()]
    if not len(known):
        return None
    return {"bundles": len(known), "lost": round(float((known["price"] * known["run_s"] / 3600).sum()), 2)}


def unread(frame: Any) -> list[dict[str, str]]:
    bad = frame[frame["error"] != ""].sort_values("path")
    return [{"path": str(r["path"]), "error": str(r["error"])} for _, r in bad.head(MOST_UNREAD).iterrows()]
