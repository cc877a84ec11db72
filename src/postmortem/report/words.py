"""What every renderer says of a report in the same words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from postmortem.report import Report

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_COUNTED = re.compile(r"^\d+ (?:decisive|strong|weak|refuting)\b.*\bpoints?\b.*|^nothing against$")
FINE = ("whole", "empty")
PLACES = ("root", "consequence", "symptom", "contributing", "context")


def headline(report: Report) -> str:
    """One sentence: the cause, or why none is named."""
    root = report["root_cause"]
    if root:
        return str(root["summary"])
    if report["status"] == "failed":
        return "The run failed; what was collected does not name the cause."
    if report["status"] == "healthy":
        return "The latest run succeeded, and nothing speaks of a failure after it."
    return "Nothing that was collected says how the run ended."


def end(report: Report) -> Any:
    """How the run ended, or None where the headline says it already."""
    told = report["outcome"]
    return told if told and told["what"] != headline(report) else None


def reasons(because: str) -> list[str]:
    """The sentences of a `because`, without its count of points."""
    return [part for part in because.split("; ") if part and not _COUNTED.match(part)]


def weight(because: str) -> str:
    """The count of points at the end of a `because`: `1 decisive and 1 strong points, nothing against`."""
    return "; ".join(part for part in because.split("; ") if _COUNTED.match(part))


def place(item: Mapping[str, Any]) -> str:
    """`file:line`, or the file where a claim rests on the whole of it."""
    return f"{item['source']}:{item['line']}" if item["line"] else str(item["source"])


def size(count: float) -> str:
    """Bytes for a person: `342.0 GiB`."""
    value, unit = float(count), 0
    while abs(value) >= 1024 and unit < len(UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.0f} {UNITS[unit]}" if unit == 0 else f"{value:.1f} {UNITS[unit]}"


def shown(value: Any, unit: str = "") -> str:
    """A value of a table for a person."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if unit == "bytes" and isinstance(value, int | float):
        return size(value)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{text} {unit}" if unit and unit not in ("bytes", "count") else text


def followed(report: Report) -> list[Any]:
    """The chain from the root to the symptom, every effect below its cause."""
    links = [k for k in report["chain"] if k["place"] in ("root", "consequence", "symptom")]
    named = {k["class"] for k in links}
    told: list[Any] = []
    waiting = [k for k in links if k["because_of"] not in named]
    while waiting:
        one = waiting.pop(0)
        told.append(one)
        effects = [k for k in links if k["because_of"] == one["class"] and not held(k, told) and not held(k, waiting)]
        waiting = effects + waiting
    return told + [k for k in links if not held(k, told)]


def held(one: Any, links: list[Any]) -> bool:
    return any(one is other for other in links)


def beside(report: Report) -> list[Any]:
    """What contributed, and what was seen but is not the cause."""
    return [k for k in report["chain"] if k["place"] in ("contributing", "context")]


def exhibits(report: Report, kind: str, name: str = "") -> list[Any]:
    return [e for e in report["exhibits"] if e["kind"] == kind and (not name or e.get("name") == name)]


def about(report: Report) -> list[tuple[str, str]]:
    """What is known of the machine, as (name, value)."""
    machine, given = report["machine"], report["input"]
    gpus = [g.get("name") or g.get("gpu", "") for g in machine.get("gpus", [])]
    counted = [f"{gpus.count(name)} × {name}" if gpus.count(name) > 1 else name for name in dict.fromkeys(gpus)]
    rows = [
        ("host", machine.get("host", "")),
        ("kernel", machine.get("kernel", "")),
        ("GPU", ", ".join(filter(None, counted))),
        ("driver", machine.get("driver", "")),
        ("image", machine.get("image", "")),
        ("input", f"{given['path']}, {'complete' if given['complete'] else 'partial'}"),
    ]
    return [(name, str(value)) for name, value in rows if value]
