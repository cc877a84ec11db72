"""A block of bytes as its lines may read: without escapes, with JSON strings opened, with letters folded."""

from __future__ import annotations

import re

from postmortem.scan.escapes import strip_escapes

# What `(?i)` takes for k, s and i although it is not ASCII.
_FOLDED = ((b"\xe2\x84\xaa", b"k"), (b"\xc5\xbf", b"s"), (b"\xc4\xb0", b"i"))
_FOLD = re.compile(b"|".join(wide for wide, _ in _FOLDED))
_JSON_ESCAPES = (
    (b"\\\\", b"\x01"), (b'\\"', b'"'), (b"\\/", b"/"), (b"\\t", b"\t"), (b"\\n", b"\r"), (b"\\r", b"\r"),
    (b"\\u001b", b"\x1b"), (b"\\u003c", b"<"), (b"\\u003e", b">"), (b"\\u0026", b"&"),
)  # fmt: skip
_UNICODE_ESCAPE = re.compile(rb"\\u([0-9a-fA-F]{4})")


def variants(block: bytes, caseless: bool) -> list[bytes]:
    """The block as its lines may read; the same object alone where it shows as it stands."""
    seen = strip_escapes(block)
    found = [seen]
    if b"\\" in seen and b'{"' in seen:
        found.append(_unescaped(seen))
    if caseless and not seen.isascii() and _FOLD.search(seen):
        found += [_folded(variant) for variant in found]
    return found


def _unescaped(data: bytes) -> bytes:
    """The data with the escapes of JSON strings undone; a newline in a string becomes a carriage return."""
    for escape, plain in _JSON_ESCAPES:
        data = data.replace(escape, plain)
    if b"\\u" in data:
        data = _UNICODE_ESCAPE.sub(_character, data)
    return strip_escapes(data.replace(b"\x01", b"\\"))


def _character(match: re.Match[bytes]) -> bytes:
    code = int(match[1], 16)
    return b"\r" if code == 10 else chr(code).encode("utf-8", "replace")


def _folded(data: bytes) -> bytes:
    for wide, letter in _FOLDED:
        data = data.replace(wide, letter)
    return data
