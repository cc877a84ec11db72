"""The signature language: load a catalogue, confirm nominated lines, match, check.

catalogue = load(user_files)                # SignatureError with every mistake at once
hits = confirm(catalogue, scene.readings)   # what the patterns really say of the nominated lines
findings = match(catalogue, scene, hits)    # sorted; refuted ones among them
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from postmortem.signatures.check import check, warnings
from postmortem.signatures.confirm import Hits, confirm
from postmortem.signatures.find import paths, shipped
from postmortem.signatures.language import Catalogue, Link, Signature
from postmortem.signatures.listing import Row, listing
from postmortem.signatures.load import load as load_files
from postmortem.signatures.load import parse
from postmortem.signatures.match import match, proves

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


def load(user: Sequence[Path] = ()) -> Catalogue:
    """The shipped catalogue with the user's files on top. Raises SignatureError."""
    return load_files(paths(user))
