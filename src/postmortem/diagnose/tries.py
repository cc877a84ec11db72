"""Whether one log is of an earlier try at what another log is of: then a success of the later one ends the matter."""

from __future__ import annotations

from itertools import islice

from postmortem.diagnose.entity import seconds_apart
from postmortem.diagnose.spans import first_stamp, last_stamp
from postmortem.lazy import lazy
from postmortem.model import Kind
from postmortem.scene import Reading, Scene

FIRST = 5  # lines by which two logs are known as of one program
ALIKE = 4
_ATTEMPT = lazy(r"(?i)(?:attempt|retry|try|run)[=_.-]?\d+")
_NUMBERS = lazy(r"[0-9a-f]*\d[0-9a-f]*")


def an_earlier_try(log: str, later: str, scene: Scene) -> bool:
    """Whether the first log is of an earlier try than the second, by their names or by times and first lines."""
    if of_an_earlier_attempt(log, later):
        return True
    one, other = scene.reading(log), scene.reading(later)
    if one is None or other is None or one is other or {one.source.kind, other.source.kind} != {Kind.LOG}:
        return False
    gap = seconds_apart(last_stamp(one), first_stamp(other))
    return gap is not None and gap >= 0 and alike(one, other)


def of_an_earlier_attempt(log: str, later: str) -> bool:
    """Whether two logs are of two tries at one thing: `attempt=1.log` and `attempt=2.log`."""
    return log != later and _ATTEMPT.search(log) is not None and _ATTEMPT.sub("", log) == _ATTEMPT.sub("", later)


def alike(a: Reading, b: Reading) -> bool:
    """Whether two logs begin with the same lines, but for numbers."""
    mine, theirs = beginning(a), beginning(b)
    same = sum(x == y for x, y in zip(mine, theirs, strict=False))
    return same >= ALIKE and len(set(mine)) > 1


def beginning(reading: Reading) -> list[str]:
    said = (_NUMBERS.sub("#", f"{line.program} {line.message}") for line in reading.lines() if line.message.strip())
    return list(islice(said, FIRST))
