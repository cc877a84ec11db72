"""The report as JUnit XML: one test case for one bundle; it fails when the run failed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from postmortem.report import Report
from postmortem.report.words import followed, headline, place, reasons

# what XML 1.0 cannot hold even as a reference
_NEVER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    """One suite with one case: `failure` where the run failed, `skipped` where nothing says how it ended."""
    status, root = report["status"], report["root_cause"]
    counts = {"tests": "1", "failures": str(int(status == "failed")), "errors": "0"}
    counts["skipped"] = str(int(status == "undecided"))
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "postmortem", **counts})
    case = ElementTree.SubElement(suite, "testcase", {"classname": "postmortem", "name": xml(report["input"]["path"])})
    said = xml(headline(report))
    if status == "failed":
        kind = root["class"] if root else "undecided"
        failure = ElementTree.SubElement(case, "failure", {"type": kind, "message": said})
        failure.text = xml("\n".join(details(report)))
    elif status == "undecided":
        ElementTree.SubElement(case, "skipped", {"message": said})
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def xml(text: str) -> str:
    return _NEVER.sub("\ufffd", text)


def details(report: Report) -> Iterator[str]:
    """Confidence, reasons, evidence and what followed, as plain lines."""
    root = report["root_cause"]
    if root:
        yield f"{root['class']}, confidence {root['confidence']}"
        yield from (f"- {one}" for one in reasons(root["because"]))
    for item in (root or report["outcome"] or {"evidence": []})["evidence"]:
        yield f"{place(item)}: {item['text']}"
    for one in followed(report)[1:]:
        yield f"-> {one['class']}: {one.get('summary') or one['title']}"
    yield from (f"would decide: {one}" for one in report["would_decide"])
