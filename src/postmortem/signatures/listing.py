"""The catalogue as a table."""

from __future__ import annotations

from dataclasses import dataclass

from postmortem.signatures.language import Catalogue, Signature, leaves, line_items


@dataclass(frozen=True, slots=True)
class Row:
    """One class of the catalogue, for `signatures list`."""

    id: str
    role: str
    title: str
    items: int  # that raise it
    patterns: int  # all line patterns
    causes: tuple[str, ...]  # the classes that it explains


def listing(catalogue: Catalogue) -> tuple[Row, ...]:
    """One row a class, by id."""
    return tuple(_row(s) for s in sorted(catalogue.signatures, key=lambda s: s.id))


def _row(signature: Signature) -> Row:
    causes = tuple(sorted(link.class_id for link in signature.explains))
    raising = sum(1 for _ in leaves(signature.when))
    return Row(signature.id, signature.role, signature.title, raising, len(line_items(signature)), causes)
