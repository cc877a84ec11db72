"""docs/accuracy.md: each slow test writes its own section of it."""

from __future__ import annotations

import fcntl
import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "accuracy.md"
HEAD = """# Accuracy

Written by `make test-all`; do not edit by hand.

The rules were written with these cases at hand, so the table says what holds now and not how an unseen failure fares.
The only figures for unseen ones are first runs, of cases that people wrote without sight of the rules: 63 of the first
77 of `sys`, `gpu`, `app` and `sys2` (82 %, one wrong answer with high confidence), then 60 of the 80 of `holdout`
(75 %, two), then 64 of the 82 of `wild` (78 %: 33 of 40 of GPUs and applications with four wrong answers of high
confidence, 31 of 42 of systems and scripts with one; ten answers were the one that the label names as tempting),
then 46 of the 55 of `fourth` (84 %, three wrong answers with high confidence, four of the nine wrong ones tempting), and
last 35 of the 41 of `fifth` (85 %, one wrong answer with high confidence; nine of these cases were written and first run
after the others had been mended).
"""


def write_section(title: str, body: str) -> None:
    """Replaces the section of this title, or appends it; other sections stay as they are."""
    PAGE.touch()
    with PAGE.open("r+", encoding="utf-8") as page:
        fcntl.flock(page, fcntl.LOCK_EX)  # another worker of pytest may be writing another section
        sections = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", page.read(), re.M))
        sections[title] = f"\n{body.strip()}\n\n"
        page.seek(0)
        page.truncate()
        page.write(HEAD + "".join(f"\n## {name}\n{text.rstrip()}\n" for name, text in sorted(sections.items())))
