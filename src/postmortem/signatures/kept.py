"""Signature files -> `Catalogue`, by way of what was read before: to read all that YAML takes longer than a diagnosis.

The shipped catalogue was read when the package was built; others are kept in the user's cache. What is kept there is
named by the texts, by this package's own code and by the Python and `regex` that run it. Either is a pickle that may
name the classes of the signature language and nothing else.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import regex

from postmortem import __version__
from postmortem.errors import SignatureError
from postmortem.scan.cache import code, keep, kept, named
from postmortem.scan.ready import ready, write
from postmortem.signatures.language import Catalogue

MAGIC = b"postmortem catalogue 2\n"
_CODE = ("signatures", "model.py", "errors.py")
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
    texts = _texts(paths) if cache else None
    if cache is None or texts is None:
        return _read(paths, partial, tested)
    if known := _opened(ready("catalogue", _CODE, _told(texts))):
        return known
    file = named(cache, "catalogue", [__version__, sys.version, regex.__version__, partial, code(_HERE), texts])
    if known := _opened(kept(file, MAGIC)):
        return known
    catalogue = _on_top(texts, partial) or _read(paths, partial, tested)
    keep(file, MAGIC, _pickled(catalogue))
    return catalogue


def _on_top(texts: Sequence[tuple[str, str]], partial: bool) -> Catalogue | None:
    """The files on top of the first, where that is ready and they have no mistakes: who reads them all names those."""
    from postmortem.signatures.reader import parse

    known = _opened(ready("catalogue", _CODE, _told(texts[:1])))
    try:
        return parse(texts, partial, known=known) if known else None
    except SignatureError:
        return None


def prepare(folder: Path, path: Path) -> Catalogue:
    """Reads the package's catalogue and writes it for its users. Raises SignatureError and OSError."""
    from postmortem.signatures.reader import parse

    text = path.read_text(encoding="utf-8")
    catalogue = parse([(path.name, text)])  # the places in it name no folder: it is read in many
    write(folder, "catalogue", _CODE, _told([(path.name, text)]), _pickled(catalogue))
    return catalogue


def _read(paths: Sequence[Path], partial: bool, tested: Path | None) -> Catalogue:
    from postmortem.signatures.reader import load as read

    return read(paths, partial, tested)


def _texts(paths: Sequence[Path]) -> list[tuple[str, str]] | None:
    try:
        return [(str(path), path.read_text(encoding="utf-8")) for path in paths]
    except (OSError, UnicodeDecodeError):
        return None  # the reader will say what is wrong


def _told(texts: Sequence[tuple[str, str]]) -> list[str]:
    return [hashlib.sha256(text.encode()).hexdigest() for _, text in texts]


def _pickled(catalogue: Catalogue) -> bytes:
    told = (catalogue.signatures, tuple(catalogue.by_id), catalogue.digest, catalogue.patterns)
    return pickle.dumps(told, protocol=5)


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
        signatures, ids, digest, patterns = _Unpickler(io.BytesIO(body)).load()
        found = {s.id: s for s in signatures}
        return Catalogue(signatures, MappingProxyType({name: found[name] for name in ids}), digest, patterns)
    except (pickle.UnpicklingError, AttributeError, EOFError, ImportError, IndexError, KeyError, TypeError, ValueError):
        return None
