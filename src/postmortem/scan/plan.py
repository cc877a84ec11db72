"""Needles -> how they are looked for: their rare words everywhere, the whole of each only in lines that hold one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from postmortem.lazy import lazy
from postmortem.scan.needle import Needle
from postmortem.scan.spot import spelled

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
    owners: dict[Wanted, list[int]] = {}
    caseless = {spot for needle in needles if needle.caseless for spot in needle.spots}
    whole: list[int] = []
    lost: list[int] = []
    for index, needle in enumerate(needles):
        known = bool(needle.expression) and index not in refused
        spots = needle.spots or (() if known else tuple(map(spelled, needle.literals)))
        for spot in spots:
            folded = spot if needle.caseless else _folded(spot)
            wanted = (folded, True) if folded in caseless else (spot, needle.caseless)
            owners.setdefault(wanted, []).append(index)  # what is looked for in any case is not looked for twice
        if not spots:
            (whole if known else lost).append(index)
    told = tuple((needle.expression, needle.caseless) for needle in needles)
    return Plan(tuple(owners), tuple(map(tuple, owners.values())), tuple(whole), told, tuple(lost))


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


def _folded(spot: str) -> str:
    """The spot in lower case, where it is a word."""
    return spelled(bytes.fromhex(spot.replace("\\x", "")).lower()) if _WORD.fullmatch(spot) else spot
