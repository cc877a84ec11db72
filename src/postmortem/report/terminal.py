"""The report for a tired operator at a terminal: the verdict first, then what it rests on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import quote

from postmortem.report import Report
from postmortem.report.moment import told
from postmortem.report.words import beside, end, exhibits, followed, headline, place, reasons, shown, weight

BOLD, RED, GREEN, YELLOW, DIM = "1", "31;1", "32;1", "33;1", "2"
COLOURS = {"failed": RED, "healthy": GREEN, "undecided": YELLOW}
MOST_LINES, MOST_GAPS = 4, 8
INDENT = " " * 8


@dataclass(frozen=True, slots=True)
class Look:
    """How the report is shown; `width` wraps sentences, never evidence, and is None where the output is no terminal."""

    colour: bool = False
    width: int | None = None
    verbose: bool = False
    folder: str = ""  # absolute: evidence links to its files (OSC 8)

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def say(self, text: str, first: str = "", rest: str = "") -> str:
        """A sentence of ours, wrapped to the width."""
        if self.width is None:
            return first + text
        wide = max(40, self.width)
        return textwrap.fill(text, wide, initial_indent=first, subsequent_indent=rest or first, **_WRAP)

    def place(self, item: Any) -> str:
        """`file:line`, as a link where links are wanted."""
        text = place(item)
        if not self.folder:
            return text
        return f"\x1b]8;;file://{quote(self.folder)}/{quote(item['source'])}#{item['line']}\x1b\\{text}\x1b]8;;\x1b\\"

    def line(self, item: Any) -> str:
        """A line of evidence: never cut, never wrapped."""
        return f"{self.place(item)}: {item['text']}"


_WRAP: Any = {"break_long_words": False, "break_on_hyphens": False}


def render(report: Report, look: Look | None = None) -> str:
    """The report as text; evidence stands as source:line: text."""
    shape = look or Look()
    parts = (verdict, news, evidence, chain, context, gpus, ruled_out, missing, advice, foot)
    blocks = ("\n".join(part(report, shape)) for part in parts)
    return "\n\n".join(block for block in blocks if block) + "\n"


def one_line(report: Report) -> str:
    """`class  confidence  summary`; the status and `-` where no cause is named."""
    root = report["root_cause"]
    named = f"{root['class']}  {root['confidence']}" if root else f"{report['status']}  -"
    return f"{named}  {headline(report)}\n"


def verdict(report: Report, look: Look) -> Iterator[str]:
    root, status, last = report["root_cause"], report["status"], end(report)
    word = status.upper()
    first, *more = look.say(headline(report), word + "  ", INDENT).split("\n")
    yield look.paint(word, COLOURS[status]) + look.paint(first.removeprefix(word), BOLD)
    yield from (look.paint(line, BOLD) for line in more)
    if root:
        counted = weight(root["because"])
        yield f"{INDENT}{root['class']}, {root['confidence']} confidence" + (f" ({counted})" if counted else "")
        yield from (f"{INDENT}at {told(root['when'])}" for _ in [0] if root["when"])
        yield from (look.say(one, f"{INDENT}- ", f"{INDENT}  ") for one in reasons(root["because"]))
    if last:
        yield look.say(f"outcome: {last['what']} ({place(last['evidence'][0])})", INDENT, INDENT + "  ")


def news(report: Report, look: Look) -> Iterator[str]:
    """What is new against a healthy run, or the first lines of a failure that nothing explains."""
    items = report.get("news") or []
    if items:
        yield look.paint("Read first", BOLD)
        shown_here = items if look.verbose else items[:MOST_LINES]
        for why, group in groupby(shown_here, key=lambda i: i["why"]):
            yield look.say(f"{why}:", "  ")
            yield from (f"    {look.line(i)}" for i in group)


def evidence(report: Report, look: Look) -> Iterator[str]:
    items = (report["root_cause"] or report["outcome"] or {}).get("evidence", [])
    if items:
        yield look.paint("Evidence", BOLD)
        shown_here = items if look.verbose else items[:MOST_LINES]
        yield from (f"  {look.line(i)}" for i in shown_here)
        if len(items) > len(shown_here):
            yield f"  ... {len(items) - len(shown_here)} more lines (-v)"


def chain(report: Report, look: Look) -> Iterator[str]:
    links = followed(report)
    if len(links) > 1:
        yield look.paint("What followed", BOLD)
        for number, one in enumerate(links):
            yield from link(one, "  " if not number else "  -> ", look)


def link(one: Any, lead: str, look: Look) -> Iterator[str]:
    """One step: when, class and sentence; then where it stands and how well the link to its cause is known."""
    below = " " * (len(lead) + 2)
    yield look.say(
        f"{told(one['when'], brief=True)}  {one['class']}: {one.get('summary') or one['title']}", lead, below
    )
    why = f", {one['edge']} effect of {one['because_of']}" if one["edge"] else ""
    yield f"{below}{look.place(one['evidence'][0])}{look.paint(why, DIM)}"
    if look.verbose:
        yield from (f"{below}  {look.line(i)}" for i in one["evidence"])


def context(report: Report, look: Look) -> Iterator[str]:
    """What contributed; what else was seen and why it is not the cause. How the run ended is told above."""
    links = [k for k in beside(report) if look.verbose or not k["class"].startswith("outcome.")]
    if links:
        yield look.paint("Also", BOLD)
    for one in links:
        note = f"; not the cause: {one['note']}" if one["note"] else ""
        summary = (one.get("summary") or one["title"]).removesuffix("." if note else "")
        said = f"{one['class']}: {summary}{note}  ({place(one['evidence'][0])})"
        yield look.say(said, f"  {one['place']:12s}  ", " " * 16)
        if look.verbose:
            yield from (f"{' ' * 16}{look.line(i)}" for i in one["evidence"])


def gpus(report: Report, look: Look) -> Iterator[str]:
    """The GPUs of which something is abnormal."""
    for table in exhibits(report, "table", "gpus"):
        labels = {c["key"]: (c["label"], c.get("unit", "")) for c in table["columns"]}
        odd = [row for row in table["rows"] if row["abnormal"]]
        if odd:
            yield look.paint("GPUs out of order", BOLD)
        for row in odd:
            parts = [
                f"{labels[key][0]} {shown(row['values'][key], labels[key][1])} ({why})"
                for key, why in row["abnormal"].items()
            ]
            yield look.say(f"{row['values'].get('gpu', '?')}  {', '.join(parts)}", "  ", " " * 6)


def ruled_out(report: Report, look: Look) -> Iterator[str]:
    if report["ruled_out"]:
        yield look.paint("Ruled out", BOLD)
    for one in report["ruled_out"]:
        yield look.say(f"{one['class']}: {one['reason']}", "  ", "    ")
        unique = {(i["source"], i["line"]): i for i in one["evidence"]}
        yield from (f"    {look.line(i)}" for i in list(unique.values())[: None if look.verbose else 2])


def missing(report: Report, look: Look) -> Iterator[str]:
    gaps = report["gaps"]
    if gaps:
        yield look.paint("Not known", BOLD)
        shown_here = gaps if look.verbose else gaps[:MOST_GAPS]
        for one in shown_here:
            yield f"  {one['source']}: {one['state']}" + (f": {one['reason']}" if one["reason"] else "")
        if len(gaps) > len(shown_here):
            yield f"  ... {len(gaps) - len(shown_here)} more (-v)"
    if report["would_decide"]:
        yield look.paint("Would decide", BOLD)
        yield from (look.say(one, "  - ", "    ") for one in report["would_decide"])


def advice(report: Report, look: Look) -> Iterator[str]:
    todo = (report["root_cause"] or {}).get("advice", [])
    if todo:
        yield look.paint("Next", BOLD)
        yield from (look.say(one, "  - ", "    ") for one in todo)


def foot(report: Report, look: Look) -> Iterator[str]:
    yield from (look.paint(f"warning: {w}", YELLOW) for w in report["warnings"])
    about = report["input"]
    poor = [p for p in report["probes"] if p["state"] not in ("whole", "empty")]
    probes = f", {len(report['probes'])} probes, {len(poor)} without all they asked for" if report["probes"] else ""
    whole = "complete" if about["complete"] else "partial"
    tool = f"{report['tool']['name']} {report['tool']['version']}"
    yield look.paint(f"{about['path']}: {about['kind']}, {whole}, {len(about['sources'])} sources{probes}; {tool}", DIM)
