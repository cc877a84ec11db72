"""What every renderer says of a report in the same words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from postmortem.lazy import lazy
from postmortem.report import Report
from postmortem.report.masks import masked

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_COUNTED = lazy(r"^\d+ (?:decisive|strong|weak|refuting)\b.*\bpoints?\b.*|^nothing against$")
# numbers that tell one line from another of its kind: which GPU, Xid, rank, script line
NAMED = lazy(
    r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\b|(?<=\): )\d+"
    r"|\b(?:gpu|rank|device|dev|errno|status|line|code|sector)[ =:]*\w+",
    re.IGNORECASE,
)
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


def counted(count: int, word: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def sentence(text: str) -> str:
    """The text with a capital first, unless its first word is a name such as `oom_kill` or `pipefail:`."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.isalpha() else text


def telling(items: Sequence[Any], most: int) -> tuple[list[Any], int]:
    """The lines to show of many, one of each kind; and how many are left off."""
    kinds = [(i["source"], masked(i["text"]), *NAMED.findall(i["text"])) for i in items]
    chosen = [item for at, item in enumerate(items) if kinds[at] not in kinds[:at]][:most]
    return chosen, len(items) - len(chosen)


def rests_on(report: Report, most: int) -> tuple[list[Any], int]:
    """The lines that the verdict rests on, as `telling` has them."""
    return telling((report["root_cause"] or report["outcome"] or {}).get("evidence", []), most)


def unread(report: Report, most: int) -> list[Any]:
    """The lines to read first, without those that are shown as evidence anyway."""
    told = {(i["source"], i["line"]) for i in rests_on(report, most)[0]} if report["root_cause"] else set()
    return [i for i in report.get("news") or [] if (i["source"], i["line"]) not in told]


def wanted(report: Report) -> list[tuple[str, list[str]]]:
    """What would decide, each source once with the classes that it decides."""
    asks: dict[str, list[str]] = {}
    for one in report["would_decide"]:
        class_id, _, ask = one.partition(": ")
        asks.setdefault(ask or one, []).extend([class_id] if ask else [])
    return list(asks.items())


def alike(links: Sequence[Any]) -> list[list[Any]]:
    """Links that say the same of several ranks, devices or tries, together."""
    groups: dict[tuple[str, ...], list[Any]] = {}
    for one in links:
        said = one.get("summary") or one["title"]
        key = (one["place"], one["class"], said, one["edge"] or "", one["because_of"] or "", one["note"])
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def place(item: Mapping[str, Any]) -> str:
    """`file:line`, or the file where a claim rests on the whole of it."""
    return f"{item['source']}:{item['line']}" if item["line"] else str(item["source"])


def line(item: Mapping[str, Any]) -> str:
    """A line of evidence with its place."""
    text = item["text"].rstrip()
    return f"{place(item)}: {text}" if text else f"{place(item)} (the whole file)"


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
    """What contributed, and what was seen but is not the cause; not again what is told as the outcome."""
    last = report["outcome"]
    told = place(last["evidence"][0]) if last else ""
    links = [k for k in report["chain"] if k["place"] in ("contributing", "context")]
    return [k for k in links if not (k["place"] == "context" and place(k["evidence"][0]) == told and tells_end(k))]


def tells_end(link: Any) -> bool:
    """Whether a link only says how the run ended."""
    return str(link["class"]).startswith("outcome.") or not link["note"]


def exhibits(report: Report, kind: str, name: str = "") -> list[Any]:
    return [e for e in report["exhibits"] if e["kind"] == kind and (not name or e.get("name") == name)]


def about(report: Report) -> list[tuple[str, str]]:
    """What is known of the machine and the input, as (name, value)."""
    given = report["input"]
    return [*machine(report), ("input", f"{given['path']}, {'complete' if given['complete'] else 'partial'}")]


def machine(report: Report) -> list[tuple[str, str]]:
    """What is known of the machine, as (name, value)."""
    machine = report["machine"]
    gpus = [g.get("name") or g.get("gpu", "") for g in machine.get("gpus", [])]
    counted = [f"{gpus.count(name)} × {name}" if gpus.count(name) > 1 else name for name in dict.fromkeys(gpus)]
    rows = [
        ("host", machine.get("host", "")),
        ("kernel", machine.get("kernel", "")),
        ("GPU", ", ".join(filter(None, counted))),
        ("driver", machine.get("driver", "")),
        ("image", machine.get("image", "")),
    ]
    return [(name, str(value)) for name, value in rows if value]
