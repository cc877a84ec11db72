"""Python tracebacks: chains (the first block is the root), groups, threads, faulthandler, syntax errors."""

from __future__ import annotations

import re
from dataclasses import dataclass

from postmortem.lazy import lazy
from postmortem.parse.crash_block import Block, Crash

NEEDLES = (
    r"Traceback \(most recent call last\)",
    r"^(?:SyntaxError|IndentationError|TabError): ",
    r"Fatal Python error: ",
)
_HEAD = lazy(
    r"^\s*(?:\+ Exception Group )?Traceback \(most recent call last\):?\s*$|(?<=\S)"
    r" Traceback \(most recent call last\):\s*$"
)
_FRAME = lazy(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.+))?')
_ERROR = lazy(r"^(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*)|:)?$")
_CHAIN = ("The above exception was the direct cause", "During handling of the above exception")
_INDENT = lazy(r"^(?:\s|\||\+|\[Previous line repeated)")
_FATAL = lazy(r"Fatal Python error: (?P<message>.*)$")
_THREAD = lazy(r"^Exception in thread (?P<thread>\S+)")
_GROUP = lazy(r"^[\s|+]*(?:\| |\+-\+-+ \d+ -+)")


@dataclass(frozen=True, slots=True)
class _One:
    """A single traceback of a chain."""

    exception: str
    message: str
    place: str
    end: int


def read(block: Block) -> Crash | None:
    """The record that starts at this line, or None."""
    if _HEAD.search(block.first):
        return _chain(block)
    if match := _FATAL.search(block.first):
        signal = {"Segmentation fault": "11", "Aborted": "6", "Bus error": "7"}.get(match["message"].strip(), "")
        return Crash(
            "python", block.start, block.start, "Fatal Python error", match["message"], signal=signal, uncaught=True
        )
    return _syntax(block)


def _chain(block: Block) -> Crash | None:
    if any(text.startswith("Exception ignored in") for _, text in block.above(1)):
        return None  # a finaliser's error, which the interpreter goes on after
    one = _one(block, block.start)
    if one is None:
        return None
    first = last = one
    lines = [block.start, first.end]
    while (head := _next_head(block, last.end)) is not None and (following := _one(block, head)) is not None:
        last = following
        lines += [head, last.end]
    thread = next((m["thread"] for _, text in block.above(1) if (m := _THREAD.match(text))), "")
    return Crash(
        "python",
        block.start,
        last.end,
        last.exception,
        last.message,
        first.exception,
        first.message,
        first.place,
        thread,
        lines=tuple(lines),
    )


def _one(block: Block, head: int) -> _One | None:
    """From the header to the first line with no indent, which names the error."""
    place = ""
    strange = 0
    for number, raw in block.below(200, head):
        text = _GROUP.sub("", raw) if _GROUP.match(raw) else raw
        if frame := _FRAME.match(text):
            place = f"{frame['file']}:{frame['line']}"
        elif _INDENT.match(text) or not text.strip():
            continue
        elif (error := _ERROR.match(text)) and not block.stamped_alone(number, head):
            message = error["message"] or _rest(block, number)
            return _One(error["type"], message, place, number)
        elif (strange := strange + 1) > 3:  # a line of another writer in between
            return None
    return None


def _rest(block: Block, number: int) -> str:
    """The first line of a message that begins below the type's own line."""
    return next(
        (text.strip() for _, text in block.below(1, number) if text.strip() and not text.startswith(_CHAIN)), ""
    )


def _next_head(block: Block, end: int) -> int | None:
    """The header of the next block of the chain; a message may take some lines before the chain's sentence."""
    chained = False
    for number, text in block.below(12, end):
        if text.strip().startswith(_CHAIN):
            chained = True
        elif _HEAD.search(text):
            return number if chained else None
    return None


def _syntax(block: Block) -> Crash | None:
    """`SyntaxError: invalid syntax` below `  File "x.py", line 3`, with no header when the main file is meant."""
    error = re.match(r"^(?P<type>SyntaxError|IndentationError|TabError): (?P<message>.*)$", block.first)
    if error is None:
        return None
    for number, text in block.above(4):
        if frame := _FRAME.match(text):
            place = f"{frame['file']}:{frame['line']}"
            return Crash("python", number, block.start, error["type"], error["message"], place=place, uncaught=True)
    return None
