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
_SAY_AND_SERVE = "echo postmortem-ready; exec sh -s"
_REMOTE = f"exec sh -c '{_SAY_AND_SERVE}'"

_TARGET = re.compile(r"(?P<host>(?:[^@\s]+@)?(?:\[[0-9A-Za-z:.%]+\]|[^\s:@-][^\s:@]*))(?::(?P<port>\d{1,5}))?")
_POD = re.compile(r"(?:(?P<namespace>[a-z0-9-]+)/)?(?P<pod>[a-z0-9][a-z0-9.-]*)(?::(?P<container>[a-z0-9-]+))?")
_CONTAINER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Transport:
    """A command that reads a script on standard input and gives its output; `waits` when it says READY first."""

    name: str
    argv: tuple[str, ...]
    waits: bool = False
    is_local: bool = False


def transport_for(options: CollectOptions) -> Transport:
    """The transport that the options ask for. Raises UsageError for a target that cannot be one, or for two."""
    ways = ((ssh, options.ssh), (docker, options.docker), (kubectl, options.kubectl))
    asked = [make for make, target in ways if target]
    if len(asked) > 1:
        raise UsageError("give one of --ssh, --docker and --kubectl")
    return asked[0](options) if asked else local()


def host_of(options: CollectOptions) -> str:
    """What the bundle calls the other machine, or "" for this one."""
    if options.ssh:
        return options.ssh.rpartition("@")[2].partition(":")[0]
    return options.docker or (options.kubectl or "").replace("/", "-").replace(":", "-")


def local() -> Transport:
    return Transport("local", (shutil.which("sh") or "/bin/sh", "-s"), is_local=True)


def docker(options: CollectOptions) -> Transport:
    """`docker exec`, by the client that is installed."""
    container = options.docker or ""
    if _CONTAINER.fullmatch(container) is None:
        raise UsageError(f"{container!r} is no container's name or id")
    argv = ("docker", "exec", "-i", container, "sh", "-c", _SAY_AND_SERVE)
    return Transport(f"docker {container}", argv, waits=True)


def kubectl(options: CollectOptions) -> Transport:
    """`kubectl exec`, by the client that is installed."""
    match = _POD.fullmatch(options.kubectl or "")
    if match is None:
        raise UsageError(f"{options.kubectl!r} is no [NAMESPACE/]POD[:CONTAINER]")
    namespace = ("-n", match["namespace"]) if match["namespace"] else ()
    container = ("-c", match["container"]) if match["container"] else ()
    words = (*options.kubectl_options, "exec", "-i", *namespace, match["pod"], *container)
    return Transport(f"kubectl {options.kubectl}", ("kubectl", *words, "--", "sh", "-c", _SAY_AND_SERVE), waits=True)


def ssh(options: CollectOptions) -> Transport:
    """The system's ssh, which never asks and trusts a new host once."""
    match = _TARGET.fullmatch(options.ssh or "")
    if match is None or match["host"].startswith("-"):
        raise UsageError(f"{options.ssh!r} is not a machine such as root@host:22")
    timeout = max(1, min(10, int(options.deadline / 2)))
    # ssh takes the first value it meets: the user's come first.
    words = [word for option in (*options.ssh_options, *ssh_defaults(timeout)) for word in ("-o", option)]
    port = ("-p", match["port"]) if match["port"] else ()
    host = match["host"].replace("[", "").replace("]", "")
    return Transport(f"ssh {options.ssh}", ("ssh", "-T", *words, *port, "--", host, _REMOTE), waits=True)


def ssh_defaults(timeout: int) -> tuple[str, ...]:
    """Options of an ssh that nobody watches; `timeout` in seconds."""
    return (
        "BatchMode=yes",
        f"ConnectTimeout={timeout}",
        "StrictHostKeyChecking=accept-new",
        f"UserKnownHostsFile={_known_hosts()}",
        "ServerAliveInterval=5",
        "LogLevel=ERROR",
    )


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
