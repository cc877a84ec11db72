"""The report for a tired operator at a terminal: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from postmortem.report import Report
from postmortem.report.look import Look
from postmortem.report.moment import told
from postmortem.report.words import (
    alike,
    beside,
    counted,
    end,
    exhibits,
    followed,
    headline,
    machine,
    place,
    reasons,
    rests_on,
    shown,
    unread,
    wanted,
    weight,
)

BOLD, RED, GREEN, YELLOW, DIM = "1", "31;1", "32;1", "33;1", "2"
COLOURS = {"failed": RED, "healthy": GREEN, "undecided": YELLOW}
MOST_LINES, MOST_GAPS = 4, 8
INDENT = " " * 8


def render(report: Report, look: Look | None = None) -> str:
    """The report as text; evidence stands as source:line: text."""
    shape = look or Look()
    parts = (verdict, first, evidence, also, chain, context, gpus, ruled_out, missing, deciding, advice, foot)
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
        points = weight(root["because"])
        yield f"{INDENT}{root['class']}, {root['confidence']} confidence" + (f" ({points})" if points else "")
        yield from (f"{INDENT}at {told(root['when'])}" for _ in [0] if root["when"])
    known = ", ".join(f"{name} {value}" for name, value in machine(report))
    yield from (look.say(f"on {known}", INDENT, INDENT + "   ") for _ in [0] if known)
    if root:
        yield from (look.say(one, f"{INDENT}- ", f"{INDENT}  ") for one in reasons(root["because"]))
    if last:
        yield look.say(f"outcome: {last['what']} ({place(last['evidence'][0])})", INDENT, INDENT + "  ")


def first(report: Report, look: Look) -> Iterator[str]:
    """The first lines of a failure that nothing explains, or what is new against a healthy run."""
    if not report["root_cause"]:
        yield from news(report, look, "Read first")


def also(report: Report, look: Look) -> Iterator[str]:
    """The same where a cause is named: what its evidence does not show."""
    if report["root_cause"]:
        yield from news(report, look, "Read also")


def news(report: Report, look: Look, title: str) -> Iterator[str]:
    items = unread(report, MOST_LINES)
    if items:
        yield look.paint(title, BOLD)
        for why, group in groupby(items if look.verbose else items[:MOST_LINES], key=lambda i: i["why"]):
            yield look.say(f"{why}:", "  ")
            yield from (f"    {look.line(i)}" for i in group)


def evidence(report: Report, look: Look) -> Iterator[str]:
    items = (report["root_cause"] or report["outcome"] or {}).get("evidence", [])
    if items:
        yield look.paint("Evidence", BOLD)
        lines, left = (items, 0) if look.verbose else rests_on(report, MOST_LINES)
        yield from (f"  {look.line(i)}" for i in lines)
        yield from more(left, "line")


def more(left: int, word: str) -> Iterator[str]:
    if left:
        yield f"  ... {counted(left, f'more {word}')} (-v)"


def chain(report: Report, look: Look) -> Iterator[str]:
    groups = alike(followed(report))
    dated = any(one["when"] for group in groups for one in group)
    if len(groups) > 1:
        yield look.paint("What followed", BOLD)
        for number, group in enumerate(groups):
            yield from link(group, "  -> " if number else "  ", dated, look)


def link(group: list[Any], lead: str, dated: bool, look: Look) -> Iterator[str]:
    """One step: when, class and sentence; then where it stands and how well the link to its cause is known."""
    one, below = group[0], " " * (len(lead) + 2)
    when = f"{told(one['when'], brief=True)}  " if dated else ""
    told_above = not one["edge"] and lead == "  "
    said = "" if told_above else f": {one.get('summary') or one['title']}"
    yield look.say(f"{when}{one['class']}{said}", lead, below)
    why = f", {one['edge']} effect of {one['because_of']}" if one["edge"] else ""
    yield f"{below}{places(group, look)}{look.paint(why, DIM)}"
    if look.verbose:
        yield from (f"{below}  {look.line(i)}" for other in group for i in other["evidence"])


def places(group: list[Any], look: Look) -> str:
    """Where the links that say the same stand."""
    items = {place(one["evidence"][0]): one["evidence"][0] for one in group}
    shown_here = list(items.values())[: None if look.verbose else MOST_LINES]
    left = len(items) - len(shown_here)
    return ", ".join(look.place(i) for i in shown_here) + (f" and {left} more" if left else "")


def context(report: Report, look: Look) -> Iterator[str]:
    """What contributed; what else was seen and why it is not the cause. How the run ended is told above."""
    links = [k for k in beside(report) if look.verbose or not k["class"].startswith("outcome.")]
    if links:
        yield look.paint("Also", BOLD)
    not_the = "" if report["status"] == "healthy" else "not the cause: "
    for group in alike(links):
        one = group[0]
        note = f"; {not_the}{one['note']}" if one["note"] else ""
        summary = (one.get("summary") or one["title"]).removesuffix("." if note else "")
        said = f"{one['class']}: {summary}{note}  ({places(group, look)})"
        yield look.say(said, f"  {one['place']:12s}  ", " " * 16)
        if look.verbose:
            yield from (f"{' ' * 16}{look.line(i)}" for other in group for i in other["evidence"])


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
        yield from more(len(gaps) - len(shown_here), "source")


def deciding(report: Report, look: Look) -> Iterator[str]:
    """What would settle it, each source once with the classes that it decides."""
    asks = wanted(report)
    if asks:
        yield look.paint("Would decide", BOLD)
        shown_here = asks if look.verbose else asks[:MOST_GAPS]
        for ask, classes in shown_here:
            yield look.say(f"{ask} ({', '.join(classes)})" if classes else ask, "  - ", "    ")
        yield from more(len(asks) - len(shown_here), "source")


def advice(report: Report, look: Look) -> Iterator[str]:
    todo = (report["root_cause"] or {}).get("advice", [])
    if todo:
        yield look.paint("Next", BOLD)
        yield from (look.say(one, "  - ", "    ") for one in todo)


def foot(report: Report, look: Look) -> Iterator[str]:
    yield from (look.paint(f"warning: {w}", YELLOW) for w in report["warnings"])
    about = report["input"]
    poor = [p for p in report["probes"] if p["state"] not in ("whole", "empty")]
    probes = (
        f", {counted(len(report['probes']), 'probe')}, {len(poor)} without all they asked for"
        if report["probes"]
        else ""
    )
    whole = "complete" if about["complete"] else "partial"
    tool = f"{report['tool']['name']} {report['tool']['version']}"
    yield look.paint(
        f"{about['path']}: {about['kind']}, {whole}, {counted(len(about['sources']), 'source')}{probes}; {tool}", DIM
    )
