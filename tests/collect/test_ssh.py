"""Over the system's ssh to a real sshd on loopback: a banner, a login that talks, a machine that is not there."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from collecting import gone, our_processes, read, run, start

from clocked import Stopwatch
from postmortem.collect import CollectOptions, Extra

pytestmark = pytest.mark.root


@dataclass(frozen=True)
class Server:
    port: int
    options: tuple[str, ...]
    state: str


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    sshd = shutil.which("sshd") or "/usr/sbin/sshd"
    if os.geteuid() or not os.access(sshd, os.X_OK) or shutil.which("ssh") is None:
        pytest.skip("needs root, ssh and sshd")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    (tmp_path / "authorized").write_bytes((tmp_path / "user.pub").read_bytes())
    (tmp_path / "banner").write_text("this machine belongs to somebody\n")
    login = tmp_path / "login"  # a login that talks on standard output first
    login.write_text('#!/bin/sh\necho "Welcome to vast.ai"\necho "Have fun!"\nexec sh -c "$SSH_ORIGINAL_COMMAND"\n')
    login.chmod(0o755)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = tmp_path / "config"
    config.write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/authorized\n"
        f"StrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\n"
        f"Banner {tmp_path}/banner\nForceCommand {login}\n"
    )
    os.makedirs("/run/sshd", exist_ok=True)
    process = subprocess.Popen([sshd, "-D", "-e", "-f", config], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 5
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield Server(port, (f"IdentityFile={tmp_path}/user", "IdentitiesOnly=yes"), str(tmp_path / "state"))
    process.terminate()
    process.wait(5)


def options(server: Server, out: Path, **more: object) -> CollectOptions:
    target = f"root@127.0.0.1:{server.port}"
    return CollectOptions(str(out), ssh=target, ssh_options=server.options, **{"deadline": 15, **more})  # type: ignore[arg-type]


def test_a_machine_over_ssh(server: Server, tmp_path: Path) -> None:
    before, out, log = our_processes(), tmp_path / "b.tar.gz", tmp_path / "daemon.log"
    log.write_text("the daemon says\n")
    code, _ = run(options(server, out, logs=((str(log), ""),)), XDG_STATE_HOME=server.state)
    bundle = read(out)
    assert code == 0
    assert bundle.manifest["complete"] is True
    assert bundle.manifest["transport"] == f"ssh root@127.0.0.1:{server.port}"
    assert bundle.text("transport/banner") == "Welcome to vast.ai\nHave fun!\n"
    assert bundle.text(f"logs/tail{log}") == "the daemon says\n"
    assert Path(server.state, "postmortem/known_hosts").stat().st_size > 0
    assert gone(before)


def test_a_signal_seals_what_came_over_ssh(server: Server, tmp_path: Path) -> None:
    before, out = our_processes(), tmp_path / "b.tar.gz"
    process = start(
        options(server, out, extras=(Extra("slow", run="sleep 12", seconds=12),)), XDG_STATE_HOME=server.state
    )
    time.sleep(2.5)
    process.send_signal(signal.SIGTERM)
    watch = Stopwatch()
    assert process.wait(5) == 0
    assert watch.seconds() < 1.0
    assert process.stderr
    process.stderr.close()
    assert read(out).manifest["reason"] == "SIGTERM"
    assert "host/meminfo" in read(out).members
    assert gone(before), "the agent stays on the other machine"


def test_a_driver_that_is_killed_leaves_what_it_had(server: Server, tmp_path: Path) -> None:
    extras = (Extra("slow", run="sleep 12", seconds=12),)
    process = start(options(server, tmp_path / "b.tar.gz", extras=extras), XDG_STATE_HOME=server.state)
    time.sleep(2)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(5)
    assert process.stderr
    process.stderr.close()
    assert "host/meminfo" in read(tmp_path / "b.tar.gz.partial").members


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("root@127.0.0.1:1", "Connection refused"),
        ("nobody.invalid", "resolve"),
        ("root@127.0.0.1:{port}", "Permission denied"),
    ],
    ids=["closed", "no-name", "no-key"],
)
def test_a_machine_that_cannot_be_reached_is_a_bundle_that_says_why(
    target: str, words: str, server: Server, tmp_path: Path
) -> None:
    out = tmp_path / "b.tar.gz"
    asked = CollectOptions(
        str(out),
        ssh=target.format(port=server.port),
        ssh_options=("IdentityFile=/nowhere", "IdentitiesOnly=yes"),
        deadline=6,
    )
    code, seconds = run(asked, XDG_STATE_HOME=server.state)
    bundle = read(out)
    assert code == 0
    assert seconds <= 6.5
    assert words in bundle.text("transport/error")
    assert "exit_status: 255\n" in bundle.text("transport/error")
    assert bundle.manifest["complete"] is False
    assert words in bundle.manifest["reason"]
    assert bundle.probe("kernel.log")["state"] == "over-budget"


def test_a_machine_that_accepts_and_says_nothing(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        out = tmp_path / "b.tar.gz"
        asked = CollectOptions(str(out), ssh=f"root@127.0.0.1:{silent.getsockname()[1]}", deadline=3)
        code, seconds = run(asked, XDG_STATE_HOME=str(tmp_path))
    assert (code, seconds <= 3.5) == (0, True)
    assert "transport/error" in read(out).members
