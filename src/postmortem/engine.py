"""The catalogue and its compiled patterns: what is the same for every input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from postmortem.detect import needles as detector_needles
from postmortem.parse import needles
from postmortem.scan import Scanner, build, user_cache
from postmortem.signatures import Catalogue, load
from postmortem.watch import Watch


@dataclass(frozen=True, slots=True)
class Engine:
    """What is the same for every input: the catalogue and its compiled patterns."""

    catalogue: Catalogue
    scanner: Scanner


def engine(signatures: Sequence[Path] = (), watch: Watch | None = None) -> Engine:
    """The shipped catalogue with the user's files on top, ready to read many inputs. Raises SignatureError."""
    with (watch or Watch()).stage("catalogue"):
        catalogue = load(signatures, user_cache(), tested=True)
        return Engine(catalogue, build(patterns_of(catalogue), cache=user_cache()))


def patterns_of(catalogue: Catalogue) -> tuple[str, ...]:
    """All that the scanner looks for: the catalogue's patterns, and those of parsers and detectors."""
    return (*catalogue.patterns, *needles(), *detector_needles())
