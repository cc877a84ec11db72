"""A parsed pattern -> words of which every match holds at least one."""

from __future__ import annotations

import re._constants as op  # type: ignore[import-not-found]
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

Items = Sequence[tuple[Any, Any]]
Words = frozenset[str]

VARIANTS = 32  # words that one place of a pattern may be spelled out to
LONG_ENOUGH = 10  # more characters make no better needle
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_SHOWN_OTHERWISE = {0xFFFD, 0x240D}  # what escapes.py shows for bytes that are no such character


def required_words(items: Items, caseless: bool) -> Words:
    """The best set of words such that one of them is in every match; empty when there is none."""
    words: Words = max(_candidates(items, caseless), key=worth, default=frozenset())
    return frozenset(word for word in words if not any(other in word for other in words - {word}))


def worth(words: Words) -> tuple[int, int]:
    """How rare a line with one of the words is likely to be: the longer the shortest word and the fewer, the rarer."""
    return min(LONG_ENOUGH, min(map(len, words))), -len(words)


def _candidates(items: Items, caseless: bool) -> Iterator[Words]:
    run: Words = frozenset({""})
    for code, value in _flat(items):
        exact = _exact(code, value, caseless)
        if exact is not None and len(run) * len(exact) <= VARIANTS:
            run = frozenset(a + b for a, b in product(run, exact))
            continue
        yield from _whole(run)
        run = frozenset({""}) if exact is None else exact
        if exact is None:
            yield from _inside(code, value, caseless)
    yield from _whole(run)


def _whole(run: Words) -> Iterator[Words]:
    if "" not in run:
        yield run


def _flat(items: Items) -> Iterator[tuple[Any, Any]]:
    """The items with plain groups opened; what matches nothing is left out."""
    for code, value in items:
        if code is op.SUBPATTERN:
            yield from _flat(value[3])
        elif code is op.ATOMIC_GROUP:
            yield from _flat(value)
        elif code not in (op.AT, op.ASSERT_NOT):
            yield code, value


def _inside(code: Any, value: Any, caseless: bool) -> Iterator[Words]:
    """Words that an item needs although it cannot be spelled out."""
    if code in REPEATS and value[0] > 0:
        yield from _candidates(value[2], caseless)
    elif code is op.ASSERT:
        yield from _candidates(value[1], caseless)
    elif code is op.BRANCH:
        branches = [required_words(branch, caseless) for branch in value[1]]
        if all(branches):
            yield frozenset().union(*branches)


def _exact(code: Any, value: Any, caseless: bool) -> Words | None:
    """All that an item can match, when that is a handful of words."""
    if code is op.LITERAL:
        return _letter(value, caseless)
    if code is op.IN:
        return _letters(value, caseless)
    if code is op.BRANCH:
        branches = [_spelled(branch, caseless) for branch in value[1]]
        known = [words for words in branches if words is not None]
        union: Words = frozenset().union(*known)
        return union if len(known) == len(branches) and len(union) <= VARIANTS else None
    if code in REPEATS and value[1] <= 3:
        once = _spelled(value[2], caseless)
        if once is None or len(once) ** value[1] > VARIANTS:
            return None
        counts = range(value[0], value[1] + 1)
        return frozenset("".join(parts) for count in counts for parts in product(once, repeat=count))
    return None


def _spelled(items: Items, caseless: bool) -> Words | None:
    """All that a sequence can match, when that is a handful of words."""
    run: Words = frozenset({""})
    for code, value in _flat(items):
        exact = _exact(code, value, caseless)
        if exact is None or len(run) * len(exact) > VARIANTS:
            return None
        run = frozenset(a + b for a, b in product(run, exact))
    return run


def _letter(value: int, caseless: bool) -> Words | None:
    if (value < 0x20 and value != 9) or value == 0x7F or value in _SHOWN_OTHERWISE or 0xD800 <= value < 0xE000:
        return None
    if value < 0x80:
        return frozenset({chr(value).lower() if caseless else chr(value)})
    return None if caseless else frozenset({chr(value)})


def _letters(members: Items, caseless: bool) -> Words | None:
    if len(members) > 4 or any(code is not op.LITERAL for code, _ in members):
        return None
    letters = [_letter(value, caseless) for _, value in members]
    known = [letter for letter in letters if letter is not None]
    return frozenset().union(*known) if len(known) == len(letters) else None
