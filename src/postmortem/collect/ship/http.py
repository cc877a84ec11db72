"""PUT (what a presigned URL wants) and POST over HTTP or HTTPS; any 2xx is the acknowledgement."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from typing import Any

from postmortem.collect.ship.targets import Bundle, headers

_FINAL = {400, 401, 403, 404, 405, 411, 413, 415}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Evidence goes where it was sent, nowhere else."""

    def redirect_request(self, *args: Any, **words: Any) -> None:
        return None


def send(bundle: Bundle, target: str, seconds: float) -> str:
    """Sends the bundle as the body. Raises OSError, or Refused where a second try is no use."""
    how, plus, rest = target.partition("+")
    url, method = (rest, how.upper()) if plus and how in ("put", "post") else (target, "PUT")
    data = bundle.bytes()
    more = {"Content-Type": "application/gzip"} if method == "POST" else {}
    status, etag = request(method, url, data, {**more, **headers()}, seconds)
    md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
    if len(etag) == 32 and etag != md5 and all(c in "0123456789abcdef" for c in etag):
        raise OSError("the receiver's checksum is another one")
    return f"HTTP {status}, {len(data)} bytes"


def request(method: str, url: str, data: bytes, more: dict[str, str], seconds: float) -> tuple[int, str]:
    """Status and ETag of one request that succeeded. Raises OSError, or Refused."""
    from postmortem.collect.ship import Refused

    wanted = urllib.request.Request(url, data=data, method=method, headers=more)
    if method == "PUT" and not wanted.has_header("Content-type"):
        wanted.add_unredirected_header("Content-type", "")  # else urllib adds one, which a presigned URL did not sign
    try:
        with urllib.request.build_opener(_NoRedirect).open(wanted, timeout=seconds) as answer:
            return answer.status, (answer.headers.get("ETag") or "").strip('"')
    except urllib.error.HTTPError as error:
        if error.code in _FINAL or error.code // 100 == 3:
            raise Refused(f"HTTP {error.code} {error.reason}") from error
        raise OSError(f"HTTP {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise OSError(str(getattr(error.reason, "strerror", None) or error.reason)) from error
    except http.client.HTTPException as error:
        raise OSError(f"the connection broke: {type(error).__name__}") from error
