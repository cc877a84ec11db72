"""A second opinion on a script's nesting, by its keywords alone; approximate, so it only confirms the grammar's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from postmortem.lazy import lazy

_SPLIT = lazy(r";;&|;;|;&|&&|\|\||[;&|]")
_QUOTED = lazy(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\(\(.*?\)\)|\\.")
_COMMENT = lazy(r"(?:^|\s)#.*$")
_HEREDOC = lazy(r"<<-?\s*(?P<quote>['\"]?)(?P<word>\w+)(?P=quote)")
_LEADERS = ("then", "do", "else", "elif", "!", "{", "time")


def first_misfit(lines: list[tuple[int, str]]) -> int | None:
    """The line of the first keyword that closes or continues nothing, or the last line when something stays open."""
    open_words: list[str] = []
    for number, word in keywords(lines):
        if not _fits(open_words, word):
            return number
    return lines[-1][0] if open_words else None


def _fits(open_words: list[str], word: str) -> bool:
    closes = {"fi": ("if",), "done": ("loop",), "esac": ("case",)}
    if word in ("if", "case"):
        open_words.append(word)
    elif word in ("while", "until", "for", "select"):
        open_words.append("loop")
    elif word in ("then", "else", "elif"):
        return bool(open_words) and open_words[-1] == "if"
    elif word == "do":
        return bool(open_words) and open_words[-1] == "loop"
    elif word in closes:
        return bool(open_words) and open_words.pop() in closes[word]
    return True


_KEYWORDS = frozenset(
    ["if", "then", "else", "elif", "fi", "while", "until", "for", "select", "do", "done", "case", "esac"]
)


def keywords(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """(line, keyword) of the reserved words that stand where a command may begin."""
    ends: list[str] = []
    for number, raw in lines:
        if ends:
            if raw.strip() == ends[0]:
                ends.pop(0)
            continue
        ends = [match["word"] for match in _HEREDOC.finditer(raw)]
        bare = _COMMENT.sub("", _QUOTED.sub("_", raw))
        for piece in _SPLIT.split(bare):
            yield from ((number, word) for word in _leading(piece))


_PATTERN = lazy(r"^[^()]*\)(?=\s|$)")  # `a|b) if ...` of a case


def _leading(piece: str) -> Iterator[str]:
    for word in _PATTERN.sub("", piece).replace("$(", " ").split():
        if word in _KEYWORDS:
            yield word
        if word not in _LEADERS and word not in ("if", "while", "until"):
            return
