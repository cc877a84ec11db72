"""Words that speak of trouble, and lines that use them without any."""

from __future__ import annotations

import re

from postmortem.lines import Line

BAD_LEVELS = frozenset({"error", "critical", "fatal", "panic", "alert", "emergency"})
CALM_LEVELS = frozenset({"debug", "trace"})
_BAD = re.compile(
    r"(?i)\b(?:errors?|err|fatal|panic(?:ked)?|fail(?:ed|ure|ing|s)?|exception|traceback|abort(?:ed|ing)?|cannot|can't"
    r"|could ?n[o']t|unable|refused|denied|rejected|killed|crash(?:ed)?|timed? ?out|invalid|corrupt(?:ed)?|mismatch"
    r"|not found|lost|unexpected|severe|critical|stuck|stalled|giving up|gave up|unrecoverable|bad|wrong|violat\w+)\b"
)
_CALM = re.compile(
    r"(?i)\b(?:0|no|zero|without|any|on|if|ignor\w+|handl\w+|max\w*) (?:\w+ )?(?:errors?|failures?|failed|timeouts?)\b"
    r"|\b(?:errors?|failures?|failed|timeouts?|lost|rejected|invalid)s?(?: [a-z]+){0,3}[=: ]+0(?![.\d])"
    r"|[\w.]*error[\w.]*=(?:off|none|false)\b"
)


def is_trouble(line: Line) -> bool:
    """Whether a line speaks of trouble: by its level, or by its words if they are not of the `errors: 0` kind."""
    if line.level in CALM_LEVELS or not line.message.strip():
        return False
    if line.level in BAD_LEVELS:
        return True
    return bool(_BAD.search(line.message)) and not _CALM.search(line.message)
