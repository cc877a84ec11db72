"""The second look where the first pass found much: by arrays, with no loop over the finds.

numpy takes as long to import as a small diagnosis lasts, so nothing imports this module until there is much.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from postmortem.scan import hyper
from postmortem.scan.second import CROWD, Finder, Second

Numbers = npt.NDArray[np.int64]
NEWLINE = 10


def breaks(block: bytes) -> Numbers:
    """The offsets of the newlines."""
    return np.flatnonzero(np.frombuffer(block, np.uint8) == NEWLINE)


def distinct(codes: Numbers) -> Numbers:
    """Each once, sorted: np.unique, which hashes, takes ten times as long."""
    codes = np.sort(codes)
    first: Numbers = codes[np.concatenate((np.ones(1, np.bool_), codes[1:] != codes[:-1]))] if codes.size else codes
    return first


def lines(second: Second, data: bytes, newlines: Numbers, raw: hyper.Raw, patterns: int) -> Numbers:
    """`line * patterns + needle` of everything that stands in the block, in any order, by what the first pass found."""
    at, numbers = _located(newlines, raw)
    spots = numbers >= hyper.SPOT
    found = [(at * patterns + numbers)[~spots]]
    if spots.any():
        starts = np.concatenate((np.zeros(1, np.int64), newlines + 1))
        stops = np.concatenate((newlines + 1, np.full(1, len(data), np.int64)))
        codes = distinct(at[spots] << 32 | numbers[spots] - hyper.SPOT)
        held = codes >> 32, codes & 0xFFFFFFFF
        known = np.flatnonzero(np.bincount(held[1])).tolist()
        for spot, needles in second.same(known).items():
            found += [held[0][held[1] == spot] * patterns + needle for needle in needles]
        finders, hot = second.finders, second.hot(known)  # before the cold ones may make another database
        found.append(_cold(second, data, (starts, stops), held, second.cold(known), patterns))
        wanted = distinct(held[0][np.isin(held[1], np.fromiter(hot, np.int64, len(hot)))])
        found += _again(finders, data, (starts, stops), wanted, patterns)
    return np.concatenate(found)


def _located(newlines: Numbers, raw: hyper.Raw) -> tuple[Numbers, Numbers]:
    """(line, what ends in it) of each find."""
    ends, numbers = raw
    at = np.fromiter(ends, np.int64, len(ends))
    return np.searchsorted(newlines, at - 1), np.fromiter(numbers, np.int64, len(numbers))


def _cold(
    second: Second, data: bytes, lines: tuple[Numbers, Numbers], held: tuple[Numbers, Numbers],
    cold: dict[int, list[int]], patterns: int,
) -> Numbers:  # fmt: skip
    """What no database looks for yet."""
    keep = np.isin(held[1], np.fromiter(cold, np.int64, len(cold)))
    wanted: dict[int, set[int]] = {}
    for line, spot in zip(held[0][keep].tolist(), held[1][keep].tolist(), strict=True):
        wanted.setdefault(line, set()).update(cold[spot])
    codes = [
        line * patterns + needle
        for line, needles in wanted.items()
        for needle in second.standing(data, int(lines[0][line]), int(lines[1][line]), needles)
    ]
    second.promote(CROWD)
    return np.fromiter(codes, np.int64, len(codes))


def _again(
    finders: tuple[Finder, ...], data: bytes, lines: tuple[Numbers, Numbers], wanted: Numbers, patterns: int
) -> list[Numbers]:
    """What the databases find in the wanted lines."""
    if not wanted.size or not finders:
        return []
    starts, stops = lines[0][wanted], lines[1][wanted]
    joined = b"".join([data[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)])
    ends = np.cumsum(stops - starts)
    found = []
    for finder in finders:
        offsets, needles = finder(joined)
        at = np.searchsorted(ends, np.fromiter(offsets, np.int64, len(offsets)))
        found.append(wanted[at] * patterns + np.fromiter(needles, np.int64, len(needles)))
    return found
