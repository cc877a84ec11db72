"""The values that a line is taken apart into."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple


class Stamp(NamedTuple):  # not a dataclass: every line of a log has one, and a tuple is made three times as fast
    """A time as a line states it; not yet on the common time line.

    `clock` is `wall`; `boot`: seconds since boot; `delta`: seconds since the line before (dmesg -H); `start`: seconds
    since the program's own start, which orders lines but gives no wall time.
    """

    text: str
    clock: Literal["wall", "boot", "delta", "start"]
    wall: datetime | None = None  # aware when the zone is in the text, else naive; year 4 where the text has no year
    seconds: float | None = None  # for boot, delta and start
    resolution_s: float = 1.0
    has_year: bool = True
    has_date: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """A log line taken apart; what is not there is empty."""

    number: int
    raw: str
    message: str
    stamp: Stamp | None = None
    host: str = ""
    program: str = ""
    pid: str = ""  # the writer's
    level: str = ""
    channel: Literal["kernel", "program"] = "program"


class Head:
    """What was peeled off a line so far; `text` is what is left."""

    __slots__ = ("host", "kernel", "level", "pid", "program", "stamps", "text")

    def __init__(self, text: str, kernel: bool = False) -> None:
        self.text = text
        self.stamps: list[Stamp] = []  # outermost first
        self.host = ""
        self.program = ""
        self.pid = ""
        self.level = ""
        self.kernel = kernel
