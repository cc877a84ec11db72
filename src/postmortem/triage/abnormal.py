"""The first abnormal lines of a scene: what a failure of unknown cause is recognised by."""

from __future__ import annotations

import re
from collections.abc import Iterator

from postmortem.lines import split
from postmortem.model import Kind
from postmortem.redact import Redactor
from postmortem.report import Report
from postmortem.report.masks import masked
from postmortem.report.safe import plain
from postmortem.scene import Reading, Scene

BAD_LEVELS = frozenset({"error", "critical", "fatal", "panic", "alert", "emergency"})
BAD = re.compile(
    r"(?i)\b(?:errors?|err|fatal|panic(?:ked)?|fail(?:ed|ure|ing|s)?|exception|traceback|abort(?:ed|ing)?|cannot|can't"
    r"|could not|unable|refused|denied|killed|crash(?:ed)?|timed? ?out|invalid|corrupt(?:ed)?|mismatch|not found|lost"
    r"|unexpected|severe|critical|emerg|alert|E\d{4})\b|\[E\]| E "
)
# says that something failed and nothing of what: never a group of its own while another line is there
GENERIC = re.compile(
    r"(?i)(?:\bexit(?:ed|s|ing)?\b.{0,40}\b(?:code|status|error|failure)\b|\b(?:process|command|run|job|benchmark|task)"
    r"\b.{0,20}\bfailed\W*$|\breturned non-?zero|\b(?:main process exited|failed with result|exit code|exit status)\b)"
)
NO_ERROR = re.compile(r"(?i)\b(?:0|no|zero|without) (?:errors?|failures?|failed)\b|\berrors?[=:] ?0\b")
MOST, PER_SOURCE, LONGEST, LINES_READ = 3, 3, 300, 200_000


def first_lines(report: Report, scene: Scene) -> list[str]:
    """At most three lines, redacted: of the source that tells the outcome first, then of the others in order."""
    end = report["outcome"] or {}
    first = [e["source"] for e in end.get("evidence", [])]
    readings = scene.of_kind(Kind.LOG, Kind.JOURNAL, Kind.KERNEL)
    ordered = sorted(readings, key=lambda r: (r.path not in first, r.path))
    found = [text for r in ordered for text in abnormal(r)]
    telling = [t for t in found if not GENERIC.search(t)] or found
    hide = Redactor().text
    return [hide(plain(t, LONGEST)) for t in telling[:MOST]]


def abnormal(reading: Reading) -> Iterator[str]:
    """The first lines of a source that speak of trouble, one for each template."""
    seen: set[str] = set()
    for number, raw in reading.source.text.kept():
        if number > LINES_READ or len(seen) >= PER_SOURCE:
            return
        if not BAD.search(raw) or NO_ERROR.search(raw):
            continue
        line = split(raw, number, reading.source.dialect, kernel=reading.source.kind is Kind.KERNEL)
        if line.level in ("debug", "trace", "info") and not BAD.search(line.message):
            continue
        template = masked(line.message)
        if template not in seen:
            seen.add(template)
            yield raw.strip()
