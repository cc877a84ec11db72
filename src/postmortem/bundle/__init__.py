"""A path or a stream -> `Bundle`: members in stream order, manifest, damage. Nothing is extracted to disk."""

from __future__ import annotations

from postmortem.bundle.manifest import Manifest
from postmortem.bundle.member import Member
from postmortem.bundle.open import Bundle, BundleKind, open_bundle
from postmortem.errors import BundleError

__all__ = ["Bundle", "BundleError", "BundleKind", "Manifest", "Member", "open_bundle"]
