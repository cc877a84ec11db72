"""A parsed pattern -> an expression over UTF-8 bytes, in the syntax that hyperscan and `re` share."""

from __future__ import annotations

import re._constants as op  # type: ignore[import-not-found]
import string
from collections.abc import Iterator
from typing import Any

from postmortem.scan.literals import REPEATS, Items

ANY = "[^\\n]"
_WORD = frozenset(map(ord, string.ascii_letters + string.digits + "_"))
_ASCII, _HIGH = frozenset(range(0x80)), frozenset(range(0x80, 0x100))
_SHOWN_OTHERWISE = frozenset(range(0x20)) - {9, 10} | {0x7F}  # controls: a reader sees U+FFFD or ␍ (escapes.py)
ONE_CHARACTER = (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY)


def inside(code: Any, value: Any) -> list[Items]:
    """The sequences inside one item."""
    if code is op.SUBPATTERN:
        return [value[3]]
    if code is op.BRANCH:
        return list(value[1])
    if code in REPEATS:
        return [value[2]]
    if code is op.ATOMIC_GROUP:
        return [value]
    if code in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    if code is op.GROUPREF_EXISTS:
        return [value[1], value[2] or ()]
    return []


def repeated(items: Items) -> list[tuple[Any, Any]]:
    """The items with each back-reference replaced by what its group may match, wherever that can be said."""
    return _repeated(items, dict(_groups(items)))


def _groups(items: Items) -> Iterator[tuple[int, Items]]:
    for code, value in items:
        if code is op.SUBPATTERN and value[0] is not None:
            yield value[0], value[3]
        for within in inside(code, value):
            yield from _groups(within)


def _repeated(items: Items, groups: dict[int, Items]) -> list[tuple[Any, Any]]:
    out: list[tuple[Any, Any]] = []
    for code, value in items:
        if code is op.GROUPREF and all(_plain(*item) for item in groups.get(value, [(op.AT, None)])):
            out.append((op.SUBPATTERN, (None, 0, 0, groups[value])))
        elif code is op.SUBPATTERN:
            out.append((code, (*value[:3], _repeated(value[3], groups))))
        elif code is op.BRANCH:
            out.append((code, (None, [_repeated(branch, groups) for branch in value[1]])))
        else:
            out.append((code, value))
    return out


def _plain(code: Any, value: Any) -> bool:
    """Whether the item asks nothing of the text around it."""
    if code in (op.AT, op.ASSERT, op.ASSERT_NOT, op.GROUPREF, op.GROUPREF_EXISTS):
        return False
    return all(_plain(*item) for items in inside(code, value) for item in items)


def trimmed(items: Items, end: int) -> list[tuple[Any, Any]]:
    """The items without what need not match at this end (-1: the right one, 0: the left)."""
    kept = list(items)
    boundary = None
    while kept:
        item = kept.pop(end)
        if item[0] in (op.AT, op.ASSERT, op.ASSERT_NOT):
            boundary = item if item == (op.AT, op.AT_BOUNDARY) else boundary
            continue
        inner, changed = _core(*item, end)
        if inner:
            beside = [] if boundary is None or changed else [boundary]
            return [*kept, *inner, *beside] if end else [*beside, *inner, *kept]
        boundary = None
    return kept


def _core(code: Any, value: Any, end: int) -> tuple[list[tuple[Any, Any]], bool]:
    """The item without what need not match at this end, and whether that is less than the item."""
    if code in REPEATS:
        if value[0] > 1:
            return [(code, (value[0], value[0], value[2]))], value[0] != value[1]
        return (trimmed(value[2], end) if value[0] else []), True
    if code in (op.SUBPATTERN, op.ATOMIC_GROUP):
        whole = value[3] if code is op.SUBPATTERN else value
        inner = trimmed(whole, end)
        return inner, inner != list(whole)
    if code is op.BRANCH:
        branches = [trimmed(branch, end) for branch in value[1]]
        changed = any(new != list(old) for new, old in zip(branches, value[1], strict=True))
        return ([(op.BRANCH, (None, branches))] if all(branches) else []), changed
    if code in (op.GROUPREF, op.GROUPREF_EXISTS):
        return [], True
    return [(code, value)], False


def sequence(items: Items, caseless: bool) -> str:
    return "".join(_item(items, index, caseless) for index in range(len(items)))


def _item(items: Items, index: int, caseless: bool) -> str:
    code, value = items[index]
    if code is op.AT:
        sided = any(_is_word(items[beside]) for beside in (index - 1, index + 1) if 0 <= beside < len(items))
        return "\\b" if value is op.AT_BOUNDARY and sided else ""
    if code in REPEATS:
        return _repeat(value[0], value[1], value[2], caseless)
    if code is op.BRANCH:
        return f"(?:{'|'.join(sequence(branch, caseless) for branch in value[1])})"
    if code in (op.ASSERT, op.ASSERT_NOT):
        return ""
    if code is op.GROUPREF_EXISTS:
        return f"(?:{'|'.join(sequence(branch or (), caseless) for branch in value[1:])}|)"
    if code in (op.SUBPATTERN, op.ATOMIC_GROUP):
        return f"(?:{sequence(inside(code, value)[0], caseless)})"
    if code is op.LITERAL and value >= 0x80 and not caseless and value not in (0xFFFD, 0x240D):
        return "".join(f"\\x{byte:02x}" for byte in chr(value).encode("utf-8", "surrogatepass"))
    if code is op.LITERAL and value in _WORD:
        return chr(value)  # in either case when the expression is compiled so
    if code in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
        allowed, wide = bytes_of(code, value, caseless)
        return _class(allowed) + ("{1,4}" if wide else "")
    return f"{ANY}*"  # a back-reference


def _repeat(low: int, high: int, items: Items, caseless: bool) -> str:
    if len(items) == 1 and items[0][0] in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY) and not _high_literal(items[0]):
        allowed, wide = bytes_of(*items[0], caseless)
        return _class(allowed) + _bounds(min(low, 32), high * 4 if wide else high, 16)
    return f"(?:{sequence(items, caseless)}){_bounds(min(low, 4), high, 8)}"


def _high_literal(item: tuple[Any, Any]) -> bool:
    return item[0] is op.LITERAL and item[1] >= 0x80


def _bounds(low: int, high: int, most: int) -> str:
    return f"{{{low},{high if high <= most else ''}}}"


def bytes_of(code: Any, value: Any, caseless: bool) -> tuple[frozenset[int], bool]:
    """The bytes that one character of this item may be made of, and whether it may take several of them."""
    if code is op.ANY:
        code, value = op.NOT_LITERAL, 10
    members = value if code is op.IN else [(op.LITERAL, value)]
    negated = code is op.NOT_LITERAL or members[0][0] is op.NEGATE
    allowed, wide, other, letters = _members(members, caseless)
    if negated:
        allowed, wide, other = _ASCII - allowed, True, True
    elif letters and caseless:
        allowed, other = _ASCII, True  # a letter beyond ASCII may have its other case in it
    if 10 in allowed:
        allowed = allowed - {10} | {13}  # a newline in a JSON string is scanned as a carriage return
    return allowed | (_HIGH if wide else frozenset()) | (_SHOWN_OTHERWISE if other else frozenset()), wide


def _members(members: Items, caseless: bool) -> tuple[frozenset[int], bool, bool, bool]:
    """The ASCII members of a class; whether it has others, a replaced character, letters spelled out among these."""
    found: frozenset[int] = frozenset()
    wide = other = letters = False
    for code, value in members:
        if code is op.CATEGORY:
            found |= _CATEGORIES[value]
            wide = True
            other = other or value in _NEGATIVE
        elif code is not op.NEGATE:
            low, high = value if code is op.RANGE else (value, value)
            found |= frozenset(range(low, min(high, 0x7F) + 1))
            letters = letters or high >= 0x80
            other = other or high >= 0x240D
    if caseless:
        found |= {ord(chr(letter).swapcase()) for letter in found}
    return found, wide or letters, other, letters


_SPACE = frozenset({9, 10, 11, 12, 13, 28, 29, 30, 31, 32})
_DIGIT = frozenset(b"0123456789")
_CATEGORIES = {
    op.CATEGORY_DIGIT: _DIGIT,
    op.CATEGORY_NOT_DIGIT: _ASCII - _DIGIT,
    op.CATEGORY_SPACE: _SPACE,
    op.CATEGORY_NOT_SPACE: _ASCII - _SPACE,
    op.CATEGORY_WORD: _WORD,
    op.CATEGORY_NOT_WORD: _ASCII - _WORD,
}
_NEGATIVE = frozenset({op.CATEGORY_NOT_DIGIT, op.CATEGORY_NOT_SPACE, op.CATEGORY_NOT_WORD})


def _class(allowed: frozenset[int]) -> str:
    """A byte class; an empty one (a newline inside a line) can never match."""
    if len(allowed) == 1:
        byte = next(iter(allowed))
        return chr(byte) if byte in _WORD else f"\\x{byte:02x}"
    ranges: list[list[int]] = []
    for byte in sorted(allowed):
        if ranges and ranges[-1][1] == byte - 1:
            ranges[-1][1] = byte
        else:
            ranges.append([byte, byte])
    return "[" + "".join(_span(*span) for span in ranges) + "]"


def _span(low: int, high: int) -> str:
    return f"\\x{low:02x}" if low == high else f"\\x{low:02x}-\\x{high:02x}"


def _is_word(item: tuple[Any, Any]) -> bool:
    """Whether the item is surely an ASCII word character at both of its ends."""
    code, value = item
    if code in (op.LITERAL, op.IN):
        allowed, wide = bytes_of(code, value, caseless=False)
        return not wide and allowed <= _WORD
    if code is op.BRANCH:
        return all(branch and _is_word(branch[0]) and _is_word(branch[-1]) for branch in value[1])
    inner = inside(code, value)[0] if code in (op.SUBPATTERN, op.ATOMIC_GROUP) else ()
    return bool(inner) and _is_word(inner[0]) and _is_word(inner[-1])
