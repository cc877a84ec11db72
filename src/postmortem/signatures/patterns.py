"""Patterns of signatures: compiled when first needed, searched under a time limit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import regex

from postmortem.errors import SignatureError

LINE_TIMEOUT_S = 0.1
LONGEST = 65_536  # characters of one line that are searched


@dataclass(frozen=True, slots=True)
class Found:
    """What a search ended with."""

    match: regex.Match[str] | None = None
    gave_up: bool = False  # past the time limit: nobody knows


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> regex.Pattern[str]:
    """The pattern, compiled once; raises regex.error for one that is wrong."""
    return regex.compile(pattern)


def search(pattern: str, text: str, timeout_s: float = LINE_TIMEOUT_S) -> Found:
    """Searches one line; a pattern that runs away is stopped after `timeout_s` seconds. Raises SignatureError."""
    try:
        return Found(compiled(pattern).search(text, 0, LONGEST, timeout=timeout_s))
    except TimeoutError:
        return Found(gave_up=True)
    except regex.error as error:
        raise SignatureError((f"bad pattern '{pattern}': {error}; run `postmortem signatures check`",)) from None


def fault_of(pattern: str) -> str:
    """What keeps the pattern from compiling, with the place, or ""."""
    try:
        compiled(pattern)
    except (regex.error, OverflowError, RecursionError) as error:
        at = int(getattr(error, "pos", None) or 0)
        rest = f" ({pattern[at:][:20]!r})" if pattern[at:] else ", its end"
        return f"{getattr(error, 'msg', error)} at character {at + 1}{rest}"
    return ""
