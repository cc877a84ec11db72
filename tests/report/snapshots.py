"""Reports in a form that is kept in files: without what changes from day to day, and in JSON without the bulk."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

WRITE = bool(os.environ.get("POSTMORTEM_WRITE_SNAPSHOTS"))
HOW = "POSTMORTEM_WRITE_SNAPSHOTS=1 pytest tests/report -k snapshots; then read the diff"
MOST = 80  # lines of a difference


def steady(report: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The report without version, catalogue, durations and the folder it was read from."""
    return {
        **report,
        "tool": {**report["tool"], "version": "0", "catalogue": "0"},
        "input": {**report["input"], "path": name},
        "probes": [{**probe, "seconds": 0.0} for probe in report["probes"]],
    }


def short(report: Mapping[str, Any]) -> str:
    """Every key of the report as JSON, its lists one line an item; what is left out stands as a digest."""
    told = {
        **report,
        "input": {**report["input"], "sources": [" ".join(map(str, s.values())) for s in report["input"]["sources"]]},
        "root_cause": report["root_cause"] and brief(report["root_cause"], texts=True),
        "outcome": report["outcome"] and brief(report["outcome"], texts=True),
        "chain": [brief(one) for one in report["chain"]],
        "findings": [brief(one) for one in report["findings"]],
        "ruled_out": [brief(one) for one in report["ruled_out"]],
        "news": [f"{where(one)}: {one['why']}: {one['text']}" for one in report["news"]],
        "timeline": [
            f"{moment(row['when'])} {where(row)} {row['place']} {row['class'] or row['event']}"
            for row in report["timeline"]
        ],
        "exhibits": [f"{e['kind']} {e.get('name', '')} {e['title']} {digest(e)}" for e in report["exhibits"]],
        "digests": {key: digest(value) for key, value in report.items()},
    }
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def brief(one: Mapping[str, Any], texts: bool = False) -> dict[str, Any]:
    """A finding with its moment and its evidence one line each."""
    lines = [where(i) + (f": {i['text']}" if texts else "") for i in one["evidence"]]
    return {**one, **({"when": moment(one["when"])} if "when" in one else {}), "evidence": lines}


def where(item: Mapping[str, Any]) -> str:
    return f"{item['source']}:{item['line']}"


def moment(when: Any) -> str:
    if not when:
        return "-"
    return f"{when['utc']}{'' if when['zone_known'] else '?'} ±{when['plus_minus_s']:g}"


def digest(value: Any) -> str:
    """Eight hex digits that change with the value."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def same(text: str, file: Path) -> str:
    """Empty, or in which lines the text differs from the file; in write mode the file is made to agree."""
    if WRITE:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if not file.exists():
        return f"no {file.name} yet: {HOW}"
    kept = file.read_text(encoding="utf-8")
    if kept == text:
        return ""
    lines = list(
        difflib.unified_diff(kept.splitlines(), text.splitlines(), f"kept {file.name}", "now", lineterm="", n=1)
    )
    left = [f"... {len(lines) - MOST} more lines"] if len(lines) > MOST else []
    return "\n".join([*(line[:400] for line in lines[:MOST]), *left, f"If that is meant: {HOW}"])
