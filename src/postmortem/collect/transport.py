"""How the agent gets to a machine and its stream comes back: anything that runs sh and has a standard output."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from postmortem.collect.options import CollectOptions
from postmortem.errors import UsageError

READY = b"postmortem-ready\n"
# The remote shell says when it is there, so that the time a connection took comes off the agent's own deadline.
_REMOTE = "exec sh -c 'echo postmortem-ready; exec sh -s'"

_TARGET = re.compile(r"(?P<host>(?:[^@\s]+@)?(?:\[[0-9A-Za-z:.%]+\]|[^\s:@-][^\s:@]*))(?::(?P<port>\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class Transport:
    """A command that reads a script on standard input and gives its output; `waits` when it says READY first."""

    name: str
    argv: tuple[str, ...]
    waits: bool = False
    is_local: bool = False


def transport_for(options: CollectOptions) -> Transport:
    """The transport that the options ask for. Raises UsageError for a target that cannot be one."""
    return ssh(options) if options.ssh else local()


def local() -> Transport:
    return Transport("local", (shutil.which("sh") or "/bin/sh", "-s"), is_local=True)


def ssh(options: CollectOptions) -> Transport:
    """The system's ssh, which never asks and trusts a new host once."""
    match = _TARGET.fullmatch(options.ssh or "")
    if match is None or match["host"].startswith("-"):
        raise UsageError(f"{options.ssh!r} is not a machine such as root@host:22")
    timeout = max(1, min(10, int(options.deadline / 2)))
    fixed = (
        "BatchMode=yes",
        f"ConnectTimeout={timeout}",
        "StrictHostKeyChecking=accept-new",
        f"UserKnownHostsFile={_known_hosts()}",
        "ServerAliveInterval=5",
        "LogLevel=ERROR",
    )
    # ssh takes the first value it meets: the user's come first.
    words = [word for option in (*options.ssh_options, *fixed) for word in ("-o", option)]
    port = ("-p", match["port"]) if match["port"] else ()
    host = match["host"].replace("[", "").replace("]", "")
    return Transport(f"ssh {options.ssh}", ("ssh", "-T", *words, *port, "--", host, _REMOTE), waits=True)


def _known_hosts() -> str:
    """Our own file, so that the user's is neither trusted nor changed."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    folder = Path(home) / "postmortem"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if os.access(folder, os.W_OK):
            return str(folder / "known_hosts")
    except OSError:
        pass
    return os.path.join(tempfile.mkdtemp(prefix="postmortem-"), "known_hosts")
