"""What stands in a secret's place: the same for the same secret, and nothing that leads back to it."""

from __future__ import annotations

import hashlib
import hmac

from postmortem.lazy import lazy

STANDIN = lazy(rb"\[hidden:[a-z0-9-]{1,24}:[0-9a-f]{6}\]")
DEFAULT_KEY = hashlib.sha256(b"postmortem stand-ins v1").digest()


def standin(key: bytes, label: str, secret: bytes) -> bytes:
    """`[hidden:LABEL:TAG]`, where TAG is 24 bits of a keyed hash: enough to join, too few to search."""
    tag = hmac.new(key, secret, hashlib.sha256).hexdigest()[:6]
    return f"[hidden:{label}:{tag}]".encode()
