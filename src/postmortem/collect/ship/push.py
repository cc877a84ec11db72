"""Log-push, as a manager of rented GPUs takes it: plain lines, each body below 256 KiB, the summary first.

The bundle goes as lines of base64, `postmortem-bundle NAME PART/PARTS TEXT`; `postmortem unpush` puts them together.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import os
import re
import tarfile
import time
from collections.abc import Iterable
from pathlib import Path

from postmortem.collect.ship.http import request
from postmortem.collect.ship.targets import Bundle, headers

MOST = 256 << 10  # of a body; what is more is cut off without a word
_RAW = 180_000  # bytes a chunk before base64; a multiple of three
_LINE = re.compile(r"postmortem-bundle (\S+) (\d+)/(\d+) ([A-Za-z0-9+/=]+)")
_STEP = 0.9


def send(bundle: Bundle, target: str, seconds: float) -> str:
    """Summary, then the chunks that were not acknowledged before. Raises OSError, or Refused."""
    url, until = target.removeprefix("logpush+"), time.monotonic() + seconds
    data = bundle.bytes()
    chunks = [data[at : at + _RAW] for at in range(0, len(data), _RAW)]
    done = _Done(bundle, data, url)
    for number in range(done.count, len(chunks) + 1):
        if number == 0:
            body, source = summary(bundle.name, data), "postmortem-summary"
        else:
            text = base64.b64encode(chunks[number - 1]).decode()
            body = f"postmortem-bundle {bundle.name} {number}/{len(chunks)} {text}\n".encode()
            source = "postmortem-bundle"
        request("POST", url, body[:MOST], _headers(source), max(until - time.monotonic(), 0.1))
        done.add()
    return f"{len(chunks)} chunks and a summary"


class _Done:
    """How many bodies of this bundle this receiver acknowledged, kept beside the bundle's file."""

    def __init__(self, bundle: Bundle, data: bytes, url: str) -> None:
        self._file = Path(bundle.path + ".shipped") if bundle.path not in ("", "-") else None
        self._key = hashlib.sha256(data + url.encode()).hexdigest()
        self.count = int(self._read().get(self._key, 0))

    def add(self) -> None:
        self.count += 1
        if self._file is not None:
            try:
                self._file.write_text(json.dumps({**self._read(), self._key: self.count}), encoding="utf-8")
            except OSError:
                self._file = None  # then a second run sends them again

    def _read(self) -> dict[str, int]:
        try:
            told = json.loads(self._file.read_text(encoding="utf-8")) if self._file else {}
        except (OSError, ValueError):
            return {}
        return told if isinstance(told, dict) else {}


def _headers(source: str) -> dict[str, str]:
    names = ("POSTMORTEM_INSTANCE_UUID", "INSTANCE_UUID", "VAST_CONTAINERLABEL", "HOSTNAME")
    uuid = next((os.environ[name] for name in names if os.environ.get(name)), "unknown")
    return {"Content-Type": "text/plain", "X-Instance-UUID": uuid, "X-Log-Source": source, **headers()}


def summary(name: str, data: bytes) -> bytes:
    """What a person wants to see at once: how whole the bundle is, what is missing, the last lines of its logs."""
    manifest, tails = _manifest_and_tails(data)
    probes = manifest.get("probes", [])
    gaps = [p for p in probes if p["state"] in ("hung", "timeout", "denied", "over-budget", "withheld")]
    lines = [f"postmortem bundle {name} of {manifest.get('host')} {manifest.get('incident') or ''}".rstrip()]
    lines.append(f"complete: {manifest.get('complete')} {manifest.get('reason', '')}".rstrip())
    lines += [f"gap: {p['name']}: {p['state']}: {p['reason']}" for p in gaps]
    for member, text in tails:
        lines += [f"==> {member} <==", *text.splitlines()[-20:]]
    body = "\n".join(lines).encode("utf-8", "replace")[: int(MOST * _STEP)]
    return body[: body.rfind(b"\n") + 1] or body + b"\n"


def _manifest_and_tails(data: bytes) -> tuple[dict[str, list[dict[str, str]]], list[tuple[str, str]]]:
    manifest, tails = {}, []
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r|gz") as tar:
            for info in tar:
                file = tar.extractfile(info)
                if file is None:
                    continue
                if info.name == "manifest.json":
                    manifest = json.loads(file.read())
                elif info.name.startswith(("logs/tail/", "hangs/", "proc/zombies")):
                    tails.append((info.name, file.read().decode("utf-8", "replace")))
    except (tarfile.TarError, EOFError, ValueError, OSError):
        pass  # encrypted, or torn: then the first line has to do
    return manifest, tails


def together(lines: Iterable[str]) -> dict[str, bytes]:
    """Bundles by name out of pushed lines, whatever stands around them. Raises ValueError naming missing parts."""
    parts: dict[str, dict[int, str]] = {}
    counts: dict[str, int] = {}
    for match in (_LINE.search(line) for line in lines):
        if match:
            parts.setdefault(match[1], {})[int(match[2])] = match[4]
            counts[match[1]] = int(match[3])
    found = {}
    for name, count in counts.items():
        missing = [n for n in range(1, count + 1) if n not in parts[name]]
        if missing:
            raise ValueError(f"{name}: parts {', '.join(map(str, missing))} of {count} are missing")
        try:
            found[name] = b"".join(base64.b64decode(parts[name][n], validate=True) for n in range(1, count + 1))
        except binascii.Error as error:
            raise ValueError(f"{name}: a part is damaged") from error
    return found
