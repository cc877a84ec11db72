"""Hyperscan behind the scanner: the one pass over all bytes for the spots of a plan and for what has none."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable

import hyperscan

from postmortem.scan.needle import Needle
from postmortem.scan.plan import Plan, plan_of

Numbered = tuple[int, str, bool]  # number, expression, caseless
VERSION = str(getattr(hyperscan, "__version__", ""))
MACHINE = os.uname().machine  # what a database says of its machine is which instructions it needs, not whose they are
SPOT = 1 << 20  # the number of the first spot; needles are below
Raw = tuple[list[int], list[int]]  # the ends, and what ends there, in any order, one perhaps many times
Finder = Callable[[bytes], Raw]


def planned(needles: list[Needle]) -> tuple[Plan, hyperscan.Database | None]:
    """A plan for the needles, and the database of its first pass."""
    plan = plan_of(needles)
    database = compiled(_first(plan))
    if database is None:
        refused = frozenset(i for i in plan.whole if compiled([(i, *plan.needles[i])]) is None)
        plan = plan_of(needles, refused)
        database = compiled(_first(plan))
    return plan, database


def _first(plan: Plan) -> list[Numbered]:
    spots = [(SPOT + number, *spot) for number, spot in enumerate(plan.spots)]
    return [(number, *plan.needles[number]) for number in plan.whole] + spots


def compiled(wanted: Iterable[Numbered]) -> hyperscan.Database | None:
    """The compiled expressions, or None: there are none, or one is too much for hyperscan."""
    told = list(wanted)
    if not told:
        return None
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    try:
        database.compile(
            expressions=[expression.encode() for _, expression, _ in told],
            ids=[number for number, _, _ in told],
            flags=[hyperscan.HS_FLAG_CASELESS if caseless else 0 for _, _, caseless in told],
        )
    except hyperscan.HyperscanError:
        return None
    return database


def finder(database: hyperscan.Database) -> Finder:
    """A search for everything in the database."""
    own = threading.local()  # a scratch space serves one thread

    def search(data: bytes) -> Raw:
        scratch = own.__dict__.get("scratch")
        if scratch is None:
            scratch = own.scratch = hyperscan.Scratch(database)
        ends: list[int] = []
        numbers: list[int] = []
        add_end, add_number = ends.append, numbers.append

        def found(number: int, start: int, end: int, flags: int, context: object) -> None:
            add_end(end)
            add_number(number)

        database.scan(data, match_event_handler=found, scratch=scratch)
        return ends, numbers

    return search


def dumped(database: hyperscan.Database) -> bytes:
    return bytes(hyperscan.dumpb(database))


def loaded(data: bytes) -> hyperscan.Database | None:
    """The database that `dumped` gave, or None where the bytes are damaged or of another version or machine."""
    try:
        database = hyperscan.loadb(data, hyperscan.HS_MODE_BLOCK)
        hyperscan.Scratch(database)  # refuses what is no database of this machine
    except hyperscan.HyperscanError:
        return None
    return database
