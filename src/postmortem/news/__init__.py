"""What is new in a failed run: against a healthy run of the same kind, or, without one, the first lines of trouble.

This is the answer for failures that no signature knows: the few lines that a person should read first.
"""

from __future__ import annotations

from postmortem.news.baseline import Baseline, baseline_of, news_against, seen_before
from postmortem.news.judge import judged
from postmortem.news.news import News, as_json
from postmortem.news.unknown import SPEAKS, first_look

__all__ = [
    "SPEAKS",
    "Baseline",
    "News",
    "as_json",
    "baseline_of",
    "first_look",
    "judged",
    "news_against",
    "seen_before",
]
