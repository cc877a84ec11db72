"""The report for a tired operator at a terminal: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postmortem.report import Report

BOLD, RED, GREEN, YELLOW, DIM = "1", "31;1", "32;1", "33;1", "2"
MOST_LINES = 4


def render(report: Report, colour: bool = False, verbose: bool = False) -> str:
    """The report as text; lines are never cut or wrapped, and evidence stands as source:line: text."""
    paint = painter(colour)
    parts = (verdict, evidence, chain, context, ruled_out, missing, advice, foot)
    blocks = ("\n".join(part(report, paint, verbose)) for part in parts)
    return "\n\n".join(block for block in blocks if block) + "\n"


def painter(colour: bool) -> Any:
    def paint(text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if colour and text else text

    return paint


def verdict(report: Report, paint: Any, verbose: bool) -> Iterator[str]:
    root, status = report["root_cause"], report["status"]
    if root:
        yield paint("FAILED", RED) + "  " + paint(root["summary"], BOLD)
        yield f"        {root['class']}, confidence {root['confidence']}: {root['because']}"
        yield from (f"        at {stamp(root['when'])}" for _ in [0] if root["when"])
    elif status == "failed":
        yield paint("FAILED", RED) + "  " + paint("the cause could not be decided", BOLD)
    elif status == "healthy":
        yield (
            paint("HEALTHY", GREEN)
            + "  "
            + paint("the latest run succeeded and nothing speaks of a failure after it", BOLD)
        )
    else:
        yield paint("UNDECIDED", YELLOW) + "  " + paint("nothing collected says how the run ended", BOLD)
    end = report["outcome"]
    if end:
        yield f"        outcome: {end['what']} ({place(end['evidence'][0])})"


def evidence(report: Report, paint: Any, verbose: bool) -> Iterator[str]:
    items = (report["root_cause"] or report["outcome"] or {}).get("evidence", [])
    if items:
        yield paint("Evidence", BOLD)
        shown = items if verbose else items[:MOST_LINES]
        yield from (f"  {place(i)}: {i['text']}" for i in shown)
        if len(items) > len(shown):
            yield f"  ... {len(items) - len(shown)} more lines (-v)"


def chain(report: Report, paint: Any, verbose: bool) -> Iterator[str]:
    links = [k for k in report["chain"] if k["place"] in ("root", "consequence", "symptom")]
    if len(links) > 1:
        yield paint("What followed", BOLD)
        for number, one in enumerate(links):
            arrow = "  " if not number else "   -> "
            edge = f" [{one['edge']}, because of {one['because_of']}]" if one["edge"] else ""
            told = f"{one['class']}: {one['summary']}{edge}  ({place(one['evidence'][0])})"
            yield f"{arrow}{stamp(one['when']):20s}  {told}"


def context(report: Report, paint: Any, verbose: bool) -> Iterator[str]:
    links = [k for k in report["chain"] if k["place"] in ("contributing", "context") and k["class_role"] != "outcome"]
    if links:
        yield paint("Also", BOLD)
    for one in links:
        note = f"; not the cause: {one['note']}" if one["note"] else ""
        yield f"  {one['place']:12s}  {one['class']}: {one['summary']}{note}  ({place(one['evidence'][0])})"


def ruled_out(report: Report, paint: Any, verbose: bool) -> Iterator[str]:
    if report["ruled_out"]:
        yield paint("Ruled out", BOLD)
    for one in report["ruled_out"]:
        yield f"  {one['class']}: {one['reason']}"
        yield from (f"    {place(i)}: {i['text']}" for i in one["evidence"][:2])


def missing(report: Report, paint: Any, verbose: bool) -> Iterator[str]:
    gaps = report["gaps"]
    if gaps:
        yield paint("Not known", BOLD)
        yield from (f"  {g['source']}: {g['state']}" + (f": {g['reason']}" if g["reason"] else "") for g in gaps)
    if report["would_decide"]:
        yield paint("Would decide", BOLD)
        yield from (f"  {w}" for w in report["would_decide"])


def advice(report: Report, paint: Any, verbose: bool) -> Iterator[str]:
    todo = (report["root_cause"] or {}).get("advice", [])
    if todo:
        yield paint("Next", BOLD)
        yield from (f"  - {a}" for a in todo)


def foot(report: Report, paint: Any, verbose: bool) -> Iterator[str]:
    yield from (paint(f"warning: {w}", YELLOW) for w in report["warnings"])
    about = report["input"]
    whole = "complete" if about["complete"] else "partial"
    yield paint(
        f"{about['path']}: {about['kind']}, {whole}, {len(about['sources'])} sources; {report['tool']['version']}",
        DIM,
    )


def place(item: Any) -> str:
    return f"{item['source']}:{item['line']}" if item["line"] else str(item["source"])


def stamp(when: Any) -> str:
    if not when:
        return "time unknown"
    return str(when["utc"]) + ("" if when["zone_known"] else " (zone unknown)")
