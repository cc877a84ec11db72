"""`python -m postmortem.prepare`: writes `ready/`, what a first diagnosis would otherwise make; a build does this."""

from __future__ import annotations

from pathlib import Path

from postmortem.engine import patterns_of
from postmortem.scan import needles, ready, scanner
from postmortem.signatures import kept, shipped


def prepare(folder: Path = ready.FOLDER) -> None:
    """Writes the read catalogue, the needles and the compiled patterns anew. Raises SignatureError and OSError."""
    patterns = patterns_of(kept.prepare(folder, shipped()))
    needles.prepare(folder, patterns)
    scanner.prepare(folder, patterns)


if __name__ == "__main__":
    prepare()
