"""Stamps -> one time line, with uncertainty."""

from __future__ import annotations

from postmortem.model import Instant


class Clock:
    """The time of each line of one source."""

    def instant(self, number: int) -> Instant | None:
        """When the line was written, as far as its own stamp or its neighbours' tell."""
        raise NotImplementedError
