"""Words that speak of trouble, and lines that use them without any."""

from __future__ import annotations

from postmortem.lazy import lazy
from postmortem.lines import Line

BAD_LEVELS = frozenset({"error", "critical", "fatal", "panic", "alert", "emergency"})
CALM_LEVELS = frozenset({"debug", "trace"})
_BAD = lazy(
    r"(?i)\b(?:errors?|err|fatal|panic(?:ked)?|fail(?:ed|ure|ing|s)?|exception|traceback|abort(?:ed|ing)?|cannot|can't"
    r"|could ?n[o']t|unable|refused|denied|rejected|killed|crash(?:ed)?|timed? ?out|invalid|corrupt(?:ed)?|mismatch"
    r"|not found|lost|unexpected|severe|critical|stuck|stalled|giving up|gave up|unrecoverable|bad|wrong|violat\w+)\b"
)
_CALM = lazy(
    r"(?i)\b(?:0|no|zero|without|any|on|if|ignor\w+|handl\w+|max\w*) (?:\w+ )?(?:errors?|failures?|failed|timeouts?)\b"
    r"|\b(?:errors?|failures?|failed|timeouts?|lost|rejected|invalid)s?(?: [a-z]+){0,3}[=: ]+0(?![.\d])"
    r"|[\w.]*error[\w.]*=(?:off|none|false)\b"
)

# names say nothing of what happened: `Building src/err.dir/deadlock.o`, `# HELP http_5xx Server errors.`
_PATHS = lazy(r"^# (?:HELP|TYPE) .*|\S*(?:/|\\)[\w.-]*[A-Za-z][\w.-]*\.\w+\S*")


def is_trouble(line: Line) -> bool:
    """Whether a line speaks of trouble: by its level, or by its words if they are not of the `errors: 0` kind."""
    if line.level in CALM_LEVELS or not line.message.strip():
        return False
    if line.level in BAD_LEVELS:
        return True
    words = _PATHS.sub(" ", line.message)
    return bool(_BAD.search(words)) and not _CALM.search(words)


_WARNS = lazy(r"\bWARN(?:ING)?\b|^[Ww]arning:")


def is_told(line: Line) -> bool:
    """Whether a line speaks of trouble and is no mere warning."""
    return line.level not in ("warn", "warning", "notice") and not _WARNS.search(line.message) and is_trouble(line)


# What only a dying program prints, frames of a stack and memory maps: `at x.y.Z(F.java:3)`, `File "a.py", line 3`,
# `	/src/a.go:9 +0x1d`, `#3 0x00007f in f ()`, `  12: core::panicking::panic`, `7f00-7f10 r-xp 0000 fd:00 12 /lib/x.so`
_DEBRIS = lazy(
    r"^\s*at (?:async )?[\w$.<>/\[\] ]+\([^)]*\)$|^\s*at [\w./-]+:\d+(?::\d+)?$"
    r"|^\s*File \"[^\"]+\", line \d+"
    r"|^\s+/?[\w./@-]+\.go:\d+(?: \+0x[0-9a-f]+)?$|^goroutine \d+ \["
    r"|^\s*#\d+:? +(?:0x[0-9a-f]+|[\w:<>~]+ ?\()"
    r"|^\s*\d+: +(?:0x[0-9a-f]+ - )?<?[\w<>$]+(?:::[\w<>$:{}#& ]+)+"
    r"|^[0-9a-f]{8,16}-[0-9a-f]{8,16} [r-][w-][x-][ps] "
    r"|^\S+\((?:\w*\+)?0x[0-9a-f]+\) ?\[0x[0-9a-f]+\]$"
    r"|^\s*\.\.\. \d+ more$|^\s*\^[~^]*$"
)


def is_debris(line: Line) -> bool:
    """Whether a line is part of what a dying program leaves: a stack frame, a memory map."""
    return bool(_DEBRIS.search(line.message))
