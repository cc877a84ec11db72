"""The beginning of a signature for a cluster of failures that no signature knows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from postmortem.errors import PostmortemError
from postmortem.lines import split
from postmortem.report.masks import masked
from postmortem.triage.clusters import PREFIX, template
from postmortem.triage.frame import fleet_of
from postmortem.triage.store import read_rows

STANDS_FOR = {
    "<n>": r"\d+(?:\.\d+)?", "<hex>": r"[0-9a-fA-Fx_]+", "<uuid>": r"[0-9a-fA-F_-]{36}", "<pci>": r"[0-9a-fA-F:.]+",
    "<ip>": r"[\d.:]+", "<time>": r"[\dTZ:.,+ -]+", "<url>": r"\S+", "<dir>": r"(?:/[\w.@+:-]+)*",
    "<mac>": r"[0-9a-fA-F:]{17}", "<hidden>": r"\S+",
}  # fmt: skip
STAND_IN = re.compile("(" + "|".join(map(re.escape, STANDS_FOR)) + ")")
LONGEST = 120  # characters of a template that a pattern is made of


def suggest(folder: Path, cluster: str) -> str:
    """YAML with the cluster's commonest line as pattern and sample. Raises PostmortemError for an unknown cluster."""
    fleet = fleet_of(read_rows(folder))
    frame, clusters = fleet.frame, fleet.clusters
    name = cluster if cluster.startswith(PREFIX) else PREFIX + cluster
    found = next((c for c in clusters if c.id == name), None)
    if found is None:
        known = ", ".join(c.id for c in clusters[:10]) or "there is none"
        raise PostmortemError(f"no cluster {cluster} in {folder}; the largest are: {known}")
    rows = frame[frame["group"] == found.id]
    return stub(found, [(str(r["path"]), r["lines"]) for _, r in rows.iterrows()])


def stub(cluster: Any, rows: list[tuple[str, list[str]]]) -> str:
    if not cluster.templates:
        raise PostmortemError(f"{cluster.id} has no line to start from: nothing abnormal was logged in {rows[0][0]}")
    lead = cluster.templates[0]
    samples = list(dict.fromkeys(line for _, lines in rows for line in lines if template(line) == lead))[:3]
    near = f"\n# reads most like {cluster.nearest} ({cluster.likeness:.2f})" if cluster.nearest else ""
    also = "".join(f"\n#   {t}" for t in cluster.templates[1:])
    yes = ", ".join(json.dumps(s, ensure_ascii=False) for s in samples)
    return (
        f"# {cluster.id}: {len(rows)} bundles, for example {rows[0][0]}{near}\n"
        + (f"# they also say:{also}\n" if also else "")
        + "schema: 1\nsignatures:\n"
        + "- id: new.give-it-a-name\n"
        + "  title: Say what the fault is, not how it was noticed\n"
        + "  role: root\n"
        + f"  when:\n    - log: {quoted(pattern(samples[0] if samples else lead))}\n"
        + f"  yes: [{yes}]\n"
        + "  no: ['a line that looks like it and is another fault']\n"
    )


def pattern(line: str) -> str:
    """A regular expression for lines with the same template."""
    told = masked(split(line).message)[:LONGEST]
    pieces = STAND_IN.split(told)
    return "".join(STANDS_FOR.get(p) or re.escape(p).replace(r"\ ", r"\s+") for p in pieces)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
