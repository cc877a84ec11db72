"""How a report looks at a terminal: colours, width, links."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from postmortem.report.words import line, place

_WRAP: Any = {"break_long_words": False, "break_on_hyphens": False}


@dataclass(frozen=True, slots=True)
class Look:
    """How the report is shown; `width` wraps sentences, never evidence, and is None where the output is no terminal."""

    colour: bool = False
    width: int | None = None
    verbose: bool = False
    folder: str = ""  # absolute: evidence links to its files (OSC 8)

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def say(self, text: str, first: str = "", rest: str = "") -> str:
        """A sentence of ours, wrapped to the width."""
        if self.width is None:
            return first + text
        wide = max(40, self.width)
        return textwrap.fill(text, wide, initial_indent=first, subsequent_indent=rest or first, **_WRAP)

    def place(self, item: Any) -> str:
        """`file:line`, as a link where links are wanted."""
        text = place(item)
        if not self.folder:
            return text
        return f"\x1b]8;;file://{quote(self.folder)}/{quote(item['source'])}#{item['line']}\x1b\\{text}\x1b]8;;\x1b\\"

    def line(self, item: Any) -> str:
        """A line of evidence: never cut, never wrapped."""
        return self.place(item) + line(item).removeprefix(place(item))
