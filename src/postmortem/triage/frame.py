"""The rows as a pandas frame: one line for each bundle, with what it is grouped by."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from postmortem.triage.clusters import Cluster, cluster
from postmortem.triage.row import Row

TEXTS = (
    "path", "status", "class", "confidence", "fingerprint", "title", "summary", "when", "host", "kernel", "driver",
    "gpu", "unit", "image", "script", "provider", "region", "version", "id", "error",
)  # fmt: skip
FEW = ("status", "class", "confidence", "host", "kernel", "driver", "gpu", "image", "script", "region", "version")


def frame_of(rows: Iterable[tuple[int, Row]], since: datetime | None = None) -> tuple[Any, list[Cluster]]:
    """(frame, clusters): columns as in the rows, and `offset`, `day`, `hour`, `group`; absent texts are empty."""
    import pandas as pd

    kept = [slim(offset, row) for offset, row in rows if recent(row, since)]
    frame = pd.DataFrame(kept, columns=[*TEXTS, "run_s", "price", "facts", "gaps", "lines", "offset"])
    for column in ("run_s", "price"):
        frame[column] = pd.to_numeric(frame[column])
    frame["day"] = frame["when"].str.slice(0, 10)
    frame["hour"] = frame["when"].str.slice(11, 13)
    frame["group"] = frame["fingerprint"].where(frame["status"] == "failed", "")
    return frame, clustered(frame)


def slim(offset: int, row: Row) -> list[Any]:
    texts = [row.get(c) or "" for c in TEXTS]
    return [*texts, row["run_s"], row["price"], row["facts"], row["gaps"], row["lines"], offset]


def recent(row: Row, since: datetime | None) -> bool:
    """Whether it failed since then; one without a known time is kept."""
    return since is None or not row["when"] or datetime.fromisoformat(row["when"]) >= since


def clustered(frame: Any) -> list[Cluster]:
    """Clusters of the failures without a named cause, written into the frame's groups."""
    unknown = frame.index[(frame["status"] == "failed") & (frame["group"] == "")]
    examples = frame[frame["group"] != ""].drop_duplicates("group")
    named = {str(r["group"]): r["lines"] for _, r in examples.iterrows()}
    found = cluster([frame.at[i, "lines"] for i in unknown], named)
    for one in found:
        frame.loc[unknown[list(one.members)], "group"] = one.id
    return found
