"""Blocks of whole lines -> which pattern may match which line; one pass over the bytes for all patterns.

The scanner nominates: maybe too much, never too little. Whether a pattern matches is what `regex` says of one decoded
line. Hyperscan does the pass; where it cannot be imported a plain search for literals gives a wider nomination.
"""

from __future__ import annotations

from postmortem.scan.cache import user_cache
from postmortem.scan.needle import Needle, needle_of
from postmortem.scan.scanner import End, Engine, Few, Nominee, Scanner, build, few, line_count, line_starts, lines_of

__all__ = [
    "End",
    "Engine",
    "Few",
    "Needle",
    "Nominee",
    "Scanner",
    "build",
    "few",
    "line_count",
    "line_starts",
    "lines_of",
    "needle_of",
    "user_cache",
]
