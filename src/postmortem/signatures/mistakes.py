"""Mistakes of a signature file: gathered one by one, told all at once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from difflib import get_close_matches

import yaml


@dataclass(slots=True)
class Mistakes:
    """What is wrong in one file, by place."""

    name: str
    tested: bool = False  # every pattern of the file is known to compile: that takes most of the time of reading it
    found: list[tuple[int, int, str]] = field(default_factory=list)

    def place(self, node: yaml.Node) -> str:
        """Where a node stands: `file:line:column`, counted from 1."""
        return f"{self.name}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"

    def add(self, node: yaml.Node, what: str, todo: str, word: str = "", known: Collection[str] = ()) -> None:
        """One mistake: what it is and what to do; `word` is looked up among the known ones for a suggestion."""
        self.add_at(node.start_mark.line + 1, node.start_mark.column + 1, what, todo, word, known)

    def add_at(self, line: int, column: int, what: str, todo: str, word: str = "", known: Collection[str] = ()) -> None:
        """The same at a line and column, counted from 1."""
        self.found.append((line, column, f"{self.name}:{line}:{column}: {sentence(what, todo, word, known)}"))

    def lines(self) -> tuple[str, ...]:
        """The mistakes in the order of the file."""
        return tuple(text for _, _, text in sorted(self.found))


def sentence(what: str, todo: str, word: str = "", known: Collection[str] = ()) -> str:
    """`what; did you mean 'x'? todo`."""
    near = get_close_matches(word, sorted(known), 1, 0.6) if word else []
    return f"{what}; did you mean '{near[0]}'? {todo}" if near else f"{what}; {todo}"
