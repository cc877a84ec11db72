"""A pattern of the `regex` module -> what the scanner looks for: maybe too much, never too little.

The pattern is parsed (by the standard library's own parser, after `plain` took out what only `regex` knows) and
written again as an expression over UTF-8 bytes without anchors, look-arounds and back-references. Every step may only
widen it: what a character class or a dot may match becomes one to four bytes, an optional end is dropped (each possible
end would be one report more), a long repeat loses its upper bound.
"""

from __future__ import annotations

import re
import re._constants as op  # type: ignore[import-not-found]
import re._parser as sre  # type: ignore[import-not-found]
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from postmortem.scan.expression import inside, repeated, sequence, trimmed
from postmortem.scan.literals import Items, required_words
from postmortem.scan.plain import Unsayable, plain
from postmortem.scan.spot import rare_words, spelled, spot_of, words_of

LITERAL_MIN = 3  # characters that a pattern must hold in every branch to be found cheaply
_OPEN_END = re.compile(r"\{(\d+),\d*\}$")
_OPEN_START = re.compile(r"^(\[[^\]]*\])\{(\d+),\d*\}")


@dataclass(frozen=True, slots=True)
class Needle:
    """What to look for instead of a pattern."""

    expression: str = ""  # over bytes, in the syntax that hyperscan and `re` share; "" when it cannot be said
    caseless: bool = False
    literals: tuple[bytes, ...] = ()  # one is in every matching line (lower case when caseless); () when unknown
    spots: tuple[str, ...] = ()  # expressions of which every match holds one, and that are found more cheaply

    @property
    def selective(self) -> bool:
        """Whether every branch of the pattern holds a literal that is worth looking for."""
        return bool(self.literals) and min(len(literal.decode()) for literal in self.literals) >= LITERAL_MIN


def needle_of(pattern: str) -> Needle:
    """The needle of a pattern; an empty one when nothing can be said of its matches."""
    try:
        source, caseless = plain(pattern)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            items: Items = list(sre.parse(source))
    except (Unsayable, re.error, RecursionError, OverflowError):
        return Needle()
    caseless = caseless or any(_ignores_case(items))
    literals = tuple(sorted(word.encode() for word in required_words(items, caseless)))
    core = trimmed(trimmed(repeated(items), -1), 0)
    expression = _written(core, caseless)
    if literals == (_word(core),):
        expression = spelled(literals[0])
    return Needle(expression, caseless, literals, rare_words(literals) or _rare_part(core, caseless))


def _rare_part(core: Items, caseless: bool) -> tuple[str, ...]:
    part = spot_of(core, caseless)
    words = words_of(part, caseless)
    return words or ((_written(part, caseless),) if part else ())


def _written(items: Items, caseless: bool) -> str:
    """The expression without optional ends; one start and one end of a match are enough."""
    whole = sequence(trimmed(trimmed(items, -1), 0), caseless)
    return _OPEN_START.sub(r"\1{\2}", _OPEN_END.sub(r"{\1}", whole))


def _word(items: Items) -> bytes:
    """The one word that the items are; "" where they are anything else."""
    return "".join(chr(value) for _, value in items).encode() if all(code is op.LITERAL for code, _ in items) else b""


def _ignores_case(items: Items) -> Iterator[bool]:
    """Whether a group of the pattern says (?i:...)."""
    for code, value in items:
        if code is op.SUBPATTERN:
            yield bool(value[1] & re.IGNORECASE)
        for items_inside in inside(code, value):
            yield from _ignores_case(items_inside)
