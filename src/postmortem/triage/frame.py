"""The rows as a pandas frame: one line for each bundle, with what it is grouped by, and no more than that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from postmortem.triage.clusters import Cluster, cluster
from postmortem.triage.row import Row
from postmortem.triage.shared import Shared

TEXTS = (
    "path", "status", "class", "confidence", "fingerprint", "title", "when", "day", "hour", "host", "kernel", "driver",
    "gpu", "unit", "image", "script", "provider", "region", "version", "error",
)  # fmt: skip
OTHERS = ("run_s", "price", "gaps", "lines", "offset")
UNIQUE = frozenset({"path", "when"})  # nearly every row has another one


@dataclass(slots=True)
class Fleet:
    """The frame (absent texts are empty), the clusters of unknown failures, and the facts that groups agree on.

    `offset` says where the whole row stands in the store. `gaps` and `lines` are there only for bundles without a
    named cause, and the lines for the first failure of each named one.
    """

    frame: Any
    clusters: list[Cluster]
    facts: dict[str, Shared] = field(default_factory=dict)


def fleet_of(rows: Iterable[tuple[int, Row]], since: datetime | None = None) -> Fleet:
    """Everything that the summary is made of, in about 0.5 kB a row."""
    import pandas as pd

    columns: dict[str, list[Any]] = {name: [] for name in (*TEXTS, *OTHERS)}
    known: dict[Any, Any] = {}  # each value once
    facts: dict[str, Shared] = defaultdict(Shared)
    unnamed: dict[int, dict[str, Any]] = {}
    for offset, row in rows:
        if not recent(row, since):
            continue
        name = row["fingerprint"] if row["status"] == "failed" else None
        new = bool(name) and name not in facts
        if name:
            facts[name].add(row["facts"])
        elif name is not None:
            unnamed[len(columns["path"])] = row["facts"]
        add(columns, known, row, offset, new or not row["fingerprint"])
    frame = pd.DataFrame(columns)
    for column in ("run_s", "price"):
        frame[column] = pd.to_numeric(frame[column])
    frame["group"] = frame["fingerprint"].where(frame["status"] == "failed", "")
    clusters = clustered(frame)
    for at, told in unnamed.items():
        facts[str(frame.at[at, "group"])].add(told)
    return Fleet(frame, clusters, dict(facts))


def add(columns: dict[str, list[Any]], known: dict[Any, Any], row: Row, offset: int, whole: bool) -> None:
    """One row more; a text that many rows have is held once."""
    when = row["when"] or ""
    texts = {**row, "day": when[:10], "hour": when[11:13]}
    for name in TEXTS:
        value = texts.get(name) or ""
        columns[name].append(value if name in UNIQUE else known.setdefault(value, value))
    columns["run_s"].append(row["run_s"])
    columns["price"].append(row["price"])
    columns["offset"].append(offset)
    columns["lines"].append(tuple(known.setdefault(x, x) for x in row["lines"]) if whole else ())
    told = ((f"{g['source'] or 'the archive'}: {g['state']}", tuple(g["opens"])) for g in row["gaps"])
    gaps = tuple(told) if row["status"] == "undecided" or not row["fingerprint"] else ()
    columns["gaps"].append(known.setdefault(gaps, gaps))


def recent(row: Row, since: datetime | None) -> bool:
    """Whether it failed since then; one without a known time is kept."""
    return since is None or not row["when"] or datetime.fromisoformat(row["when"]) >= since


def clustered(frame: Any) -> list[Cluster]:
    """Clusters of the failures without a named cause, written into the frame's groups."""
    unknown = frame.index[(frame["status"] == "failed") & (frame["group"] == "")]
    examples = frame[frame["group"] != ""].drop_duplicates("group")
    named = dict(zip(examples["group"], examples["lines"], strict=True))
    found = cluster([frame.at[i, "lines"] for i in unknown], named)
    for one in found:
        frame.loc[unknown[list(one.members)], "group"] = one.id
    return found
