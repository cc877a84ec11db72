"""The top-level alternatives of a pattern."""

from __future__ import annotations

import regex

_FLAGS = regex.compile(r"\(\?[a-zA-Z]+\)")
_PIECE = regex.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[a-zA-Z]+\)|[()|]|.", regex.DOTALL)


def branches(pattern: str) -> tuple[str, ...]:
    r"""`(?i)a|b` -> `(?i)a`, `(?i)b`; an item that is one branch is that branch; `\(?i)` is an escaped bracket."""
    flags, depth, parts = "", 0, [""]
    for piece in _PIECE.findall(pattern):
        if _FLAGS.fullmatch(piece):
            flags += piece
            continue
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return tuple(flags + part for part in parts)
