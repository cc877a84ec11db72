"""What carries a log changed, and nothing of what it says: colours, line ends, compression, rotation, containers."""

from __future__ import annotations

import gzip
import json
import re

from evidence import LOGS, DoesNotApply, Files, each, joined, kind, lines, readings

from postmortem.lines import split
from postmortem.model import Kind

FOR_MACHINES = frozenset({Kind.SCRIPT, Kind.CONFIG, Kind.PROC, Kind.BINARY, Kind.CGROUP})  # a CR is content there
_LEVEL = re.compile(r"\b(ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|CRITICAL|error|warning)\b")
LEAST = 9  # lines of a log that somebody would rotate


def ansi(given: Files) -> Files:
    """Colours as journalctl, dmesg and Rust's tracing print them: a dim stamp, a bold level."""

    def change(text: str) -> str:
        return "\n".join(coloured(row) for row in text.split("\n"))

    return each(given, change, LOGS)


def coloured(row: str) -> str:
    if not row.strip() or row.lstrip()[0] == "{":
        return row
    first, space, rest = row.partition(" ")
    if row.startswith("[") and "]" in row:
        first, space, rest = row.partition("] ")
        return f"\x1b[32m{first}]\x1b[0m {rest}" if space else row
    return f"\x1b[2m{first}\x1b[0m{space}" + _LEVEL.sub("\x1b[1;31m\\1\x1b[0m", rest)


def crlf(given: Files) -> Files:
    """Line ends of a terminal."""
    human = frozenset(Kind) - FOR_MACHINES
    return each(given, lambda text: re.sub(r"(?<!\r)\n", "\r\n", text), human)


def gzipped(given: Files) -> Files:
    """Every file compressed, as logrotate's `compress` leaves it."""
    return {f"{path}.gz": gzip.compress(data, mtime=0) for path, data in given.items()}


def rotated(given: Files) -> Files:
    """Each stamped log in three: the newest under its name, then .1, then .2.gz; cut where a record begins."""
    changed: dict[str, bytes] = {}
    for path, data in given.items():
        pieces = cut(data) if kind(path, data) in LOGS else None
        if pieces:
            changed[path], changed[f"{path}.1"] = pieces[2], pieces[1]
            changed[f"{path}.2.gz"] = gzip.compress(pieces[0], mtime=0)
        else:
            changed[path] = data
    if changed == dict(given):
        raise DoesNotApply
    return changed


def cut(data: bytes) -> list[bytes] | None:
    """Three pieces of about the same size, or None for a log that nobody would rotate."""
    rows = lines(data)
    starts = [i for i, row in enumerate(rows) if split(row).stamp]
    if len(starts) < LEAST:
        return None
    one, two = starts[len(starts) // 3], starts[2 * len(starts) // 3]
    return [joined([*rows[:one], ""]), joined([*rows[one:two], ""]), joined(rows[two:])]


def docker_json(given: Files) -> Files:
    """Programs' logs whose lines have times as docker's json-file driver writes them."""
    changed = dict(given)
    for path, reading in readings(given).items():
        if reading.source.kind is not Kind.LOG or path not in given or reading.source.dialect in ("docker-json", "cri"):
            continue
        rows = [(n, row) for n, row in enumerate(lines(given[path]), 1) if row]
        whens = [reading.when(n) for n, _ in rows]
        if not rows or not whens[0] or whens[0].utc.year < 1970 or not all(whens):
            continue
        changed[path] = joined(
            [
                json.dumps({"log": row + "\n", "stream": "stderr", "time": f"{w.utc:%Y-%m-%dT%H:%M:%S.%f}000Z"})
                for (_, row), w in zip(rows, whens, strict=True)
                if w
            ]
            + [""]
        )
    if changed == dict(given):
        raise DoesNotApply
    return changed
