"""What programs put in front of their own messages: level, thread, target, spans."""

from __future__ import annotations

import re

from postmortem.lazy import lazy
from postmortem.lines.levels import BARE, LETTERS, WORDS, level_of
from postmortem.lines.types import Head

_NAME = r"[A-Za-z_][\w.:/$<>@-]{0,100}"
_WORDS = "|".join(sorted(WORDS, key=len, reverse=True))
_LEVEL = lazy(
    r"[ \t]*(?:(?:[-|:>]|::) ?)?"
    r"(?P<pre>(?:\[[^\][]{0,80}\]:?[ \t]*|\d{1,8}[ \t]+(?:- )?"
    r"|[\w$/-]{0,60}[.$/-][\w.$/-]{0,60}[ \t]+(?:- )?|\w{1,60} - ){0,3}?)"
    rf"(?:[\[(<] ?(?P<b>(?i:{_WORDS}))[ \t]*[\])>]:?|(?P<w>{BARE})(?=[ \t:|,\]]|$):?"
    r"|(?P<low>trace|debug|info|warn|warning|error|fatal)(?=\t|  |: )|(?P<pg>LOG|DETAIL|HINT|STATEMENT):)"
)
_LETTER = lazy(r"[ \t]*([IWEFDV])(?:/(\S+?)?)? (?=[A-Za-z_])")
_SEPARATOR = lazy(r"[ \t]*(?:[-|:] ?)?[ \t]*")
_SPRING = lazy(rf"(\d+) --- (?:\[[^\]]*\] )+({_NAME}) *: ")
_BRACKET = lazy(r"\[ *([^\][]{1,80}?) *\](?: \(([^()\s]{1,60})\))?[ \t]*")
_CALLER = lazy(r"[\w./+-]+\.\w{1,4}:\d+$")
_SPANS = lazy(r"(?:ThreadId\(\d+\) )?((?:[\w.:-]+\{[^{}]*\}:)*)(?:[\w.-]+:)* ?")
_TARGET = lazy(rf"({_NAME}?)(?:\[(\d+)\])?(?: *:| -| >) ")
_TAGGED = lazy(r"[ :|-]*([A-Za-z_][\w./-]{0,60})\[(\d+)\]: ")
_LOGGER_DASH = lazy(r"\w+(?:\.[\w$]+)+ - ")
_NGINX = lazy(r"(\d+)#\d+: ")
_SLURM_STEP = lazy(r"\[(\d+\.(?:batch|extern|interactive|\d+))\] ")

# Words that begin a message; as a writer's name they would hide what the message says.
_NOT_WRITERS = frozenset({
    "error", "err", "fatal", "panic", "warning", "warn", "note", "bind", "listen", "accept", "connect", "open",
    "read", "write", "dial", "mmap", "malloc", "fork", "exec", "killed", "failed", "failure", "exception",
    "details", "reason", "caused", "traceback", "http", "https", "runtime", "cuda", "cause", "message", "status",
    "exit", "signal", "terminated", "aborted", "segmentation", "usage", "assertion", "abort", "hint", "help",
    "result", "stderr", "stdout", "output", "command",
})  # fmt: skip


def tail(head: Head) -> bool:
    """Level, thread, pid and target behind a program's own stamp; True if a level or a writer was found."""
    text = head.text
    m = _LEVEL.match(text)
    if m:
        _before(head, m["pre"])
        head.level = level_of(m["b"] or m["w"] or m["low"] or m["pg"])
        after_level(head, m.end())
        return True
    if m := _LETTER.match(text):
        head.level = LETTERS[m[1]]
        head.text = text[m.end() :]
        return True
    if m := _TAGGED.match(text):
        head.program, head.pid, head.text = m[1], m[2], text[m.end() :]
        return True
    if m := _SLURM_STEP.match(text.lstrip()):
        head.program, head.text = m[1], text.lstrip()[m.end() :]
        return True
    head.text = _unseparated(text)
    m = _TARGET.match(head.text)
    if m and m[0][-2] == ":" and is_writer(m[1]):  # a script's `name: text`, where the name may belong to the message
        head.program = head.program or m[1]
    return False


def _unseparated(text: str) -> str:
    """Text behind a stamp without the one separator that stands there; further indentation stays."""
    for start in (" - ", ": ", " | ", " : ", "- ", "| "):
        if text.startswith(start):
            return text[len(start) :]
    return text[1:] if text[:1] in (" ", "\t") else text


def is_writer(name: str) -> bool:
    """Whether a word in front of a colon names who wrote the line, rather than what happened."""
    low = name.lower()
    return low not in _NOT_WRITERS and not low.endswith(("error", "exception")) and not name.startswith(("/", "http"))


def _before(head: Head, pre: str) -> None:
    """Pid and writer from what stands between stamp and level: `[2973]`, `- name -`, `27`, `[rank0]`."""
    for token in pre.replace(" - ", " ").split():
        word = token.strip("[]:-")
        if word.isdigit():
            head.pid = word
        elif word and not head.program and not _CALLER.match(word):
            head.program = word


def after_level(head: Head, at: int) -> None:
    """Writer from what stands between level and message."""
    text = head.text
    if text.startswith("\t", at):
        _tabs(head, at + 1)
        return
    if m := _SPRING.match(text, _SEPARATOR.match(text, at).end()):  # type: ignore[union-attr]
        head.pid, head.program, head.text = m[1], m[2], text[m.end() :]
        return
    at = _SEPARATOR.match(text, at).end()  # type: ignore[union-attr]
    at = _brackets(head, text, at)
    if m := _NGINX.match(text, at):
        head.pid, at = m[1], m.end()
    spans = _SPANS.match(text, at)
    if spans and spans[1]:
        at = spans.end() if spans[0].endswith(" ") else spans.end(1)
    m = _TARGET.match(text, at)
    if m and is_writer(m[1]):
        head.program, head.pid, at = m[1], m[2] or head.pid, m.end()
    head.text = text[at:]


def _brackets(head: Head, text: str, at: int) -> int:
    """Takes off `[thread]`, `[logger] (thread)`, `[file.py:12]`, `[tid 841]`; stops at a bracket of the message."""
    for _ in range(3):
        m = _BRACKET.match(text, at)
        if not m:
            return at
        word = m[1]
        if word.startswith(("tid ", "pid ")) or word.isdigit():
            head.pid = word[4:] if not word.isdigit() else word
        elif " " in word and _LOGGER_DASH.match(
            text, m.end()
        ):  # a thread's name of two words, with logback's logger behind
            pass
        elif " " in word or not any(c.isalpha() for c in word):
            return at
        elif not _CALLER.match(word):
            head.program = head.program or word
            at = m.end()
            continue
        at = m.end() if not _CALLER.match(word) else m.end(1) + 1 + (text[m.end(1) + 1 : m.end(1) + 2] == " ")
    return at


def _tabs(head: Head, at: int) -> None:
    """zap's console form: `logger<TAB>file.go:12<TAB>text<TAB>{…}`, each of the first two optional."""
    fields = head.text[at:].split("\t")
    while len(fields) > 1:
        if _CALLER.match(fields[0]):
            pass
        elif not head.program and re.fullmatch(_NAME, fields[0]):
            head.program = fields[0]
        else:
            break
        fields = fields[1:]
    head.text = "\t".join(fields)
