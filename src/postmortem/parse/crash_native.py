"""Crashes of compiled programs: Rust panics and error chains, Go, C++ terminate, glibc's own aborts."""

from __future__ import annotations

import re
from dataclasses import replace

from postmortem.lazy import lazy
from postmortem.parse.crash_block import Block, Crash

NEEDLES = (
    r"panicked at ",
    r"has overflowed its stack",
    r"memory allocation of \d+ bytes failed",
    r"^(?:.*\W)?Caused by:\s*$",
    r"(?:^|[\s|])panic: ",
    r"(?:^|[\s|])fatal error: ",
    r"terminate called (?:after throwing|without an active|recursively)",
    r"pure virtual method called",
    r"Assertion .* failed\.",
    (
        r"(?:double free|free\(\): |malloc\(\): |malloc_consolidate\(\): |realloc\(\): |corrupted size vs|"
        r"corrupted double-linked|munmap_chunk\(\): )"
    ),
    r"\*\*\* (?:Error in|stack smashing|buffer overflow)",
    r"Fatal glibc error: ",
)

# ---- Rust

_PANIC = lazy(
    r"thread '(?P<thread>[^']*)'(?: \(\d+\))? panicked at (?:'(?P<old>.*)', (?P<old_place>\S+?:\d+(?::\d+)?)|"
    r"(?P<place>\S+?:\d+:\d+):?)\s*$"
)
_PANIC_END = lazy(r"^(?:note: |stack backtrace:|thread '|\s*\d+: )")
_STACK = lazy(r"thread '(?P<thread>[^']*)'(?: \(\d+\))? has overflowed its stack")
_ALLOC = lazy(r"^(?P<message>memory allocation of \d+ bytes failed)")
_ECHO = lazy(
    r"PoisonError|panic in a destructor|thread panicked while (?:processing|panicking)|"
    r"called `Result::unwrap\(\)` on an `Err` value: Any|JoinError::Panic"
)


def rust_panic(block: Block) -> Crash | None:
    """`thread 'main' panicked at src/main.rs:4:10:` (since 1.73 the message follows) or the old one-line form."""
    if match := _PANIC.search(block.first):
        return _panic(block, match)
    if match := _STACK.search(block.first):
        crash = Crash(
            "rust", block.start, block.start, "stack overflow", match.group(), thread=match["thread"], signal="6"
        )
        return replace(crash, kind="panic")
    if match := _ALLOC.search(block.first):
        return Crash("rust", block.start, block.start, "allocation failure", match["message"], signal="6", kind="panic")
    return None


def _panic(block: Block, match: re.Match[str]) -> Crash:
    if match["old"] is not None:
        text, end = match["old"], block.start
    else:
        parts: list[str] = []
        end = block.start
        for number, below in block.below(8):
            if _PANIC_END.match(below) or block.stamped_alone(number, block.start) or not below.strip():
                break
            parts.append(below.strip())
            end = number
        text = "; ".join(parts)
    place = match["old_place"] or match["place"]
    lines = tuple(range(block.start, end + 1))
    echo = bool(_ECHO.search(text))
    return Crash(
        "rust",
        block.start,
        end,
        "panic",
        text,
        place=place,
        thread=match["thread"],
        lines=lines,
        kind="panic",
        echo=echo,
    )


_CAUSE = lazy(r"^\s+(?:(?P<depth>\d+): )?(?P<text>\S.*)$")
_ERROR = lazy(r"(?:^|\s)(?:Error|ERROR|error): (?P<message>\S.*)$")


def rust_error(block: Block) -> Crash | None:
    """anyhow's report: `Error: ...`, a blank line, `Caused by:`, indented causes; the last cause is the root."""
    if not re.match(r"^(?:.*\W)?Caused by:\s*$", block.first):
        return None
    top = next(((number, match) for number, text in block.above(4) if (match := _ERROR.search(text))), None)
    if top is None:
        return None
    causes: list[tuple[int, str]] = []
    for number, text in block.below(12):
        match = _CAUSE.match(text)
        if match is None:
            break
        causes.append((number, match["text"].strip()))
    if not causes:
        return None
    lines = (top[0], block.start, *(number for number, _ in causes))
    crash = Crash("rust", top[0], causes[-1][0], "Error", top[1]["message"], "Error", causes[-1][1], lines=lines)
    return replace(crash, uncaught=True)


# ---- Go

_GO = lazy(r"(?:^|[\s|])(?P<head>panic|fatal error): (?P<message>.*)$")
_GOROUTINE = lazy(r"goroutine \d+(?: gp=\S+)?(?: m=\S+(?: mp=\S+)?)? \[")
_GO_FRAME = lazy(r"^\s+(?P<place>\S+\.go:\d+)(?: \+0x[0-9a-f]+)?$")
_GO_SIGNAL = lazy(r"\[signal SIG(?P<name>[A-Z]+)")
_GO_NUMBERS = {"SEGV": "11", "BUS": "7", "ABRT": "6", "FPE": "8"}


def go(block: Block) -> Crash | None:
    """`panic: ...` or `fatal error: ...` with `goroutine N [running]:` below; without that it is somebody's words."""
    match = _GO.search(block.first)
    if match is None:
        return None
    signal, place, lines, seen = "", "", [block.start], False
    end = block.start
    for number, text in block.below(60):
        if found := _GO_SIGNAL.search(text):
            signal = _GO_NUMBERS.get(found["name"], "")
            lines.append(number)
        if _GOROUTINE.search(text):
            seen = True
            lines.append(number)
        if seen and not place and (frame := _GO_FRAME.match(text)) and "/runtime/" not in frame["place"]:
            place, end = frame["place"], number
            lines.append(number)
            break
        if number > block.start + 14 and not seen:
            return None
    if not seen:
        return None
    kind = "panic" if match["head"] == "panic" else "traceback"
    end = max(end, *lines)
    return Crash(
        "go",
        block.start,
        end,
        match["head"],
        match["message"],
        place=place,
        signal=signal,
        lines=tuple(lines),
        kind=kind,
        uncaught=True,
    )


# ---- C++ and C

_THROWN = lazy(r"terminate called after throwing an instance of '(?P<type>.*)'")
_TERMINATE = lazy(
    r"(?P<message>terminate called (?:without an active exception|recursively)|pure virtual method called)"
)
_WHAT = lazy(r"^\s*what\(\):\s*(?P<text>.*)$")


def cpp(block: Block) -> Crash | None:
    """`terminate called after throwing an instance of 'std::bad_alloc'` and its `  what():  std::bad_alloc`."""
    if match := _THROWN.search(block.first):
        what = next(((n, m["text"]) for n, text in block.below(2) if (m := _WHAT.match(text))), (block.start, ""))
        lines = (block.start, what[0])
        return Crash("c++", block.start, what[0], match["type"], what[1], lines=lines, signal="6", uncaught=True)
    if match := _TERMINATE.search(block.first):
        return Crash("c++", block.start, block.start, "terminate", match["message"], signal="6", uncaught=True)
    return None


_ASSERT = lazy(
    r"(?:(?P<program>[\w./-]+): )?(?P<place>[\w./+-]+:\d+): (?:(?P<function>.{1,200}?): )"
    r"?Assertion `(?P<text>.*?)' failed\."
)
_OLD = lazy(r"\*\*\* Error in `?(?P<program>[^':]+)'?: (?P<text>.*?)(?:: 0x[0-9a-f]+)? \*\*\*")
_GUARD = lazy(r"\*\*\* (?P<text>(?:stack smashing|buffer overflow) detected) \*\*\*")
_HEAP = lazy(
    r"^(?:[\w./-]+: )?(?P<text>double free or corruption \([\w!]+\)|(?:free|malloc|realloc|malloc_consolidate|"
    r"munmap_chunk)\(\): [a-z].*|"
    r"corrupted size vs\. prev_size.*|corrupted double-linked list.*|Fatal glibc error: .*)$"
)


def glibc(block: Block) -> Crash | None:
    """glibc's last words before abort(), such as `malloc(): corrupted top size` or a failed assert."""
    if match := _ASSERT.search(block.first):
        return Crash(
            "c", block.start, block.start, "assertion", match["text"], place=match["place"], signal="6", uncaught=True
        )
    for pattern, exception in ((_OLD, "heap corruption"), (_GUARD, "guard"), (_HEAP, "heap corruption")):
        if match := pattern.search(block.first):
            return Crash("c", block.start, block.start, exception, match["text"], signal="6", uncaught=True)
    return None
