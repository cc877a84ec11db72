"""Hyperscan behind the scanner: needles -> two databases, and a search over a block.

The first looks for every needle, but of one with a spot for that alone; the second for all of those in the lines that
hold a spot. Together they report what one database of all needles would.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import hyperscan

from postmortem.scan.needle import Needle
from postmortem.scan.spot import either

End = tuple[int, int]
Wanted = Mapping[int, tuple[str, bool]]  # id -> expression, caseless
VERSION = str(getattr(hyperscan, "__version__", ""))
SPOTS = 1 << 20  # added to the number of a needle: what was found is its spot
MANY = 0.3  # share of a block from which all of it is looked at again


class Databases(NamedTuple):
    """What a search needs; the second is there where some needle is costly."""

    first: hyperscan.Database
    second: hyperscan.Database | None = None


def compiled(needles: Sequence[Needle]) -> tuple[Databases | None, list[int]]:
    """Databases of all needles, and the numbers of those that cannot be looked for."""
    wanted = {i: (needle.expression or either(needle.literals), needle.caseless) for i, needle in enumerate(needles)}
    if _database(wanted) is None:
        for index, (expression, caseless) in wanted.items():
            if expression and _database({index: (expression, caseless)}) is None:
                wanted[index] = either(needles[index].literals), caseless  # too much for hyperscan
    databases = _two(needles, wanted)
    lost = [index for index, (expression, _) in wanted.items() if not expression or databases is None]
    return databases, lost


def _two(needles: Sequence[Needle], wanted: Wanted) -> Databases | None:
    costly = {i for i, needle in enumerate(needles) if needle.spot and needle.expression == wanted[i][0]}
    spots = {i + SPOTS: (needles[i].spot, needles[i].caseless) for i in costly}
    first = _database({i: told for i, told in wanted.items() if i not in costly} | spots)
    second = _database({i: wanted[i] for i in costly})
    if first is not None and second is not None:
        return Databases(first, second)
    whole = _database(wanted)
    return Databases(whole) if whole is not None else None


def search_of(databases: Databases | None) -> Callable[[bytes], list[End]]:
    """A search for everything in the databases: (end offset, needle) in any order, an end perhaps many times."""

    own = threading.local()  # a scratch space serves one thread

    def look(database: hyperscan.Database, data: bytes) -> tuple[list[End], list[int]]:
        scratches = own.__dict__.setdefault("scratches", {})
        if database not in scratches:
            scratches[database] = hyperscan.Scratch(database)
        return _found(database, scratches[database], data)

    def search(data: bytes) -> list[End]:
        if databases is None:
            return []
        ends, spots = look(databases.first, data)
        second = databases.second
        if spots and second is not None:
            ends += _again(lambda part: look(second, part)[0], data, spots)
        return ends

    return search


def _found(database: hyperscan.Database, scratch: hyperscan.Scratch, data: bytes) -> tuple[list[End], list[int]]:
    """The ends of needles, and the offsets of spots."""
    ends: list[End] = []
    spots: list[int] = []
    add_end, add_spot = ends.append, spots.append

    def found(needle: int, start: int, end: int, flags: int, context: object) -> None:
        if needle < SPOTS:
            add_end((end, needle))
        else:
            add_spot(end)

    database.scan(data, match_event_handler=found, scratch=scratch)
    return ends, spots


def _again(look: Callable[[bytes], list[End]], data: bytes, spots: list[int]) -> list[End]:
    """The ends of costly needles in the lines that hold a spot."""
    pieces, starts, shifts, size, line_end = [], [], [], 0, 0
    spots.sort()
    for spot in spots:
        if spot <= line_end:
            continue
        start = data.rfind(b"\n", line_end, spot - 1) + 1 or line_end
        line_end = data.find(b"\n", spot - 1) + 1 or len(data)
        pieces.append(data[start:line_end])
        starts.append(size)
        shifts.append(start - size)
        size += line_end - start
        if size > MANY * len(data):
            return look(data)
    return [(end + shifts[bisect_right(starts, end - 1) - 1], needle) for end, needle in look(b"".join(pieces))]


def dumped(databases: Databases) -> list[bytes]:
    return [bytes(hyperscan.dumpb(database)) for database in databases if database is not None]


def loaded(parts: Sequence[bytes]) -> Databases | None:
    """The databases that `dumped` gave, or None where the bytes are damaged or of another version or machine."""
    try:
        databases = [hyperscan.loadb(part, hyperscan.HS_MODE_BLOCK) for part in parts]
        for database in databases:
            hyperscan.Scratch(database)  # refuses what is no database of this machine
    except hyperscan.HyperscanError:
        return None
    return Databases(*databases) if 1 <= len(databases) <= 2 else None


def _database(wanted: Wanted) -> hyperscan.Database | None:
    """The compiled expressions, or None where there are none or one of them is too much for hyperscan."""
    told = {index: each for index, each in wanted.items() if each[0]}
    if not told:
        return None
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    try:
        database.compile(
            expressions=[expression.encode() for expression, _ in told.values()],
            ids=list(told),
            flags=[hyperscan.HS_FLAG_CASELESS if caseless else 0 for _, caseless in told.values()],
        )
    except hyperscan.HyperscanError:
        return None
    return database
