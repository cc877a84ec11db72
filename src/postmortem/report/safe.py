"""Untrusted text -> text that cannot drive a terminal, hide itself or fill a screen."""

from __future__ import annotations

from postmortem.lazy import lazy

ESCAPES = lazy(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
# C0 and C1 controls but for the tab, zero-width and bidirectional marks, line and paragraph separators
CONTROLS = lazy(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
LONGEST = 2000


def plain(text: str, longest: int = LONGEST) -> str:
    """The text without escapes and control characters, cut at `longest` characters with a note of what was cut."""
    bare = CONTROLS.sub("", ESCAPES.sub("", text))
    if len(bare) <= longest:
        return bare
    return f"{bare[:longest]} [... {len(bare) - longest} more characters]"
