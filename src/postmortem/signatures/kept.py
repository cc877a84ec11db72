"""Signature files -> `Catalogue`, by way of the user's cache: to read all that YAML takes longer than a diagnosis.

What is kept is named by the texts, by this package's own code and by the Python and `regex` that run it. It is a pickle
that may name the classes of the signature language and nothing else.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import regex

from postmortem import __version__
from postmortem.scan.cache import code, keep, kept, named
from postmortem.signatures.language import Catalogue

MAGIC = b"postmortem catalogue 1\n"
_HERE = Path(__file__).parent
_MODULES = ("postmortem.signatures.language", "postmortem.model")
_BUILTINS = frozenset({"frozenset", "set", "tuple"})


def load(
    paths: Sequence[Path], partial: bool = False, cache: Path | None = None, tested: Path | None = None
) -> Catalogue:
    """Reads the files; an entry of a later file replaces one of the same id. Raises SignatureError.

    A `partial` catalogue may name classes that it does not have, as one file of several does. The patterns of the file
    `tested` are known to compile. What was read is kept in the folder `cache`, when one is given and can be written.
    """
    file = _file(paths, partial, cache) if cache else None
    known = _opened(kept(file, MAGIC)) if file else None
    if known is not None:
        return known
    from postmortem.signatures.reader import load as read

    catalogue = read(paths, partial, tested)
    if file:
        told = (catalogue.signatures, catalogue.digest, catalogue.patterns)
        keep(file, MAGIC, pickle.dumps(told, protocol=5))
    return catalogue


def _file(paths: Sequence[Path], partial: bool, cache: Path) -> Path | None:
    try:
        texts = [(str(path), path.read_text(encoding="utf-8")) for path in paths]
    except (OSError, UnicodeDecodeError):
        return None  # the reader will say what is wrong
    return named(cache, "catalogue", [__version__, sys.version, regex.__version__, partial, code(_HERE), texts])


class _Unpickler(pickle.Unpickler):
    """Makes values of the signature language and refuses every other name."""

    def find_class(self, module: str, name: str) -> Any:
        if module in _MODULES and "." not in name and isinstance(found := getattr(sys.modules[module], name), type):
            return found
        if module == "builtins" and name in _BUILTINS:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a catalogue")


def _opened(body: bytes | None) -> Catalogue | None:
    """The catalogue that was kept, or None where the bytes say something else."""
    if body is None:
        return None
    try:
        signatures, digest, patterns = _Unpickler(io.BytesIO(body)).load()
        return Catalogue(signatures, MappingProxyType({s.id: s for s in signatures}), digest, patterns)
    except (pickle.UnpicklingError, AttributeError, EOFError, ImportError, IndexError, KeyError, TypeError, ValueError):
        return None
