"""docs/accuracy.md: each slow test writes its own section of it."""

from __future__ import annotations

import fcntl
import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "accuracy.md"
HEAD = "# Accuracy\n\nWritten by `make test-all`; do not edit by hand.\n"


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
