"""A saved report -> a report that renderers may trust in shape and can print: its strings are made plain again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from postmortem.errors import ReportError
from postmortem.report import SCHEMA, Report
from postmortem.report.safe import plain

LONGEST = 1 << 20
NEEDED = {
    **dict.fromkeys(("chain", "findings", "ruled_out", "gaps", "would_decide", "timeline", "exhibits"), list),
    **dict.fromkeys(("probes", "warnings"), list),
    **dict.fromkeys(("tool", "input", "machine"), dict),
    **dict.fromkeys(("status", "fingerprint"), str),
}


def load(path: Path) -> Report:
    """The report in a JSON file. Raises ReportError."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise ReportError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path} is not JSON: {error}; give a file that analyze --format json wrote") from error
    return checked(data, str(path))


def is_report(path: Path) -> bool:
    """Whether the file begins as a report of ours does: its schema is its first key."""
    try:
        with path.open("rb") as file:
            head = file.read(400).lstrip()
    except OSError:
        return False
    return head.startswith(b"{") and SCHEMA.encode() in head


def checked(data: Any, name: str) -> Report:
    """The value as a report with plain strings. Raises ReportError when it is none."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ReportError(f"{name} is no report of schema {SCHEMA}; give a file that analyze --format json wrote")
    for key, kind in NEEDED.items():
        if not isinstance(data.get(key), kind):
            raise ReportError(f"{name} is a damaged report: {key} is missing or of the wrong type")
    report: Report = cleaned({**data, "root_cause": data.get("root_cause"), "outcome": data.get("outcome")})
    return report


def cleaned(value: Any) -> Any:
    """The same JSON value with every string made plain; line breaks stay where a whole source stands."""
    if isinstance(value, str):
        return "\n".join(plain(line, LONGEST) for line in value.split("\n"))
    if isinstance(value, Mapping):
        return {plain(str(key)): cleaned(item) for key, item in value.items()}
    return [cleaned(item) for item in value] if isinstance(value, list) else value
