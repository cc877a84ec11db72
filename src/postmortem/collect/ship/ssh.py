"""ssh://[USER@]HOST[:PORT]/PATH by the system's ssh; what the other side has already of it is not sent again."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import time
from urllib.parse import urlsplit

from postmortem.collect.ship.targets import Bundle
from postmortem.collect.transport import ssh_defaults

_HAVE = 'mkdir -p "$(dirname {part})" && wc -c <{part} 2>/dev/null || echo 0'
_SEND = (
    'cat >>{part} && sum=$(sha256sum <{part}) && [ "${{sum%% *}}" = {sha} ] && mv {part} {path} && echo kept'
    " || rm -f {part}"
)


def send(bundle: Bundle, target: str, seconds: float) -> str:
    """Appends to a partial file from where it ends; named when its hash is right. Raises OSError, or Refused."""
    from postmortem.collect.ship import Refused

    parts, until = urlsplit(target), time.monotonic() + seconds
    path = parts.path + bundle.name if parts.path.endswith("/") else parts.path
    path = path.removeprefix("/~/") or bundle.name
    if (parts.hostname or "-").startswith("-"):
        raise Refused("no host")
    data = bundle.bytes()
    sha = hashlib.sha256(data).hexdigest()
    words = {"part": shlex.quote(f"{path}.{sha[:8]}.partial"), "path": shlex.quote(path), "sha": sha}
    there = _run(target, _HAVE.format(**words), b"", until).split()
    have = int(there[-1]) if there and there[-1].isdigit() else 0
    answer = _run(target, _SEND.format(**words), data[have:], until)
    if not answer.rstrip().endswith("kept"):
        raise OSError("the other side's copy has another hash")
    return f"{len(data)} bytes as {path}" + (f", {have} of them from before" if have else "")


def _run(target: str, script: str, data: bytes, until: float) -> str:
    parts = urlsplit(target)
    left = max(until - time.monotonic(), 0.1)
    own = os.environ.get("POSTMORTEM_SHIP_SSH_OPTIONS", "").split()
    words = [word for option in (*own, *ssh_defaults(max(1, int(left)))) for word in ("-o", option)]
    port = ["-p", str(parts.port)] if parts.port else []
    host = f"{parts.username}@{parts.hostname}" if parts.username else str(parts.hostname)
    argv = ["ssh", "-T", *words, *port, "--", host, f"sh -c {shlex.quote(script)}"]
    try:
        done = subprocess.run(argv, input=data, capture_output=True, timeout=left, check=False)
    except subprocess.TimeoutExpired as error:
        raise OSError("no answer in time") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise OSError(said[-1][:200] if said else f"ssh ended with status {done.returncode}")
    return done.stdout.decode("utf-8", "replace")
