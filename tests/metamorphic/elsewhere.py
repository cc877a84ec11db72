"""The quiet log of some other service, of another day, beside a case: no part of its story."""

from __future__ import annotations

from datetime import timedelta

from evidence import DoesNotApply, Files, readings

from postmortem.clock import year_known
from postmortem.model import Kind

NAME = "other/inventory-sync.log"
LINES = 60


def service_log(given: Files, days: int) -> Files:
    """The files and a log that begins this many days after the case's newest dated line, and tells of no trouble."""
    ends = [
        when
        for reading in readings(given).values()
        for number in range(1, reading.source.text.count + 1)
        if reading.source.kind is not Kind.SMI and (when := reading.when(number)) is not None and year_known(when)
    ]
    if not ends:
        raise DoesNotApply
    first = max(ends, key=lambda when: when.utc).utc + timedelta(days=days)
    rows = (
        f"{first + timedelta(seconds=20 * n):%Y-%m-%dT%H:%M:%S}Z INFO inventory: pass {n} took {300 + n} ms\n"
        for n in range(LINES)
    )
    return {**given, NAME: "".join(rows).encode()}
