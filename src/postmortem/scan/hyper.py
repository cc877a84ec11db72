"""Hyperscan behind the scanner: needles -> one database, and a search over a block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import hyperscan

from postmortem.scan.needle import Needle

End = tuple[int, int]
VERSION = str(getattr(hyperscan, "__version__", ""))


def compiled(needles: Sequence[Needle]) -> tuple[hyperscan.Database | None, list[int]]:
    """A database of all needles, and the numbers of those that cannot be looked for; each id is a needle's number."""
    wanted = {index: needle.expression or _either(needle) for index, needle in enumerate(needles)}
    database = _database(needles, wanted)
    if database is None:
        for index, expression in wanted.items():
            if expression and _database(needles, {index: expression}) is None:
                wanted[index] = _either(needles[index])  # too much for hyperscan
        database = _database(needles, wanted)
    lost = [index for index, expression in wanted.items() if not expression or database is None]
    return database, lost


def search_of(database: hyperscan.Database | None) -> Callable[[bytes], list[End]]:
    """A search for everything in the database: (end offset, needle) in any order, an end perhaps many times."""

    def search(data: bytes) -> list[End]:
        ends: list[End] = []
        append = ends.append

        def found(needle: int, start: int, end: int, flags: int, context: object) -> None:
            append((end, needle))

        if database is not None:
            database.scan(data, match_event_handler=found)
        return ends

    return search


def dumped(database: hyperscan.Database) -> bytes:
    return bytes(hyperscan.dumpb(database))


def loaded(data: bytes) -> hyperscan.Database | None:
    """The database that `dumped` gave, or None where the bytes are damaged or of another version or machine."""
    try:
        database = hyperscan.loadb(data, hyperscan.HS_MODE_BLOCK)
        database.scratch = hyperscan.Scratch(database)
    except hyperscan.HyperscanError:
        return None
    return database


def _either(needle: Needle) -> str:
    """An expression for the literals alone."""
    return "|".join("".join(f"\\x{byte:02x}" for byte in word) for word in needle.literals)


def _database(needles: Sequence[Needle], expressions: Mapping[int, str]) -> hyperscan.Database | None:
    """The compiled expressions, or None where there are none or one of them is too much for hyperscan."""
    wanted = {index: expression for index, expression in expressions.items() if expression}
    if not wanted:
        return None
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    try:
        database.compile(
            expressions=[expression.encode() for expression in wanted.values()],
            ids=list(wanted),
            flags=[hyperscan.HS_FLAG_CASELESS if needles[index].caseless else 0 for index in wanted],
        )
    except hyperscan.HyperscanError:
        return None
    return database
