"""Blocks of whole lines -> which pattern may match which line; one pass over the bytes for all patterns.

The scanner nominates: maybe too much, never too little. Whether a pattern matches is what `regex` says of one decoded
line. Hyperscan does the pass; where it cannot be imported a plain search for literals gives a wider nomination.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from postmortem.scan import plan as plans
from postmortem.scan.cache import cache_file, load, packed, save, unpacked
from postmortem.scan.needle import Needle
from postmortem.scan.needles import needles_of
from postmortem.scan.plan import Plan
from postmortem.scan.ready import ready, write
from postmortem.scan.variants import variants

if TYPE_CHECKING:
    from postmortem.scan.looks import Looks

Engine = Literal["auto", "hyperscan", "plain"]
End = tuple[int, int]  # offset after the last byte of what was found, pattern
Search = Callable[[bytes], list[End]]
CODE = ("scan", "lazy.py")


class Nominee(NamedTuple):
    """A line of a block that some patterns may match."""

    line: int  # from 0
    start: int  # offset of its first byte
    patterns: tuple[int, ...]  # sorted


class Few(NamedTuple):
    """What was found in a block in which that is little."""

    total: int  # lines of the block
    ends: list[End]  # sorted


@dataclass(frozen=True, slots=True)
class Scanner:
    """Nominates lines for a fixed list of patterns."""

    patterns: tuple[str, ...]
    engine: str  # "hyperscan" or "plain"
    unselective: tuple[int, ...]  # patterns without a literal of three characters in every branch
    search: Search
    everywhere: tuple[int, ...]  # patterns that any line may match, as far as can be said
    caseless: bool  # whether some pattern is so
    looks: Looks | None = None  # of the engine "hyperscan"

    def scan(self, block: bytes) -> Iterator[tuple[int, int]]:
        """(pattern, line of the block from 0), each pair once, by line."""
        for nominee in self.nominees(block):
            for pattern in nominee.patterns:
                yield pattern, nominee.line

    def nominees(self, block: bytes) -> list[Nominee]:
        """The nominated lines of a block, in order."""
        if not block:
            return []
        if self.everywhere:
            return self._with_everywhere(block)
        variants = self.variants(block)
        if len(variants) == 1 and variants[0] is block:
            return list(lines_of(block, sorted(self.search(block))))
        return self._merged(block, variants)

    def _merged(self, block: bytes, variants: Sequence[bytes]) -> list[Nominee]:
        found: dict[int, set[int]] = {}
        for variant in variants:
            for line, _, patterns in lines_of(variant, sorted(self.search(variant))):
                found.setdefault(line, set()).update(patterns)
        starts = line_starts(block) if found else []
        return [Nominee(line, starts[line], tuple(sorted(found[line]))) for line in sorted(found)]

    def _with_everywhere(self, block: bytes) -> list[Nominee]:
        found = {nominee.line: nominee.patterns for nominee in self._merged(block, self.variants(block))}
        return [
            Nominee(line, start, tuple(sorted({*found.get(line, ()), *self.everywhere})))
            for line, start in enumerate(line_starts(block))
        ]

    def variants(self, block: bytes) -> list[bytes]:
        """The block as its lines may read."""
        return variants(block, self.caseless)


def build(patterns: Sequence[str], engine: Engine = "auto", cache: Path | None = None) -> Scanner:
    """A scanner for patterns in the syntax of the `regex` module; it may be used by several threads.

    What is compiled is kept in the folder `cache`, when one is given and can be written.
    Raises ImportError where `hyperscan` is asked for and not there.
    """
    if engine != "plain":
        try:
            return _hyperscan(tuple(patterns), cache)
        except ImportError:
            if engine == "hyperscan":
                raise
    needles = needles_of(patterns)
    everywhere = [index for index, needle in enumerate(needles) if not needle.literals]
    return _scanner(patterns, "plain", _told(needles, everywhere), _plain_search(needles))


@lru_cache(maxsize=4)
def _hyperscan(patterns: tuple[str, ...], cache: Path | None) -> Scanner:
    from postmortem.scan import hyper

    file = cache_file(cache, patterns, hyper.VERSION) if cache else None
    for known in (_ready(patterns), load(file) if file else None):
        database = hyper.loaded(known[1]) if known else None
        if known and database:
            return _by_looks(patterns, known[0], plans.from_json(known[0]["plan"]), database)
    told, plan, database = _compiled(patterns)
    if file and database:
        save(file, told, hyper.dumped(database))
    return _by_looks(patterns, told, plan, database)


def _compiled(patterns: tuple[str, ...]) -> tuple[dict[str, Any], Plan, Any]:
    """What there is to know of the patterns, how they are looked for, and the database, where one can be made."""
    from postmortem.scan import hyper

    needles = needles_of(patterns)
    plan, database = hyper.planned(needles)
    told = {**_told(needles, plan.lost if database else range(len(patterns))), "plan": plans.as_json(plan)}
    return told, plan, database


def prepare(folder: Path, patterns: tuple[str, ...]) -> None:
    """Writes the compiled patterns for users whose machine is like this one. Raises OSError."""
    from postmortem.scan import hyper

    told, _, database = _compiled(patterns)
    if database:
        write(folder, "scan", CODE, (hyper.VERSION, hyper.MACHINE, *patterns), packed(told, hyper.dumped(database)))


def _ready(patterns: tuple[str, ...]) -> tuple[dict[str, Any], bytes] | None:
    """What `prepare` wrote for these patterns and this machine."""
    from postmortem.scan import hyper

    body = ready("scan", CODE, (hyper.VERSION, hyper.MACHINE, *patterns))
    return unpacked(body) if body else None


def _by_looks(patterns: tuple[str, ...], told: dict[str, Any], plan: Plan, database: Any) -> Scanner:
    from postmortem.scan import hyper
    from postmortem.scan.looks import Looks

    looks = Looks(plan, hyper.finder(database) if database else lambda data: ([], []))
    return _scanner(patterns, "hyperscan", told, looks.search, looks)


def _told(needles: Sequence[Needle], everywhere: Sequence[int]) -> dict[str, Any]:
    """What a scanner needs to know of its patterns, as JSON can hold it."""
    return {
        "unselective": [index for index, needle in enumerate(needles) if not needle.selective],
        "everywhere": list(everywhere),
        "caseless": any(needle.caseless for needle in needles),
    }


def _scanner(
    patterns: Sequence[str], engine: str, told: dict[str, Any], search: Search, looks: Looks | None = None
) -> Scanner:
    lists = tuple(told["unselective"]), tuple(told["everywhere"])
    return Scanner(tuple(patterns), engine, lists[0], search, lists[1], told["caseless"], looks)


def few(block: bytes, ends: list[End]) -> Few:
    """What was found in a block that shows as it stands."""
    ends.sort()
    return Few(line_count(block), ends)


def line_count(block: bytes) -> int:
    """How many lines a block has; the last may have no end."""
    return block.count(b"\n") + (not block.endswith(b"\n") and bool(block))


def line_starts(block: bytes) -> list[int]:
    """The offset of the first byte of every line of a block."""
    lengths = [len(piece) + 1 for piece in block.split(b"\n")]
    starts = list(accumulate(lengths[:-1], initial=0))
    return starts[:-1] if starts[-1] == len(block) else starts


def _plain_search(needles: Sequence[Needle]) -> Search:
    exact = [(word, index) for index, needle in enumerate(needles) if not needle.caseless for word in needle.literals]
    lower = [(word, index) for index, needle in enumerate(needles) if needle.caseless for word in needle.literals]

    def search(data: bytes) -> list[End]:
        ends = [*_occurrences(data, exact)]
        if lower:
            ends += _occurrences(data.lower(), lower)
        return ends

    return search


def _occurrences(data: bytes, words: Sequence[tuple[bytes, int]]) -> Iterator[End]:
    """The first occurrence of each word in each line that has it."""
    for word, index in words:
        at = data.find(word)
        while at >= 0:
            yield at + len(word), index
            end = data.find(b"\n", at)
            at = data.find(word, end) if end >= 0 else -1


def lines_of(data: bytes, ends: Sequence[End]) -> Iterator[Nominee]:
    """Every line in which something ends, by the sorted ends; newlines are only counted between the finds."""
    if not ends:
        return
    line, start, newline = 0, 0, -1
    patterns: list[int] = []
    for end, pattern in ends:
        at = end - 1
        if at > newline:
            if patterns:
                yield Nominee(line, start, _distinct(patterns))
            patterns = [pattern]
            line += data.count(b"\n", max(newline, 0), at)
            start = data.rfind(b"\n", 0, at) + 1
            newline = data.find(b"\n", at)
            newline = len(data) if newline < 0 else newline
        else:
            patterns.append(pattern)
    yield Nominee(line, start, _distinct(patterns))


def _distinct(patterns: list[int]) -> tuple[int, ...]:
    return tuple(patterns) if len(patterns) == 1 else tuple(sorted(set(patterns)))
