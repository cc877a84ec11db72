"""The summary for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postmortem.triage.summary import Summary

BOLD, RED, YELLOW, DIM = "1", "31;1", "33;1", "2"
MOST = 20


def render(summary: Summary, colour: bool = False, everything: bool = False) -> str:
    """The summary as text; lines are never wrapped."""

    def paint(text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if colour and text else text

    most = 10**9 if everything else MOST
    parts = (head, groups, lemons, changes, gaps, by, unread)
    blocks = ["\n".join(part(summary, paint, most)) for part in parts]
    return "\n\n".join(b for b in blocks if b) + "\n"


def head(s: Summary, paint: Any, most: int) -> Iterator[str]:
    counts = ", ".join(f"{n:,} {status}" for status, n in s["status"].items())
    yield paint(f"{s['bundles']:,} bundles", BOLD) + (f": {counts}" if counts else "")
    if s["first"]:
        yield f"failures and ends from {s['first']} to {s['last']}"
    if s["cost"]:
        yield f"{s['cost']['lost']:,.2f} of machine time ended in failure ({s['cost']['bundles']} runs of known price)"


def groups(s: Summary, paint: Any, most: int) -> Iterator[str]:
    if s["groups"]:
        yield paint("What fails, most often first", BOLD)
    for g in s["groups"][:most]:
        new = paint("  NEW", YELLOW) if g["new"] else ""
        yield f"{g['count']:7,}  {g['share']:6.1%}  {paint(g['label'], RED if g['named'] else YELLOW)}{new}"
        hosts = f"{len(g['hosts'])} host{'s' * (len(g['hosts']) != 1)}, " if g["hosts"] else ""
        when = f"{day(g['first'])} to {day(g['last'])}, " if g["first"] else ""
        mean = f"after {duration(g['mean_time_to_failure_s'])} on average, " if g["mean_time_to_failure_s"] else ""
        near = f"reads most like {g['nearest']} ({g['likeness']:.2f}), " if g.get("nearest") else ""
        yield paint(f"         {g['id']}: {hosts}{when}{mean}{near}for example {g['example']}", DIM)
    if len(s["groups"]) > most:
        yield f"         and {len(s['groups']) - most} more groups"


def lemons(s: Summary, paint: Any, most: int) -> Iterator[str]:
    found = s["lemons"]["found"]
    if found:
        yield paint("Machines with more than their share", BOLD) + f"  (p corrected, below {s['lemons']['alpha']:g})"
    for one in found[:most]:
        told = f"{one['failures']} of {one['of']} where {one['expected']:g} are expected, p = {one['p_corrected']:.1e}"
        yield f"  {one['unit']} {one['value']}: {one['label']}: {told}"


def changes(s: Summary, paint: Any, most: int) -> Iterator[str]:
    found = s["changes"]["found"]
    if found:
        yield paint("What changed", BOLD)
    for one in found[:most]:
        versions = ", ".join(f"{v['what']} {v['value']}" for v in one["versions"]) or "no version that we know of"
        yield (
            f"  from {one['day']}: {one['label']}: {one['before']} of {one['bundles_before']} bundles before, "
            f"{one['after']} of {one['bundles_after']} since, p = {one['p_corrected']:.1e}; came with it: {versions}"
        )


def gaps(s: Summary, paint: Any, most: int) -> Iterator[str]:
    told = s["gaps"]
    if told["without_cause"]:
        yield paint("What was not collected", BOLD) + (
            f"  ({told['without_cause']:,} bundles without a cause, {told['with_a_gap']:,} of them with a gap)"
        )
        yield from (f"  {g['bundles']:7,}  {g['gap']}" for g in told["sources"][:8])


def by(s: Summary, paint: Any, most: int) -> Iterator[str]:
    for column, found in s["by"].items():
        if len(found) < 2:
            continue
        yield paint(f"By {column}", BOLD)
        for one in found[: 60 if column in ("day", "hour") else 8]:
            top = f", most often {one['top_class']}" if one["top_class"] else ""
            yield f"  {one['failed']:7,} of {one['bundles']:,} failed ({one['share']:.0%})  {one['value']}{top}"


def unread(s: Summary, paint: Any, most: int) -> Iterator[str]:
    if s["unread"]:
        yield paint("Not read", BOLD)
    yield from (f"  {one['path']}: {one['error']}" for one in s["unread"][:most])


def day(when: str | None) -> str:
    return (when or "")[:10]


def duration(seconds: float) -> str:
    if seconds >= 7200:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.0f} s"
