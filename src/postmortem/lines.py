"""One raw line of a log -> its stamp, writer and message."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time as a line states it; not yet on the common time line."""

    text: str
    clock: Literal["wall", "boot", "delta"]  # delta: relative to the line before (dmesg -d)
    wall: datetime | None = None  # aware when the zone is in the text, else naive; year 1 where the text has no year
    seconds: float | None = None  # for boot and delta
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


def split(raw: str, number: int = 0, dialect: str = "", kernel: bool = False) -> Line:
    """The parts of a line in the given dialect ("" tries all); a line of no known form is all message."""
    raise NotImplementedError


def dialect_of(sample: list[str]) -> str:
    """The name of the dialect that most lines of the sample are written in, or ""."""
    raise NotImplementedError
