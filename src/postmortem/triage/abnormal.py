"""The first abnormal lines of a scene: what a failure of unknown cause is recognised by."""

from __future__ import annotations

import re

from postmortem.news.news import LOGS
from postmortem.news.unknown import trouble
from postmortem.redact import Redactor
from postmortem.report import Report
from postmortem.report.safe import plain
from postmortem.scene import Scene

# says that something failed and nothing of what: never a group of its own while another line is there
GENERIC = re.compile(
    r"(?i)\bexit(?:ed|s|ing)?\b.{0,40}\b(?:code|status|error|failure)\b|\breturned non-?zero\b"
    r"|\b(?:process|command|run|job|benchmark|task)\b.{0,20}\bfailed\W*$"
    r"|\b(?:main process exited|failed with result|exit code|exit status)\b"
)
MOST, LONGEST = 3, 300


def first_lines(report: Report, scene: Scene) -> list[str]:
    """At most three lines, redacted: of the source that tells the outcome first, then of the others in order."""
    end = report["outcome"] or {}
    first = {e["source"] for e in end.get("evidence", [])}
    readings = sorted(scene.of_kind(*LOGS), key=lambda r: (r.path not in first, LOGS.index(r.source.kind), r.path))
    found = list(dict.fromkeys(n.evidence.text.strip() for reading in readings for n in trouble(reading)))
    telling = [text for text in found if not GENERIC.search(text)] or found
    hide = Redactor().text
    return [hide(plain(text, LONGEST)) for text in telling[:MOST]]
