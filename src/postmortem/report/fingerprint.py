"""The stable id of a failure: the same fault elsewhere gets the same one."""

from __future__ import annotations

import hashlib
import re

from postmortem.model import ChainLink, Diagnosis, Finding, Place

# what names a fault's kind rather than its place: an Xid's number, a shell error's token, a signal
TELLING = ("xid", "code", "signal", "constraint", "token", "what", "exception", "errno", "reason")
MASKS = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I), "<uuid>"),
    (re.compile(r"\b(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-9a-f])?\b", re.I), "<pci>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<ip>"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{12,}\b", re.I), "<hex>"),
    (re.compile(r"(?:/[\w.@+-]+)+/([\w.@+-]+)"), r"<dir>/\1"),
    (re.compile(r"\d+"), "<n>"),
)


def masked(text: str) -> str:
    """The text with addresses, paths, hex and numbers replaced by what they are."""
    for pattern, stand_in in MASKS:
        text = pattern.sub(stand_in, text)
    return text


def fingerprint(diagnosis: Diagnosis) -> str:
    """Twelve hex digits over root, its telling facts and the chain's classes; empty when no cause is named."""
    root = diagnosis.root
    if root is None:
        return ""
    parts = [root.class_id, *telling(root), *(k.finding.class_id for k in ordered(diagnosis))]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=6).hexdigest()


def telling(root: Finding) -> list[str]:
    return [
        f"{key}={root.facts[key]}" if key in ("xid", "code", "signal") else f"{key}={masked(str(root.facts[key]))}"
        for key in TELLING
        if key in root.facts
    ]


def ordered(diagnosis: Diagnosis) -> list[ChainLink]:
    return sorted(
        (k for k in diagnosis.chain if k.place in (Place.CONSEQUENCE, Place.SYMPTOM)), key=lambda k: k.finding.class_id
    )
