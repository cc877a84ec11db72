"""A pattern of the `regex` module -> a wider one that the standard library's parser reads."""

from __future__ import annotations

import re

from postmortem.lazy import lazy

GLOBAL_FLAGS = lazy(r"\(\?([a-zA-Z01]*)(?:-([a-zA-Z01]*))?([:)])")
NAMED = lazy(r"\(\?P?<[^\W\d]\w*>")
RECURSION = lazy(r"\(\?(?:P=\w+|P>\w+|&\w+|R|[-+]?\d+)\)")
SAME = lazy(r"\(\?P=(\w+)\)")
CONDITION = lazy(r"\(\?\([^)]*\)")
COMMENT = lazy(r"\(\?#[^)]*\)")
FUZZY = lazy(r"\{(?!\d*,?\d*\})[\w\s<>=+,:]*\}")
ESCAPES = {
    "K": "(?:)", "m": "", "M": "", "G": "", "z": "", "Z": "", "h": r"\s", "H": r".", "R": r"\s{1,2}", "X": "(?:.+)",
}  # fmt: skip
ANYTHING = "(?:.*)"


class Unsayable(ValueError):
    """The pattern uses something that cannot be widened."""


def plain(pattern: str) -> tuple[str, bool]:
    """(the wider pattern, whether letters match in either case).

    Raises Unsayable for approximate matching and for flags that change what a letter is.
    """
    verbose, caseless = _flags(pattern)
    out: list[str] = []
    groups: dict[str, int] = {}
    at = opened = 0
    while at < len(pattern):
        start = at
        piece, at = _token(pattern, at, verbose)
        if piece == "(":
            opened += 1
            if named := NAMED.match(pattern, start):
                groups[named[0]] = 0 if named[0] in groups else opened  # one name for two groups says too little
        if (same := SAME.match(pattern, start)) and (number := groups.get(f"(?P<{same[1]}>")) and "(?|" not in pattern:
            piece = f"(?:\\{number})"
        out.append(piece)
    return ("(?x)" if verbose else "") + "".join(out), caseless


def _flags(pattern: str) -> tuple[bool, bool]:
    """(verbose, caseless): a flag anywhere counts for the whole pattern."""
    names = "".join(match[1] for match in GLOBAL_FLAGS.finditer(pattern))
    if set(names) & set("fLw"):
        raise Unsayable(pattern)
    return "x" in names, "i" in names


def _token(pattern: str, at: int, verbose: bool) -> tuple[str, int]:
    """The replacement of the token at this place, and where the next begins."""
    char = pattern[at]
    if char == "\\":
        return _escape(pattern, at)
    if char == "[":
        return _class(pattern, at)
    if char == "(":
        return _group(pattern, at)
    if char == "{" and (fuzzy := FUZZY.match(pattern, at)) and at:
        raise Unsayable(fuzzy[0])
    if char == "#" and verbose:
        end = pattern.find("\n", at)
        return "", len(pattern) if end < 0 else end
    return char, at + 1


def _escape(pattern: str, at: int) -> tuple[str, int]:
    following = pattern[at + 1 : at + 2]
    if not following:
        raise Unsayable(pattern)
    named = re.compile(r"\\[pPNLg](?:\{[^}]*\}|<[^>]*>|\w)").match(pattern, at)
    if named:
        return (ANYTHING if following in "Lg" else "."), named.end()
    return ESCAPES.get(following, pattern[at : at + 2]), at + 2


def _class(pattern: str, at: int) -> tuple[str, int]:
    """A character class; one with what only `regex` knows becomes a dot."""
    start, odd = at, False
    at += 1
    at += pattern.startswith("^", at)
    at += pattern.startswith("]", at)
    while at < len(pattern) and pattern[at] != "]":
        if posix := re.compile(r"\[:\^?\w+:\]").match(pattern, at):
            odd, at = True, posix.end()
        elif pattern[at] == "\\":
            odd = odd or pattern[at + 1 : at + 2] in ("p", "P", "N", "h", "H", "R", "X")
            at += 2
        else:
            odd = odd or pattern[at] == "[" or pattern[at : at + 2] in ("--", "&&", "||", "~~")
            at += 1
    if at >= len(pattern) or (odd and "V1" in pattern):
        raise Unsayable(pattern)
    return ("(?s:.)" if odd else pattern[start : at + 1]), at + 1


def _group(pattern: str, at: int) -> tuple[str, int]:
    if comment := COMMENT.match(pattern, at):
        return "", comment.end()
    if named := NAMED.match(pattern, at):
        return "(", named.end()
    if recursion := RECURSION.match(pattern, at):
        return ANYTHING, recursion.end()
    if condition := CONDITION.match(pattern, at):
        return "(?:|", condition.end()
    if pattern.startswith("(?|", at):
        return "(?:", at + 3
    flags = GLOBAL_FLAGS.match(pattern, at)
    if flags:
        return ("(?:" if flags[3] == ":" else ""), flags.end()
    return "(", at + 1
