"""The rows as JUnit XML: a test case for each bundle, failed or in error as the bundle was."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from postmortem.triage.store import Rows

FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by XML 1.0


def junit(frame: Any, whole: Rows) -> str:
    """One test suite; `classname` is the failure class."""
    bad = frame["error"] != ""
    failed, skipped = frame["status"] == "failed", (frame["status"] == "undecided") & ~bad
    counts = {"tests": len(frame), "failures": failed.sum(), "errors": bad.sum(), "skipped": skipped.sum()}
    suite = Element("testsuite", {"name": "postmortem triage", **{k: str(int(v)) for k, v in counts.items()}})
    for row in (whole.at(int(offset)) for offset in frame["offset"]):
        case = SubElement(
            suite, "testcase", {"name": clean(row["path"]), "classname": clean(row["class"] or row["status"])}
        )
        if row["error"]:
            SubElement(case, "error", {"message": clean(row["error"])})
        elif row["status"] == "failed":
            told = SubElement(case, "failure", {"type": clean(row["class"] or ""), "message": clean(row["summary"])})
            told.text = clean("\n".join(row["lines"]))
        elif row["status"] == "undecided":
            SubElement(case, "skipped", {"message": "nothing collected says how the run ended"})
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suite, encoding="unicode") + "\n"


def clean(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)
