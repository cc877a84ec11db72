"""One member as the analysis sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from postmortem.model import Kind, State
from postmortem.text import Text


@dataclass(frozen=True, slots=True)
class Source:
    """One member as the analysis sees it."""

    path: str
    kind: Kind
    state: State
    text: Text
    dialect: str = ""  # of lines.py: how its lines are written
    reason: str = ""  # why the state is not whole
    hits: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # pattern -> line numbers, sorted, capped
    asked: frozenset[str] = frozenset()  # the patterns that the scanner looked for: without hits, there is no line
    hit_counts: Mapping[str, int] = field(default_factory=dict)  # pattern -> how many lines in all
    sha256: str = ""
