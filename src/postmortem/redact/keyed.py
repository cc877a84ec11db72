"""Secrets that a key gives away: `key=value`, `"key": "value"`, `--key value`, at any depth of JSON in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from postmortem.lazy import lazy
from postmortem.redact.rules import (
    HARMLESS_TAIL,
    HARMLESS_TOKEN_HEAD,
    HARMLESS_TOKEN_TAIL,
    HARMLESS_VALUE,
    KEY_OWNER,
    PASS_HEAD,
    WORDS,
)
from postmortem.redact.standin import STANDIN

Span = tuple[int, int]

_HEAD = lazy(rb"[A-Za-z0-9_.-]*$")
_TAIL = lazy(rb"[A-Za-z0-9_.-]{0,48}")
# What may stand between a key and its value; each alternative is short, so that a miss costs nothing.
_ASSIGN = lazy(rb"\\*[\"']?\]?\)?[ \t]{0,8}(=>|:=|\?=|==?(?!=)|:(?!:))[ \t]{0,32}")
_NAMED = lazy(rb"\\*[\"']?[\s,]{1,80}\\*[\"']?value\\*[\"']?[ \t]{0,4}[:=][ \t]{0,8}", re.I)
# A first look from the word on, so that most mentions cost one match.
_LOOK = {
    word: lazy(
        word
        + follows
        + rb"[A-Za-z0-9_.-]{0,48}+(?:\\*[\"']?[\])]{0,2}(?:[ \t]{0,8}[:=?]|>)"
        + rb"|\\*[\"']?[\s,]{1,80}\\*[\"']?value|[ \t\x00])"
    )
    for word, follows in WORDS.items()
}
_FLAG = lazy(rb"[ \t\x00]+(?=[^\s\x00-])")
_OPEN = lazy(rb"(\\*)([\"'])")
_STOP = lazy(
    rb"[\s\x00]|[,;&](?=\s|\x00|[\"'\\]|$|[A-Za-z_][\w.-]{0,40}=)"
    rb"|[)}\]]+(?=[\s,;\x00\"'\\]|$)|[\"']|\\+[\"'nrt]|</"
)
_NUMBER = lazy(rb"[+-]?\d{1,9}(?:\.\d+)?[a-z%/]{0,4}|0x[0-9a-f]{1,4}|[\[({].*", re.I | re.S)
_BLOCK = lazy(rb"[|>][+-]?[0-9]?[ \t]*\r?\n(?:[ \t]+[^\n]*(?:\n|$)){1,64}")
_PROSE = lazy(rb"[a-z]{1,15}(?=[ ][A-Za-z'\"(])|[A-Z][a-z]{1,15}(?=[ ][a-z])")
_NEXT_KEY = lazy(rb"[A-Za-z_]\w*=")
_PASSWD_SAYS = lazy(rb"(?i)\b(?:password|authentication|user|permission|expiry|unchanged|must|account|files)\b")
_LONGEST = 65536  # bytes of one value
_NEAR = 512  # bytes before a key in which a quote may have been opened
_BEFORE_FLAG = (b"", b" ", b"\t", b"\0", b"\n", b'"', b"'")


def keyed(data: bytes, low: bytes) -> Iterator[Span]:
    """The values of secret keys in `data`; `low` is its lower-case copy."""
    for word in WORDS:
        at = low.find(word)
        while at >= 0:
            span = _value_after(data, low, at, word) if _LOOK[word].match(low, at) else None
            if span is not None:
                yield span
            at = low.find(word, at + len(word))


def _value_after(data: bytes, low: bytes, at: int, word: bytes) -> Span | None:
    """The value that belongs to the key with this word in it, or None where there is none or it is harmless."""
    if word == b"key" and not KEY_OWNER.search(low, max(0, at - 12), at):
        return None
    tail_end = _end(_TAIL, data, at + len(word))
    start, key_end = at - len(_head(data, at)), tail_end
    gap = _gap(data, start, key_end)
    if gap is None or _harmless_key(low[start:at], word, low[at + len(word) : key_end]):
        return None
    value_start, how = gap
    span = _value(data, start, value_start, how, word)
    if span is None or span[0] == span[1]:
        return None
    return None if _harmless_value(data, low, (start, at, key_end), span, word, how) else span


def _head(data: bytes, at: int) -> bytes:
    found = _HEAD.search(data, max(0, at - 64), at)
    return found.group() if found else b""


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    found = pattern.match(data, at)
    return found.end() if found else at


def _gap(data: bytes, start: int, key_end: int) -> tuple[int, str] | None:
    """Where the value begins, and how it is joined to the key."""
    named = _NAMED.match(data, key_end)
    if named:
        return named.end(), "named"
    assign = _ASSIGN.match(data, key_end)
    if assign:
        spaced = assign.group(1) == b":" and data[assign.end() - 1 : assign.end()] in (b" ", b"\t")
        return assign.end(), "colon" if spaced else "equals"
    if data[key_end : key_end + 1] == b">" and data[start - 1 : start] == b"<":
        return key_end + 1, "element"
    flag = _FLAG.match(data, key_end)
    if flag and data[start : start + 1] == b"-" and (start == 0 or data[start - 1 : start] in _BEFORE_FLAG):
        return flag.end(), "flag"
    return None


def _value(data: bytes, key_start: int, at: int, how: str, word: bytes) -> Span | None:
    opened = _OPEN.match(data, at)
    line_start = data.rfind(b"\n", 0, key_start) + 1
    if opened and not _closes(data, line_start, key_start, opened):
        return _quoted(data, opened)
    block = _BLOCK.match(data, at) if how in ("colon", "named") else None
    if block:
        return at, block.end() - (1 if block.group().endswith(b"\n") else 0)
    if how == "colon" and word in (b"pass", b"secret", b"mnemonic") and _begins_line(data, line_start, key_start):
        return at, _line_end(data, at)
    return at, _bare_end(data, line_start, key_start, at)


def _closes(data: bytes, line_start: int, key_start: int, opened: re.Match[bytes]) -> bool:
    """Whether this quote ends a string that began before the key: `"Enter password: "`."""
    quote = opened.group(2)
    after = data[opened.end() : opened.end() + 1]
    open_before = data.count(quote, max(line_start, key_start - _NEAR), key_start) % 2 == 1
    return open_before and data[key_start - 1 : key_start] != quote and not after.isalnum()


def _quoted(data: bytes, opened: re.Match[bytes]) -> Span:
    """Up to the quote with as many backslashes as the opening one; a string that is cut ends with its line."""
    depth, quote, start = len(opened.group(1)), opened.group(2), opened.end()
    limit = min(_line_end(data, start, comments=False), start + _LONGEST)
    at = data.find(quote, start, limit)
    while at >= 0:
        slashes = 0
        while at - slashes > start and data[at - slashes - 1] == 0x5C:
            slashes += 1
        # At depth n an inner backslash is written as 2(n+1) of them and an inner quote with 2n+1 before it.
        if (quote == b"'" and depth == 0) or slashes % (2 * (depth + 1)) == depth:
            return start, at - depth
        at = data.find(quote, at + 1, limit)
    return start, limit


def _begins_line(data: bytes, line_start: int, key_start: int) -> bool:
    return not data[line_start:key_start].strip(b" \t-\"'")


def _line_end(data: bytes, at: int, comments: bool = True) -> int:
    end = data.find(b"\n", at)
    end = len(data) if end < 0 else end
    zero = data.find(b"\0", at, end)
    end = zero if zero >= 0 else end
    remark = data.find(b" #", at, end) if comments else -1
    return at + len(data[at : remark if remark >= 0 else end].rstrip())


def _bare_end(data: bytes, line_start: int, key_start: int, at: int) -> int:
    """The end of a value without quotes: a blank, or a separator that something follows."""
    end = min(len(data), at + _LONGEST)
    hidden = STANDIN.match(data, at)
    here = hidden.end() if hidden else at
    if hidden and data[here : here + 1] in (b"'", b'"'):
        return here  # the first pass ended the value here, so a second one does
    while stop := _STOP.search(data, here, end):
        mark = stop.group()
        if mark[-1:] not in (b"'", b'"') or mark[:1] == b"\\":
            return stop.start()
        if (
            mark in data[max(line_start, key_start - _NEAR) : key_start]
            or not data[stop.end() : stop.end() + 1].isalnum()
        ):
            return stop.start()
        here = stop.end()  # an apostrophe inside the value
    return end


def _harmless_key(head: bytes, word: bytes, tail: bytes) -> bool:
    if tail.startswith(b"less") or HARMLESS_TAIL.search(tail):
        return True
    if word == b"pass" and not tail.startswith((b"wo", b"ph", b"wd")):
        return not PASS_HEAD.search(head)
    if word == b"pwd":
        return (head + tail) in (b"", b"old")
    if word == b"token":
        return bool(HARMLESS_TOKEN_TAIL.search(tail) or HARMLESS_TOKEN_HEAD.search(head))
    return False


def _harmless_value(data: bytes, low: bytes, key: tuple[int, int, int], span: Span, word: bytes, how: str) -> bool:
    start, at, key_end = key
    value = data[span[0] : span[1]]
    if HARMLESS_VALUE.fullmatch(value) or value == data[start:key_end]:
        return True
    if not any(chr(c).isalnum() or c > 127 for c in value):
        return True  # punctuation
    if word == b"token" and _NUMBER.fullmatch(value):
        return key_end - at > len(word) or len(value) < 6 or not value.isdigit()
    if data[span[0] - 1 : span[0]] in (b" ", b"\t") and how == "equals" and _NEXT_KEY.match(value):
        return True  # `PASSWORD= USER=x`: it is empty
    if how != "colon" or data[span[0] - 1 : span[0]] in (b'"', b"'"):
        return False
    if low[start:key_end] == b"passwd":
        return bool(_PASSWD_SAYS.search(data, span[0], _line_end(data, span[0])))
    return word != b"pass" and bool(_PROSE.match(data, span[0]))
