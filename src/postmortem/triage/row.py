"""One bundle as one flat row: what triage counts and groups by. The same bytes whoever made it, and where."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from postmortem.news import SPEAKS
from postmortem.report import Report
from postmortem.scene import Scene
from postmortem.triage.run_length import run_seconds

Row = dict[str, Any]
COLUMNS = (
    "path", "status", "class", "confidence", "fingerprint", "title", "summary", "when", "run_s", "host", "kernel",
    "driver", "gpu", "unit", "image", "script", "provider", "region", "price", "facts", "chain", "gaps", "lines",
    "kind", "complete", "id", "catalogue", "version", "error",
)  # fmt: skip
EARLIEST = "1971"  # an instant before has no known year
MOST_FACTS, LONGEST_FACT = 24, 120
MOST_LINES, LONGEST_LINE = 3, 300
# says that something failed and nothing of what: never what a group is known by while another line is there
GENERIC = re.compile(
    r"(?i)\bexit(?:ed|s|ing)?\b.{0,40}\b(?:code|status|error|failure)\b|\breturned non-?zero\b"
    r"|\b(?:process|command|run|job|benchmark|task)\b.{0,20}\bfailed\W*$"
    r"|\b(?:main process exited|failed with result|exit code|exit status)\b"
)


def row_of(report: Report, scene: Scene) -> Row:
    """The row of a report; `path`, `id` are the caller's."""
    root, machine = report["root_cause"] or {}, report["machine"]
    row = dict.fromkeys(COLUMNS)
    row |= {
        "status": report["status"],
        "class": root.get("class"),
        "confidence": root.get("confidence"),
        "fingerprint": report["fingerprint"],
        "title": root.get("title", ""),
        "summary": root.get("summary") or (report["outcome"] or {}).get("what", ""),
        "when": moment(report),
        "run_s": run_seconds(report, scene),
        "facts": facts(root.get("facts", {})),
        "chain": [k["class"] for k in report["chain"] if k["place"] in ("consequence", "symptom")],
        "gaps": [{"source": g["source"], "state": g["state"], "opens": g["leaves_open"]} for g in report["gaps"]],
        "lines": lines(report),
        "kind": report["input"]["kind"],
        "complete": report["input"]["complete"],
        "catalogue": report["tool"]["catalogue"],
        "version": report["tool"]["version"],
    }
    return row | of_machine(machine, root.get("facts", {})) | nothing_in_it(report)


def nothing_in_it(report: Report) -> Row:
    """A damaged archive that gave not one file was not read, whatever can be said of nothing."""
    if any(s["state"] in ("whole", "cut", "empty") for s in report["input"]["sources"]):
        return {}
    return {"status": "unread", "error": "; ".join(report["warnings"][:3]).lstrip(": ") or "there is no file in it"}


def without_report(path: str, status: str, error: str, catalogue: str, version: str) -> Row:
    """The row of a bundle that gave no report: `unread` or `stopped`, and why."""
    row: Row = dict.fromkeys(COLUMNS)
    told = {"path": path, "status": status, "error": error, "catalogue": catalogue, "version": version}
    return row | {"fingerprint": "", "facts": {}, "chain": [], "gaps": [], "lines": [], "id": ""} | told


def line_of(row: Mapping[str, Any]) -> str:
    """The row as one line of JSON, keys in order."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def moment(report: Report) -> str | None:
    """When it failed, RFC 3339 in UTC: the cause's time, else the outcome's, else the first of the time line."""
    told = [(report["root_cause"] or {}).get("when"), (report["outcome"] or {}).get("when")]
    told += [t["when"] for t in report["timeline"][:1]]
    return next((str(w["utc"]) for w in told if w and w["utc"] >= EARLIEST), None)


def facts(told: Mapping[str, Any]) -> dict[str, Any]:
    short = {k: v[:LONGEST_FACT] if isinstance(v, str) else v for k, v in sorted(told.items())}
    return dict(list(short.items())[:MOST_FACTS])


def lines(report: Report) -> list[str]:
    """What a named cause rests on; for an unknown one its first lines of trouble, generic ones for want of others."""
    if report["fingerprint"]:
        return [e["text"][:LONGEST_LINE] for e in report["root_cause"]["evidence"][:MOST_LINES]]
    found = dict.fromkeys(n["text"].strip()[:LONGEST_LINE] for n in report["news"] if n["why"] == SPEAKS)
    return ([text for text in found if not GENERIC.search(text)] or list(found))[:MOST_LINES]


def of_machine(machine: Mapping[str, Any], root: Mapping[str, Any]) -> Row:
    """What is known of the machine; `unit` is the GPU that failed: its serial, UUID, or host and bus address."""
    gpus, provider = machine["gpus"], machine["provider"]
    scripts = sorted(machine["scripts"].items())
    ran = str(root.get("script", "")).rsplit("/", 1)[-1]
    script = next(((p, h) for p, h in scripts if ran and p.rsplit("/", 1)[-1] == ran), scripts[0] if scripts else None)
    return {
        "host": machine["host"],
        "kernel": machine["kernel"],
        "driver": machine["driver"],
        "gpu": " + ".join(sorted({str(g["name"]) for g in gpus if g.get("name")})),
        "unit": unit(machine["host"], gpus, str(root.get("gpu", ""))),
        "image": machine["image"],
        "script": f"{script[0].rsplit('/', 1)[-1]}@{script[1][:12]}" if script else "",
        "provider": provider.get("name", ""),
        "region": provider.get("region", ""),
        "price": provider.get("price_per_hour"),
    }


def unit(host: str, gpus: list[Mapping[str, Any]], failed: str) -> str:
    if not failed:
        return ""
    card: Mapping[str, Any] = next((g for g in gpus if bus(str(g["gpu"])) == bus(failed)), {})
    return str(card.get("serial") or card.get("uuid") or f"{host}/{bus(failed)}")


def bus(address: str) -> str:
    """`00000000:9B:00.0`, `0000:9b:00` -> `9b:00`."""
    return ":".join(address.lower().partition(".")[0].split(":")[-2:])
