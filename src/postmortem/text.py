"""A member's text: whole for a small one; head, tail and what surrounds a nomination for a big one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """Decoded lines by number (from 1), as far as they were kept."""

    size: int = 0  # bytes of the member
    count: int = 0  # lines of the member
    whole: bool = True  # every line was kept
    ends_with_newline: bool = True

    def line(self, number: int) -> str | None:
        """The line without its end, or None where it was not kept or does not exist."""
        raise NotImplementedError

    def kept(self) -> Iterator[tuple[int, str]]:
        """(number, line) of every line that was kept, in order."""
        raise NotImplementedError
