"""The signature language: load a catalogue, confirm nominated lines, match, check.

catalogue = load(user_files, cache)         # SignatureError with every mistake at once
hits = confirm(catalogue, scene.readings)   # what the patterns really say of the nominated lines
findings = match(catalogue, scene, hits)    # sorted; refuted ones among them
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from postmortem.signatures.check import check, warnings
from postmortem.signatures.confirm import Hits, confirm
from postmortem.signatures.find import paths, shipped
from postmortem.signatures.kept import load as load_files
from postmortem.signatures.language import Catalogue, Link, Signature
from postmortem.signatures.listing import Row, listing
from postmortem.signatures.match import match, proves

if TYPE_CHECKING:
    from postmortem.signatures.reader import parse

__all__ = [
    "Catalogue",
    "Hits",
    "Link",
    "Row",
    "Signature",
    "check",
    "confirm",
    "listing",
    "load",
    "load_files",
    "match",
    "parse",
    "paths",
    "proves",
    "shipped",
    "warnings",
]


def load(user: Sequence[Path] = (), cache: Path | None = None, tested: bool = False) -> Catalogue:
    """The shipped catalogue with the user's files on top; kept in the folder `cache`. Raises SignatureError.

    With `tested` the shipped patterns are not compiled to see whether they can be, as `signatures check` does.
    """
    return load_files(paths(user), cache=cache, tested=shipped() if tested else None)


def __getattr__(name: str) -> Any:
    """`parse`, when it is asked for: the YAML reader alone takes as long to import as a small diagnosis lasts."""
    if name == "parse":
        from postmortem.signatures.reader import parse

        return parse
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
