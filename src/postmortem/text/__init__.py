"""A member's text: whole for a small one; head, tail and what surrounds a nomination for a big one."""

from __future__ import annotations

from postmortem.text.keep import Budget, Place, TextBuilder
from postmortem.text.lines import LINE_LIMIT, Text, text_of

__all__ = ["LINE_LIMIT", "Budget", "Place", "Text", "TextBuilder", "text_of"]
