"""A parsed pattern -> the part of it that is looked for first.

`finished[^\\n]*exit code 0` keeps an automaton alive from every `finished` to the end of its line, which slows a scan
down where that word is in most lines. So such a pattern is looked for in two steps: its rarest part without a gap
everywhere, and the whole of it in the lines that hold this part. The same is done with every pattern that has rare
words, whatever it begins with: an automaton for thousands of words is twice as fast as one for as many expressions.
"""

from __future__ import annotations

import re._constants as op  # type: ignore[import-not-found]
from collections.abc import Iterator, Sequence
from typing import Any

from postmortem.scan.expression import ONE_CHARACTER, bytes_of, inside
from postmortem.scan.literals import REPEATS, Items, required_words, worth

SPACE = 0x20
SHORT = 8  # characters that a gap may have and still be none
MANY = 24  # ASCII characters of the class of a gap; fewer are separators
WIDTH = 3  # characters that a word of a spot must have
BESIDE = 2  # characters beside an ordinary word that make it a rare one: `errors: 0`
LETTERS = 4  # characters of each word that is looked for instead of a choice of them
RARE = 7  # characters of a word that few lines have, if it is not an ordinary one

# Words that stand in many lines of ordinary logs; a part that is no more than one of them has no worth as a spot.
_WORDS = (
    "accepted allocated buffer bytes cache check client code complete completed config connect connected connection "
    "created daemon device done download error errors fetch file finished free gpu host http info job kernel line load "
    "loaded logging memory message model no not ok open output page param passed phase port process processed proof "
    "ready request response result returned running server service size stage start started state status step success "
    "successfully task temp test thread time total usage use used verified version worker write"
)
ORDINARY = frozenset(_WORDS.split())
_SAY_NOTHING = ("", "a", "all", "and", "at", "for", "from", "in", "is", "of", "on", "or", "the", "to", "with")


def spot_of(items: Items, caseless: bool) -> Items:
    """The best part without a gap; nothing where the pattern has no gap or no part that is worth it."""
    if not any(_gappy(*item, caseless) for item in items):
        return []
    return max(_parts(items, caseless), key=lambda part: worth(required_words(part, caseless)), default=[])


def rare_words(literals: Sequence[bytes]) -> tuple[str, ...]:
    """An expression for each of the words, where all of them are rare; nothing where one is not."""
    words = [literal.decode() for literal in literals]
    if any(len(word) < RARE or _ordinary(word) for word in words):
        return ()
    return tuple(map(spelled, literals))


def words_of(part: Items, caseless: bool) -> tuple[str, ...]:
    """An expression for each of the words that the part of a pattern is; nothing where it says more than they do."""
    words = required_words(part, caseless)
    short = min(map(len, words), default=0)
    if short < LETTERS or _width(part) > short + 1 or not all(word.isascii() for word in words):
        return ()
    return tuple(spelled(word.encode()) for word in sorted(words))


def spelled(word: bytes) -> str:
    """An expression for this word."""
    return "".join(f"\\x{byte:02x}" for byte in word)


def _gappy(code: Any, value: Any, caseless: bool) -> bool:
    """Whether the item may run over much of a line, its spaces among it."""
    if code in (op.GROUPREF, op.GROUPREF_EXISTS):
        return True
    if code in REPEATS and value[1] > SHORT and len(value[2]) == 1 and value[2][0][0] in ONE_CHARACTER:
        one, what = value[2][0]
        allowed = bytes_of(one, what, caseless)[0]
        return SPACE in allowed and sum(byte < 0x80 for byte in allowed) >= MANY
    if code in REPEATS and value[1] > SHORT:
        return True
    return any(_gappy(*item, caseless) for items in inside(code, value) for item in items)


def _parts(items: Items, caseless: bool) -> Iterator[Items]:
    """Parts without a gap of which each is in every match, with words that are worth it."""
    part: list[tuple[Any, Any]] = []
    for code, value in items:
        if not _gappy(code, value, caseless):
            part.append((code, value))
            continue
        yield from _good(part, caseless)
        part = []
        yield from _parts_inside(code, value, caseless)
    yield from _good(part, caseless)


def _good(part: Items, caseless: bool) -> Iterator[Items]:
    words = required_words(part, caseless)
    width = _width(part)
    plain = any(_ordinary(word) and width < len(word) + BESIDE for word in words) or " of " in words
    if words and min(map(len, words)) >= WIDTH and not plain:
        yield part


def _ordinary(word: str) -> bool:
    parts = [part.strip(":=,.") for part in word.split()]
    telling = [part for part in parts if part not in _SAY_NOTHING]
    return not telling or (len(telling) == 1 and telling[0] in ORDINARY)


def _width(items: Items) -> int:
    """How many characters the items match at least."""
    return sum(_least(code, value) for code, value in items)


def _least(code: Any, value: Any) -> int:
    if code in ONE_CHARACTER:
        return 1
    if code in REPEATS:
        return int(value[0]) * _width(value[2])
    if code in (op.SUBPATTERN, op.ATOMIC_GROUP):
        return _width(inside(code, value)[0])
    return min(map(_width, value[1])) if code is op.BRANCH else 0


def _parts_inside(code: Any, value: Any, caseless: bool) -> Iterator[Items]:
    """Such parts of an item with a gap: of a group its own, of branches one of each."""
    if code in (op.SUBPATTERN, op.ATOMIC_GROUP):
        yield from _parts(inside(code, value)[0], caseless)
    elif code in REPEATS and value[0] > 0:
        yield from _parts(value[2], caseless)
    elif code is op.BRANCH:
        best = [_best(branch, caseless) for branch in value[1]]
        if all(best):
            yield [(op.BRANCH, (None, best))]


def _best(branch: Items, caseless: bool) -> Items:
    if any(_gappy(*item, caseless) for item in branch):
        return spot_of(branch, caseless)
    return branch if any(True for _ in _good(branch, caseless)) else []
