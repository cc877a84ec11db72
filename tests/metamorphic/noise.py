"""Healthy lines of other cases mixed in: before the first line of each log, and after the last of the system's."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from evidence import LOGS, DoesNotApply, Files, base, files, joined, kind, lines, write

from postmortem.analysis import engine, examine
from postmortem.lines import split
from postmortem.model import Kind
from postmortem.signatures import confirm, match
from scoring import cases, said

COUNT = 40
BAD = frozenset({"error", "fatal", "critical", "panic", "alert", "emergency", "warn", "warning"})


@cache
def pool(wanted: Kind) -> tuple[str, ...]:
    """Messages of healthy cases that no finding rests on: with the writer's tag for a journal, bare otherwise."""
    found: list[str] = []
    for case in cases():
        if case.expect["root_cause"] == "healthy" or (wanted is Kind.KERNEL and said(base(case)) is not None):
            found += [
                m
                for path, data in files(case).items()
                if kind(path, data) is wanted
                for m in ordinary(path, data, base(case), wanted)
            ]
    messages = list(dict.fromkeys(found))[: 4 * COUNT]
    return tuple(quiet(messages, wanted))


def ordinary(path: str, data: bytes, report: dict[str, object], wanted: Kind) -> list[str]:
    """The messages of a log's first half that no evidence quotes and that are of no bad level."""
    quoted = quoted_lines(report, path)
    rows = lines(data)
    told = []
    for number, raw in enumerate(rows[: len(rows) // 2], 1):
        line = split(raw, number, "", kernel=wanted is Kind.KERNEL)
        if line.stamp and line.message.strip() and number not in quoted and line.level not in BAD:
            tag = f"{line.program}[{line.pid or 700}]: " if wanted is Kind.JOURNAL else ""
            if not (wanted is Kind.JOURNAL and (line.channel == "kernel" or not line.program)):
                told.append(tag + line.message)
    return told


def quoted_lines(tree: object, path: str) -> set[int]:
    """The lines of a file that a report quotes anywhere."""
    if isinstance(tree, dict):
        own = {int(tree["line"])} if tree.get("source") == path and tree.get("line") else set[int]()
        return own.union(*(quoted_lines(v, path) for v in tree.values()))
    if isinstance(tree, list):
        return set[int]().union(*(quoted_lines(v, path) for v in tree))
    return set()


def quiet(messages: list[str], wanted: Kind) -> list[str]:
    """The messages without those that the analysis says anything about when they stand alone."""
    name = {Kind.KERNEL: "dmesg.txt", Kind.JOURNAL: "journal.txt"}.get(wanted, "app.log")
    heads = {
        Kind.KERNEL: "[{n:5}.000000] ",
        Kind.JOURNAL: "May 01 12:00:{n:02} node-1 ",
        Kind.LOG: "2026-05-01T12:00:{n:02}Z INFO ",
    }
    rows = [heads[wanted].format(n=n % 60) + message for n, message in enumerate(messages)]
    used = said_of({name: joined([*rows, ""])})
    return [m for n, m in enumerate(messages, 1) if n not in used]


def said_of(given: Files) -> set[int]:
    """The lines that any finding, possible or refuted, rests on; the report would not show all of them."""
    tool = engine()
    with tempfile.TemporaryDirectory() as place:
        _, scene = examine(tool, write(given, Path(place) / "evidence"))
    findings = match(tool.catalogue, scene, confirm(tool.catalogue, scene.readings))
    return {e.line for f in findings for e in (*f.evidence, *(e for _, e in f.against))}


def mixed_in(given: Files) -> Files:
    """Noise in the log's own form: at the moment of its first line, and, where others write too, of its last.

    After the end of one program's own log nothing is added: lines of that program there would say that it went on.
    """
    changed = {
        path: noisy(data, kind(path, data)) if kind(path, data) in LOGS else data for path, data in given.items()
    }
    if changed == dict(given):
        raise DoesNotApply
    return changed


def noisy(data: bytes, what: Kind) -> bytes:
    rows = lines(data)
    heads = [(n, head) for n, raw in enumerate(rows) if (head := head_of(raw, what)) is not None]
    if not heads:
        return data
    noise = pool(what)[:COUNT]
    (first, before), (last, after) = heads[0], heads[-1]
    rows[last + 1 : last + 1] = (
        [after + m for m in noise[COUNT // 2 :]] if what is not Kind.LOG and last >= len(rows) - 3 else []
    )
    rows[first:first] = [before + m for m in noise[: COUNT // 2]]
    return joined(rows)


def head_of(raw: str, what: Kind) -> str | None:
    """What stands before the message, as far as it is not the writer's tag; None for a line of another form."""
    line = split(raw, 0, "", kernel=what is Kind.KERNEL)
    if not line.stamp or not line.message or not raw.endswith(line.message) or raw.startswith(("{", "type=")):
        return None
    head = raw[: len(raw) - len(line.message)]
    if what is Kind.JOURNAL:
        at = head.find(line.host, len(line.stamp.text) - 1) if line.host else -1
        return head[: at + len(line.host)] + " " if at > 0 else None
    return head
