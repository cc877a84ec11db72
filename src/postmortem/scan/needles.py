"""Patterns -> needles, by way of those that were made when the package was built: a thousand take half a second.

A needle is right whatever Python made it: it is an expression over bytes, and the pattern says what it must find.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from postmortem.scan.needle import Needle, needle_of
from postmortem.scan.ready import ready, write

SORT, CODE = "needles", ("scan", "lazy.py")


def needles_of(patterns: Sequence[str]) -> list[Needle]:
    """The needle of each pattern."""
    known = _ready()
    return [_opened(known[pattern]) if pattern in known else needle_of(pattern) for pattern in patterns]


def prepare(folder: Path, patterns: Sequence[str]) -> None:
    """Writes the needles of these patterns for the package's users. Raises OSError."""
    told = {pattern: _told(needle_of(pattern)) for pattern in patterns}
    write(folder, SORT, CODE, (), json.dumps(told).encode())


@cache
def _ready() -> dict[str, Any]:
    body = ready(SORT, CODE)
    return json.loads(body) if body else {}


def _told(needle: Needle) -> list[Any]:
    return [needle.expression, needle.caseless, [word.decode() for word in needle.literals], list(needle.spots)]


def _opened(told: list[Any]) -> Needle:
    expression, caseless, literals, spots = told
    return Needle(expression, caseless, tuple(word.encode() for word in literals), tuple(spots))
