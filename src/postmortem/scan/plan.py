"""Needles -> how they are looked for: their rare words everywhere, the whole of each only in lines that hold one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from postmortem.lazy import lazy
from postmortem.scan.needle import Needle
from postmortem.scan.spot import spelled

MORE = 3  # marks around a word that are not worth a find of their own
MANY = 16  # needles that are looked for in each line with one word
_WORD = lazy(r"(?:\\x[0-9a-f]{2})+")
Wanted = tuple[str, bool]  # an expression, and whether it is caseless


class Plan(NamedTuple):
    """What the first pass looks for, and what is asked of the lines that it finds."""

    spots: tuple[Wanted, ...]  # each once
    owners: tuple[tuple[int, ...], ...]  # of each spot the needles of which every match holds one of their spots
    whole: tuple[int, ...]  # needles without a spot: the first pass looks for all of each
    needles: tuple[Wanted, ...]  # all of every needle; "" where its spots are all that can be said
    lost: tuple[int, ...]  # needles of which nothing can be said


def plan_of(needles: Sequence[Needle], refused: frozenset[int] = frozenset()) -> Plan:
    """The plan for these needles; the expressions of those in `refused` are too much for the first pass."""
    owners: dict[Wanted, set[int]] = {}
    whole: list[int] = []
    lost: list[int] = []
    for index, needle in enumerate(needles):
        known = bool(needle.expression) and index not in refused
        spots = needle.spots or (() if known else tuple(map(spelled, needle.literals)))
        for spot in spots:
            owners.setdefault((spot, needle.caseless), set()).add(index)
        if not spots:
            (whole if known else lost).append(index)
    owners = _fewer(owners)
    told = tuple((needle.expression, needle.caseless) for needle in needles)
    return Plan(tuple(owners), tuple(tuple(sorted(each)) for each in owners.values()), tuple(whole), told, tuple(lost))


def as_json(plan: Plan) -> list[Any]:
    return list(plan)


def from_json(told: Sequence[Any]) -> Plan:
    """The plan that `as_json` gave."""
    spots, owners, whole, needles, lost = told
    return Plan(
        tuple((str(spot), bool(caseless)) for spot, caseless in spots),
        tuple(map(tuple, owners)),
        tuple(whole),
        tuple((str(expression), bool(caseless)) for expression, caseless in needles),
        tuple(lost),
    )


def _fewer(owners: dict[Wanted, set[int]]) -> dict[Wanted, set[int]]:
    """The same without words that are another one and a few marks: each would be one more find in the same lines."""
    words = {wanted: bytes.fromhex(wanted[0].replace("\\x", "")) for wanted in owners if _WORD.fullmatch(wanted[0])}
    known = {(word, wanted[1]): wanted for wanted, word in words.items()}
    for wanted, word in sorted(words.items(), key=lambda item: (-len(item[1]), item[0][1])):
        inner = next((known[part] for part in _parts(word, wanted[1]) if part in known), None)
        if inner is not None and len(owners[inner]) + len(owners[wanted]) <= MANY:
            owners[inner] |= owners.pop(wanted)
    return owners


def _parts(word: bytes, caseless: bool) -> Iterator[tuple[bytes, bool]]:
    """Words that each line with this one holds too, the shortest first."""
    for less in range(MORE, -1, -1):
        for start in range(less + 1):
            stop = len(word) - less + start
            part = word[start:stop]
            if any(chr(byte).isalnum() for byte in word[:start] + word[stop:]):
                continue
            if (less or not caseless) and not (word.isupper() and not caseless):  # a shout is rarer than the word
                yield part.lower(), True
            if less and not caseless:
                yield part, False
