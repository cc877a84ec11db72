"""Text -> the same text without what changes from one occurrence to the next."""

from __future__ import annotations

import re

from postmortem.lazy import lazy

# Order matters: what is longer and surer first. Each stand-in is a word that no later mask touches.
MASKS = (
    (lazy(r"\[hidden:[\w:-]+\]"), "<hidden>"),
    (lazy(r"\b[a-z][a-z0-9+.-]*://\S+", re.I), "<url>"),
    (lazy(r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"), "<time>"),
    (lazy(r"\b[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}\b", re.I), "<uuid>"),
    (lazy(r"\b(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\b", re.I), "<pci>"),
    (lazy(r"\b(?:[0-9a-f]{4}|[0-9a-f]{8}):[0-9a-f]{2}:[0-9a-f]{2}\b", re.I), "<pci>"),
    (lazy(r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b"), "<time>"),
    (lazy(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", re.I), "<mac>"),
    (lazy(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<ip>"),
    (lazy(r"\b0x[0-9a-f_]+\b", re.I), "<hex>"),
    (lazy(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}\b", re.I), "<hex>"),
    (lazy(r"(?<![\w<])(?:/[\w.@+:-]+)+/([\w.@+-]+)"), r"<dir>/\1"),
    (lazy(r"\d+(?:\.\d+)?"), "<n>"),
    (lazy(r"(<(?:n|hex)>)(?:[,_ -]?\1)+"), r"\1"),
)
LONGEST = 300


def masked(text: str) -> str:
    """The text with times, addresses, paths, hex and numbers replaced by what they are."""
    text = text[:LONGEST]
    for pattern, stand_in in MASKS:
        text = pattern.sub(stand_in, text)
    return " ".join(text.split())
