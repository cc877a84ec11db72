"""What a target may be, where its secrets come from, and who sends to it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from postmortem.errors import UsageError

_SCHEMES = re.compile(r"(?:(?:put\+|post\+|logpush\+)?https?|s3|ssh)://[^/\s]+\S*")
_SECRET = re.compile(
    r"://[^/@\s]*:[^/@\s]+@|[?&](?:X-Amz-(?:Signature|Credential|Security-Token)|sig|Signature|token|key)=", re.I
)


@dataclass(frozen=True, slots=True)
class Bundle:
    """What is sent: its name, its bytes when memory holds them, its file when there is one."""

    name: str
    data: bytes | None
    path: str = ""

    def bytes(self) -> bytes:
        """All of it. Raises OSError."""
        return self.data if self.data is not None else Path(self.path).read_bytes()


Sender = Callable[[Bundle, str, float], str]  # bundle, target, seconds -> the acknowledgement


def target_of(text: str) -> str:
    """The URL that `--ship` means: itself, `env:NAME` or `@FILE`. Raises UsageError, also for a secret in argv."""
    url = text
    if text.startswith("env:"):
        url = os.environ.get(text[4:], "").strip()
        if not url:
            raise UsageError(f"--ship {text}: the environment has no {text[4:]}")
    elif text.startswith("@"):
        try:
            url = Path(text[1:]).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise UsageError(f"--ship {text}: {error.strerror}") from error
    elif _SECRET.search(url):
        raise UsageError("--ship: a URL with a secret in it shows in every process list; give env:NAME or @FILE")
    if not _SCHEMES.fullmatch(url):
        raise UsageError(f"--ship: {public(url)!r} is no https, post+https, logpush+https, s3 or ssh URL")
    return url


def public(url: str) -> str:
    """The URL without what may be secret: user, query, fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def sender_of(target: str) -> Sender:
    """Who sends to this URL."""
    from postmortem.collect.ship import http, push, s3, ssh

    scheme = target.partition("://")[0]
    if scheme.startswith("logpush+"):
        return push.send
    return {"s3": s3.send, "ssh": ssh.send}.get(scheme, http.send)


def headers() -> dict[str, str]:
    """Headers of the user's, `Name: value` a line, from $POSTMORTEM_SHIP_HEADERS or the file that ..._FILE names."""
    text = os.environ.get("POSTMORTEM_SHIP_HEADERS", "")
    if path := os.environ.get("POSTMORTEM_SHIP_HEADERS_FILE"):
        text += "\n" + Path(path).read_text(encoding="utf-8")
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}
