"""The report as Markdown for an issue, a job summary or a chat: evidence is fenced, the rest is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from postmortem.report import Report
from postmortem.report.moment import told
from postmortem.report.words import (
    about,
    alike,
    beside,
    counted,
    end,
    exhibits,
    followed,
    headline,
    line,
    place,
    reasons,
    rests_on,
    sentence,
    shown,
    unread,
    wanted,
    weight,
)

MOST_LINES, LONGEST = 8, 500
# what GitHub, GitLab or Slack would take for markup; a mention, reference, emoji or link is broken by a character
# without width, because those are looked for after escapes are resolved
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&])")
_LIVE = re.compile(
    r"([@#<])(?=\S)|(?i:\b(https?|ftp|file|mailto|javascript|www)(?=[:.]))|(?<!\w)(:)(?=[\w+-]+:)|\b(GH)(?=-\d)"
)
_LEAD = re.compile(r"^(?:(\d+)(?=[.)])|(?=[-=+#]))")
BREAK = "\u200b"


def render(report: Report) -> str:
    """The report as Markdown; nothing of a log is interpreted."""
    order = (evidence, first) if report["root_cause"] else (first, evidence)
    parts = (verdict, why, *order, chain, gpus, ruled_out, unknown, advice, foot)
    blocks = ("\n".join(part(report)) for part in parts)
    return "\n\n".join(block for block in blocks if block) + "\n"


def inert(text: str) -> str:
    """Untrusted words within a line of Markdown: no markup, mention, reference, emoji or link is made of them."""
    flat = " ".join(text.split())
    broken = _LIVE.sub(lambda found: (BREAK if found[0] == "@" else "") + found[0] + BREAK, flat)
    return _LEAD.sub(lambda found: f"{found[1] or ''}\\", _SPECIAL.sub(r"\\\1", broken), count=1)


def code(text: str) -> str:
    """A word as code, whatever backticks it holds."""
    flat = " ".join(text.split()) or " "
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if "`" in flat else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}".replace("|", "\\|")


def fence(lines: Sequence[str]) -> Iterator[str]:
    """The lines in a fence that none of them can end."""
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    ticks = "`" * max(3, longest + 1)
    yield f"{ticks}text"
    yield from (line[:LONGEST] + (" ..." if len(line) > LONGEST else "") for line in lines)
    yield ticks


def verdict(report: Report) -> Iterator[str]:
    root = report["root_cause"]
    yield f"## {report['status'].capitalize()}: {inert(headline(report))}"
    yield ""
    if root:
        at = f", {inert(told(root['when']))}" if root["when"] else ""
        yield f"{code(root['class'])}, **{root['confidence']} confidence**{at}"
    known = [f"{name} {code(value)}" for name, value in about(report)]
    yield ""
    yield " · ".join(known)


def why(report: Report) -> Iterator[str]:
    root, last = report["root_cause"], end(report)
    if root:
        yield from (f"- {inert(one)}" for one in reasons(root["because"]))
        yield from (f"- {inert(one)}" for one in [weight(root["because"])] if one)
    if last:
        yield f"- outcome: {inert(last['what'])} ({code(place(last['evidence'][0]))})"


def first(report: Report) -> Iterator[str]:
    """The lines to read first, where the cause is not plain."""
    items = unread(report, MOST_LINES)[:MOST_LINES]
    if items:
        yield "### Read also" if report["root_cause"] else "### Read first"
    for why, group in groupby(items, key=lambda i: i["why"]):
        yield ""
        yield f"{inert(sentence(why))}:"
        yield ""
        yield from fence([line(i) for i in group])


def evidence(report: Report) -> Iterator[str]:
    items, left = rests_on(report, MOST_LINES)
    if items:
        yield "### Evidence"
        yield ""
        yield from fence([line(i) for i in items])
    if left:
        yield ""
        yield f"and {counted(left, 'more line')} like these"


def chain(report: Report) -> Iterator[str]:
    groups = alike(followed(report))
    dated = any(one["when"] for group in groups for one in group)
    if len(groups) > 1:
        yield "### What followed"
        yield ""
        yield from (f"{number}. {step(group, dated)}" for number, group in enumerate(groups, 1))
    others = alike([k for k in beside(report) if k["place"] == "contributing"])
    if others:
        yield ""
        yield from (f"- also: {code(k['class'])} {inert(k.get('summary') or k['title'])}" for k, *_ in others)


def step(group: Sequence[Any], dated: bool) -> str:
    """One step of the chain; the first one is the cause, which stands above."""
    one = group[0]
    edge = f" ({one['edge']} effect of {code(one['because_of'])})" if one["edge"] else ""
    said = f" {inert(one.get('summary') or one['title'])}" if one["edge"] else ""
    when = f", {inert(told(one['when']))}" if dated else ""
    again = f", {len(group)} times" if len(group) > 1 else ""
    return f"{code(one['class'])}{said}{edge}{when}{again}, {code(place(one['evidence'][0]))}"


def gpus(report: Report) -> Iterator[str]:
    """The GPUs of which something is abnormal."""
    for table in exhibits(report, "table", "gpus"):
        odd = [row for row in table["rows"] if row["abnormal"]]
        keys = [c for c in table["columns"] if c["key"] == "gpu" or any(c["key"] in row["abnormal"] for row in odd)]
        if odd:
            yield "### GPUs out of order"
            yield ""
            yield from rows(keys, odd)


def rows(columns: Sequence[Mapping[str, Any]], data: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "| " + " | ".join(c["label"] for c in columns) + " |"
    yield "|" + " --- |" * len(columns)
    for row in data:
        cells = (shown(row["values"].get(c["key"], ""), c.get("unit", "")) for c in columns)
        yield "| " + " | ".join(code(cell) if cell.strip() else "" for cell in cells) + " |"


def ruled_out(report: Report) -> Iterator[str]:
    if report["ruled_out"]:
        yield "### Ruled out"
        yield ""
        yield from (f"- {code(one['class'])} {inert(one['reason'])}" for one in report["ruled_out"])


def unknown(report: Report) -> Iterator[str]:
    gaps, asks = report["gaps"], wanted(report)
    if gaps or asks:
        yield "### Not known"
        yield ""
    yield from (f"- {code(g['source'])} {g['state']}: {inert(g['reason'] or g['ask'])}" for g in gaps[:20])
    for ask, classes in asks[:20]:
        decides = f" ({', '.join(map(code, classes))})" if classes else ""
        yield f"- would decide: {inert(ask)}{decides}"


def advice(report: Report) -> Iterator[str]:
    todo = (report["root_cause"] or {}).get("advice", [])
    if todo:
        yield "### Next"
        yield ""
        yield from (f"- {inert(one)}" for one in todo)


def foot(report: Report) -> Iterator[str]:
    mark = f", failure {code(report['fingerprint'])}" if report["fingerprint"] else ""
    yield f"<sub>{report['tool']['name']} {code(report['tool']['version'])}{mark}</sub>"
