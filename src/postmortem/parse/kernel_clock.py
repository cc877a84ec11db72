"""Whether the kernel's clock is kept right, as adjtimex, timedatectl, chronyc or ntpq say -> facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Parser, Reading

PATH = "clock/sync"
_STATE = lazy(r"^\s*return value\s*[:=]\s*(?P<state>\d)\b")
_STATUS = lazy(r"^\s*status:\s+(?P<status>\d+)")
_ADJTIMEX = lazy(r"^(?:-o)?\s*(?P<name>offset|maxerror|esterror):\s+(?P<value>-?\d+)(?: (?P<unit>us|ns))?\s*$")
_SYSTEMD = lazy(r"^NTPSynchronized=(?P<kept>yes|no)$")
_CHRONY = lazy(r"^System time\s+: (?P<value>[\d.]+) seconds (?P<side>slow|fast) of NTP time$")
_LEAP = lazy(r"^Leap status\s+: (?P<what>.+)$")
_NTPQ = lazy(r"\bleap_(?P<leap>none|alarm|add_sec|del_sec)\b")
_NTPQ_OFFSET = lazy(r"(?:^|[ ,])offset=(?P<value>[+-]?[\d.]+)")
_NANO, _ERROR = 0x2000, 5


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Facts of `return value: 5 (clock not synchronized)` and `maxerror: 16000000 us` of adjtimex(2), by busybox.

    Also of `NTPSynchronized=yes` by timedatectl, `Leap status     : Normal` by chronyc, `leap_none` by ntpq.
    """
    if reading.path != PATH:
        return
    lines = [(line.number, line.raw) for line in reading.lines()]
    nano = any((found := _STATUS.match(raw)) and int(found["status"]) & _NANO for _, raw in lines)
    kept = next(((verdict, number) for number, raw in lines if (verdict := _kept(raw)) is not None), None)
    if kept is not None:
        yield reading.fact("clock.synchronised", kept[0], kept[1])
    for number, raw in lines:
        if found := _ADJTIMEX.match(raw):
            scale = 1e-9 if found["name"] == "offset" and (found["unit"] == "ns" or nano) else 1e-6
            name = {"offset": "clock.offset", "maxerror": "clock.max_error", "esterror": "clock.estimated_error"}
            yield reading.fact(name[found["name"]], int(found["value"]) * scale, number, "s")
        elif found := _CHRONY.match(raw):
            sign = 1 if found["side"] == "fast" else -1
            yield reading.fact("clock.offset", sign * float(found["value"]), number, "s")
        elif found := _NTPQ_OFFSET.search(raw):
            yield reading.fact("clock.offset", float(found["value"]) / 1000, number, "s")


_VERDICTS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], bool]], ...] = (
    (_STATE, lambda found: int(found["state"]) != _ERROR),
    (_SYSTEMD, lambda found: found["kept"] == "yes"),
    (_LEAP, lambda found: found["what"].strip() != "Not synchronised"),
    (_NTPQ, lambda found: found["leap"] != "alarm"),
)


def _kept(raw: str) -> bool | None:
    """What a line says of it; None for one that says nothing."""
    return next((said(found) for pattern, said in _VERDICTS if (found := pattern.search(raw))), None)


PARSER = Parser(name="kernel-clock", kinds=frozenset({Kind.PROBE}), read=read)
