"""The summary as a Prometheus textfile (node_exporter's textfile collector)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from postmortem.triage.summary import Summary

Sample = tuple[dict[str, str], float]


def prom(summary: Summary) -> str:
    """Counts by status, class and group, unread bundles, and what came new; gauges, because rows may be read again."""
    groups = summary["groups"]
    lemons = {(i["unit"], i["value"]) for i in summary["lemons"]["found"]}
    tables: tuple[tuple[str, str, list[Sample]], ...] = (
        ("bundles", "Bundles by status.", [({"status": k}, v) for k, v in summary["status"].items()]),
        (
            "failures",
            "Failed bundles by class.",
            [({"class": c["class"] or ""}, c["count"]) for c in summary["classes"]],
        ),
        ("group_failures", "Failed bundles by group.", [(of_group(g), g["count"]) for g in groups]),
        ("new_groups", "Groups first seen in the last run.", [({}, sum(g["new"] for g in groups))]),
        ("lemons", "Hosts and GPUs with more failures than chance explains.", [({}, len(lemons))]),
        ("rows_of_last_run", "Rows that the last run wrote.", [({}, summary["rows_of_this_run"])]),
    )
    return "".join(line for table in tables for line in metric(*table))


def of_group(group: Summary) -> dict[str, str]:
    return {"group": group["id"], "class": group["class"] or ""}


def metric(name: str, told: str, samples: Iterable[Sample]) -> Iterator[str]:
    full = f"postmortem_triage_{name}"
    yield f"# HELP {full} {told}\n# TYPE {full} gauge\n"
    for labels, value in samples:
        inner = ",".join(f'{k}="{escaped(v)}"' for k, v in labels.items())
        yield f"{full}{{{inner}}} {value:g}\n" if inner else f"{full} {value:g}\n"


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
