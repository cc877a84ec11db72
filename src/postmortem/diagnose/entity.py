"""Whether two findings can speak of the same thing, and in which order they happened."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import PurePosixPath

from postmortem.clock import before, year_known
from postmortem.model import Finding, Instant

STRONG_KEYS = ("pid", "gpu", "cgroup", "container", "unit", "script", "port", "file", "mount")
VAGUE_S = 600.0  # a line without a stamp, far from the last line that had one
SLACK_S = 2.0  # two programs note the same moment this far apart without any clock being wrong


class Match(Enum):
    """What two sets of keys say about being the same thing."""

    SAME = "same"
    OPEN = "open"  # nothing in common to compare
    OTHER = "other"


def normal(key: str, value: str) -> str:
    """A key's value as it compares: base names, 15-byte comms, short PCI addresses."""
    if key == "gpu":
        short = value.lower().removeprefix("pci:").removesuffix(".0")
        return short.removeprefix("0000") if short.count(":") == 2 and len(short) > 10 else short
    if key in ("script", "file"):
        return PurePosixPath(value).name
    return value[:15] if key == "comm" else value


def same_key(key: str, a: str, b: str) -> bool:
    """Whether two values of one key name the same thing; cgroup paths and comms may be cut."""
    a, b = normal(key, a), normal(key, b)
    if key in ("comm", "cgroup", "container"):
        return a.startswith(b) or b.startswith(a) or a.endswith(b) or b.endswith(a)
    return a == b


def compare(a: Mapping[str, str], b: Mapping[str, str], same_namespace: bool = True) -> Match:
    """SAME when a strong key agrees, OTHER when one differs, else OPEN.

    A kernel log prints host pids, a program its own: a pid that differs across the two proves nothing.
    """
    shared = [k for k in a if k in b and k in (*STRONG_KEYS, "comm")]
    strong = [k for k in shared if k != "comm"]
    if any(k == "pid" and same_key(k, a[k], b[k]) for k in strong):
        return Match.SAME
    for key in shared:
        if not same_key(key, a[key], b[key]) and (key != "pid" or same_namespace):
            return Match.OTHER
    return Match.SAME if any(same_key(k, a[k], b[k]) for k in strong) else Match.OPEN


def seconds_apart(a: Instant | None, b: Instant | None) -> float | None:
    """b - a in seconds, or None where one is unknown or vague, or where the zones or years do not allow to say."""
    if a is None or b is None or year_known(a) != year_known(b) or max(a.plus_minus_s, b.plus_minus_s) > VAGUE_S:
        return None
    apart = (b.utc - a.utc).total_seconds()
    return apart if a.zone_known == b.zone_known or before(a, b) is not None else None


def slack(a: Instant | None, b: Instant | None) -> float:
    """How far apart, in seconds, two moments may be and still be of unknown order."""
    return SLACK_S + (a.plus_minus_s if a else 0) + (b.plus_minus_s if b else 0)


def comes_before(a: Finding, b: Finding, ends: bool = False) -> bool | None:
    """Whether a came before b: by time, else by line in one source, else unknown; `ends` compares their last lines."""
    mine, theirs = (a.evidence[-1], b.evidence[-1]) if ends else (a.evidence[0], b.evidence[0])
    first, second = (mine.when, theirs.when) if ends else (a.when, b.when)
    if mine.source == theirs.source and mine.line != theirs.line and (ends or first is None or second is None):
        return mine.line < theirs.line
    gap = seconds_apart(first, second)
    if gap is None or abs(gap) <= slack(first, second):
        return mine.line < theirs.line if mine.source == theirs.source and mine.line != theirs.line else None
    return gap > 0
