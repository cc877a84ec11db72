"""Uncaught errors of Java and Node: the last `Caused by:` is Java's root."""

from __future__ import annotations

import re

from postmortem.lazy import lazy
from postmortem.parse.crash_block import Block, Crash

NEEDLES = (
    r"Exception in thread \"",
    r"^(?:[\w$]+\.)+[A-Z][\w$]*(?:Exception|Error|Throwable)\b",
    r"^\s*(?:Uncaught )?(?:[A-Z]\w*)?Error(?: \[\w+\])?: ",
    r"# A fatal error has been detected by the Java Runtime Environment",
)
APART = 13  # lines between two frames of a stack, which other writers may fill
_JAVA = lazy(
    r"^(?:.*Exception in thread \"(?P<thread>[^\"]*)\" )?(?P<type>(?:[\w$]+\.)+[A-Z][\w$]*)(?:: (?P<message>.*))?$"
)
_JAVA_FRAME = lazy(r"^\s+at (?:[\w.$/@-]+/)?[\w.$<>]+\((?P<place>[^()]*)\)")
_JAVA_CAUSE = lazy(r"^\s*Caused by: (?P<type>[\w.$]+)(?:: (?P<message>.*))?$")
_JAVA_MORE = lazy(r"^\s+(?:\.\.\. \d+ (?:more|common frames)|Suppressed: )|^\s*$")
_JVM_SIGNAL = lazy(r"^#\s+(?P<name>SIG\w+) \((?P<number>0x[0-9a-f]+)\)")
_NODE = lazy(r"^\s*(?:Uncaught )?(?P<type>(?:[A-Z]\w*)?Error)(?: \[(?P<code>\w+)\])?: (?P<message>.*)$")
_NODE_FRAME = lazy(
    r"^\s+at (?:.*\()?(?P<place>(?:file://|node:|/|\.|[A-Za-z]:|internal/)[^()]*?:\d+(?::\d+)?)\)?$|"
    r"^\s+at .* \(<anonymous>\)$"
)


def java(block: Block) -> Crash | None:
    """`Exception in thread "main" x.Y: m`, or `x.Y: m` as a logger prints it, with `\tat ` frames below."""
    if "# A fatal error has been detected by the Java" in block.first:
        return _jvm(block)
    match = _JAVA.match(block.first)
    if match is None:
        return None
    frames = 0
    place = ""
    root = (match["type"], match["message"] or "")
    lines, end = [block.start], block.start
    for number, text in block.below(100):
        if frame := _JAVA_FRAME.match(text):
            frames += 1
            place = place or frame["place"]
            end = number
        elif cause := _JAVA_CAUSE.match(text):
            root, place = (cause["type"], cause["message"] or ""), ""
            lines.append(number)
            end = number
        elif frames == 0 and number - block.start > 3:
            return None  # a message may run over some lines, then come the frames
        elif frames and not _JAVA_MORE.match(text):
            break
    if frames == 0 and match["thread"] is None:
        return None
    thread = match["thread"] or ""
    return Crash(
        "java",
        block.start,
        end,
        match["type"],
        match["message"] or "",
        *root,
        place,
        thread,
        lines=tuple(lines),
        uncaught=bool(thread),
    )


def _jvm(block: Block) -> Crash | None:
    for number, text in block.below(4):
        if match := _JVM_SIGNAL.match(text):
            signal = str(int(match["number"], 16))
            return Crash("java", block.start, number, "JVM crash", match["name"], signal=signal, uncaught=True)
    return Crash("java", block.start, block.start, "JVM crash", uncaught=True)


def node(block: Block) -> Crash | None:
    """`TypeError: m` with `    at f (file:1:2)` frames below; `Node.js v20...` after them says that it was uncaught."""
    match = _NODE.match(block.first)
    if match is None or not block.holds("at ", APART):
        return None
    place, end, frames, uncaught = "", block.start, 0, False
    for number, text in block.below(40):
        if frame := _NODE_FRAME.match(text):
            place = place or frame["place"] or ""
            frames += 1
            end = number
        elif re.match(r"^Node\.js v\d+", text):
            uncaught, end = True, number
            break
        elif number - end >= APART:
            break
    if frames == 0:
        return None
    exception = match["type"]
    return Crash("node", block.start, end, exception, match["message"], place=place, uncaught=uncaught)
