"""The facts that most failures of a group agree on, counted in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

MOSTLY = 0.8
VALUES = 50  # of one fact that are counted; the frequent ones are, whatever comes between (Misra and Gries)


class Shared:
    """Counts values of facts; one that four in five of the rows have is found, give or take one in fifty."""

    __slots__ = ("_counts", "rows")

    def __init__(self) -> None:
        self.rows = 0
        self._counts: dict[str, Counter[Any]] = {}

    def add(self, facts: Mapping[str, Any]) -> None:
        """The facts of one row more; lists and mappings are no values."""
        self.rows += 1
        for key, value in facts.items():
            if isinstance(value, str | int | float | bool):
                counts = self._counts.setdefault(key, Counter())
                counts[value] += 1
                if len(counts) > VALUES:
                    self._counts[key] = counts - Counter(dict.fromkeys(counts, 1))

    def common(self) -> dict[str, Any]:
        """The facts that are shared, by name."""
        told = ((key, *counts.most_common(1)[0]) for key, counts in sorted(self._counts.items()) if counts)
        return {key: value for key, value, count in told if count >= MOSTLY * self.rows}
