"""Through docker and kubectl: stand-ins that run the agent in other namespaces give what a local run gives."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from collecting import SPOOL, gone, our_processes, read, run, start

from postmortem.collect import CollectOptions, agent_script, seal_file
from postmortem.collect.transport import transport_for
from postmortem.errors import UsageError

# Each runs the agent in a mount and PID namespace of its own and a chroot. Each prints a line first, as a client's warning may, and hurries away with its streams, as kubectl does.
STAND_IN = """#!/bin/sh
echo "$0 $*" >>"$CALLS"
while [ "$1" != sh ]; do shift; done
echo 'Defaulted container "worker" out of: worker, sidecar' >&2
mkdir -p "$ROOM/root"
exec unshare -m -p -f sh -c '
	mount --rbind / "$ROOM/root" && mount -t proc proc "$ROOM/root/proc" && exec chroot "$ROOM/root" "$@"
' stand-in "$@"
"""


@pytest.fixture
def clients(tmp_path: Path) -> dict[str, str]:
    if os.geteuid() or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare")
    for name in ("docker", "kubectl"):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(STAND_IN)
        path.chmod(0o755)
    return {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "CALLS": str(tmp_path / "calls"),
        "ROOM": str(tmp_path / "room"),
    }


def shape(path: Path) -> list[str]:
    """Names of members in order, without what differs from run to run."""
    skip = ("notes/", "transport/", "logs/", "scripts/", "proc/zombies", "proc/dstate")
    skip += ("clock/sync", "sample2/proc/dstate")  # a container may have nothing that can tell
    return [name for name in read(path).members if not name.startswith(skip)]


@pytest.mark.root
def test_all_transports_give_the_same_members_in_the_same_order(clients: dict[str, str], tmp_path: Path) -> None:
    before = our_processes()
    log = tmp_path / "daemon.log"
    log.write_text("the daemon says\n")
    told = {"deadline": 15.0, "logs": ((str(log), ""),)}
    ways = {"local": {}, "docker": {"docker": "worker-1"}, "kubectl": {"kubectl": "prod/worker-0:main"}}
    for name, way in ways.items():
        assert run(CollectOptions(str(tmp_path / f"{name}.tar.gz"), **told, **way), **clients)[0] == 0  # type: ignore[arg-type]
    bare = agent_script(CollectOptions(None, **told))  # type: ignore[arg-type]
    raw = subprocess.run(
        ["sh", "-s"], input=bare.encode(), capture_output=True, check=True, env={**os.environ, **clients}
    )
    (tmp_path / "raw").write_bytes(raw.stdout)
    seal_file(str(tmp_path / "raw"), str(tmp_path / "bare.tar.gz"))
    shapes = {name: shape(tmp_path / f"{name}.tar.gz") for name in (*ways, "bare")}
    assert shapes["docker"] == shapes["kubectl"] == shapes["bare"] == shapes["local"]
    processes = {name: read(tmp_path / f"{name}.tar.gz").text("proc/sweep/stat").count("==>") for name in ways}
    assert processes["docker"] < processes["local"], "it was no other PID namespace"
    for name in ways:
        bundle = read(tmp_path / f"{name}.tar.gz")
        assert bundle.manifest["complete"] is True
        assert bundle.text(f"logs/tail{log}") == "the daemon says\n"
    assert b"Defaulted container" in read(tmp_path / "kubectl.tar.gz").members["transport/stderr"]
    calls = (tmp_path / "calls").read_text().splitlines()
    assert "docker exec -i worker-1 sh -c" in calls[0]
    assert "kubectl exec -i -n prod worker-0 -c main -- sh -c" in calls[1]
    assert gone(before)


@pytest.mark.root
@pytest.mark.parametrize("way", [{"docker": "worker-1"}, {"kubectl": "prod/worker-0"}], ids=["docker", "kubectl"])
def test_the_agent_ends_soon_when_the_driver_is_killed(
    way: dict[str, str], clients: dict[str, str], tmp_path: Path
) -> None:
    """It writes nothing while a probe hangs, so no broken pipe would tell it; and its own parent still lives."""
    stuck = tmp_path / "bin" / "nvidia-smi"
    stuck.write_text("#!/bin/sh\nexec sleep 30.7071\n")
    stuck.chmod(0o755)
    before, spools = our_processes(), spools_now()
    options = CollectOptions(str(tmp_path / "b.tar.gz"), deadline=60, **way)  # type: ignore[arg-type]
    with start(options, **clients) as driver:
        until = time.monotonic() + 10
        while not hanging() and time.monotonic() < until:
            time.sleep(0.05)
        assert our_processes() - before
        os.kill(driver.pid, signal.SIGKILL)
    assert gone(before, 2.5)
    assert not hanging()
    assert spools_now() == spools


def hanging() -> bool:
    return any(b"sleep\00030.7071\000" in command_line(folder) for folder in Path("/proc").glob("[0-9]*"))


def command_line(folder: Path) -> bytes:
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:
        return b""


def spools_now() -> set[Path]:
    return set(Path(SPOOL).iterdir())


@pytest.mark.root
def test_a_client_that_fails_is_told(clients: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin/docker").write_text("#!/bin/sh\necho 'Error: No such container: gone' >&2\nexit 1\n")
    out = tmp_path / "b.tar.gz"
    assert run(CollectOptions(str(out), docker="gone", deadline=5), **clients)[0] == 0
    assert "No such container" in read(out).manifest["reason"]


@pytest.mark.parametrize(
    "target",
    [
        {"docker": "-it"},
        {"docker": "a b"},
        {"kubectl": "ns/"},
        {"kubectl": "--all"},
        {"docker": "a", "ssh": "b"},
        {"ssh": "-oProxyCommand=x"},
    ],
    ids=lambda target: " ".join(f"{k}={v}" for k, v in target.items()),
)
def test_what_is_no_target(target: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        transport_for(CollectOptions(**target))  # type: ignore[arg-type]


def test_ssh_takes_ports_jump_hosts_and_keys() -> None:
    options = CollectOptions(ssh="root@gpu-7:40022", ssh_options=("ProxyJump=bastion", "IdentityFile=/k"))
    argv = transport_for(options).argv
    assert argv[0] == "ssh"
    assert argv.index("ProxyJump=bastion") < argv.index("BatchMode=yes")
    assert argv[argv.index("-p") : argv.index("-p") + 2] == ("-p", "40022")
