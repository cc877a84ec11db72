"""Hyperscan behind the scanner: needles -> one database, and a search over a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import hyperscan

from postmortem.needle import Needle

End = tuple[int, int]


def compiled(needles: Sequence[Needle]) -> tuple[Callable[[bytes], list[End]], list[int]]:
    """A search for all needles at once, and the numbers of those that it cannot look for."""
    wanted = {index: needle.expression or _either(needle) for index, needle in enumerate(needles)}
    lost = [index for index, expression in wanted.items() if not expression]
    indexes = [index for index, expression in wanted.items() if expression]
    database = _database(needles, {index: wanted[index] for index in indexes})
    if database is None:
        for index in indexes:
            if _database(needles, {index: wanted[index]}) is None:
                wanted[index] = _either(needles[index])
        lost += [index for index in indexes if not wanted[index]]
        indexes = [index for index in indexes if wanted[index]]
        database = _database(needles, {index: wanted[index] for index in indexes})
    if not indexes or database is None:
        return (lambda _: []), sorted({*lost, *indexes})
    return _search(database), sorted(lost)


def _search(database: hyperscan.Database) -> Callable[[bytes], list[End]]:
    def search(data: bytes) -> list[End]:
        ends: list[End] = []
        append = ends.append

        def found(pattern: int, start: int, end: int, flags: int, context: object) -> None:
            append((end, pattern))

        database.scan(data, match_event_handler=found)
        return ends

    return search


def _either(needle: Needle) -> str:
    """An expression for the literals alone."""
    return "|".join("".join(f"\\x{byte:02x}" for byte in word) for word in needle.literals)


def _database(needles: Sequence[Needle], expressions: dict[int, str]) -> hyperscan.Database | None:
    """The compiled expressions, or None where one of them is too much for hyperscan."""
    if not expressions:
        return None
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    try:
        database.compile(
            expressions=[expression.encode() for expression in expressions.values()],
            ids=list(expressions),
            flags=[hyperscan.HS_FLAG_CASELESS if needles[index].caseless else 0 for index in expressions],
        )
    except hyperscan.HyperscanError:
        return None
    return database
