"""Kills, cut pipes, odd files, moving logs, two at once, other shells, a clock that is set: rows of the same table."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from bench import LATE, Outcome
from collecting import Bundle, command, read, read_tar, start
from sentinels import PEM, leaks, lines

from clocked import Stopwatch
from postmortem.collect import CollectOptions, Extra, agent_script, seal_file
from postmortem.collect.transport import READY

SLOW = (Extra("slow", run="sleep 15", seconds=15),)


def planted(folder: Path) -> tuple[tuple[str, str], ...]:
    log = folder / "secrets.log"
    log.write_text(lines() + "the-last-line\n")
    return ((str(log), ""),)


def judged(name: str, seconds: float, deadline: float, bundle: Bundle, wrong: list[str], note: str = "") -> None:
    found = leaks(b"".join(member.encode() + b"\0" + data for member, data in bundle.members.items()))
    late = [f"{seconds:.2f} s of {deadline:g}"] if seconds > deadline + LATE else []
    outcome = Outcome(name, seconds, deadline, len(bundle.members), tuple(found), (*wrong, *late, *(f"leak: {kind}" for kind in found)), note)
    outcome.record()
    assert not outcome.wrong


def all_gone(spool: Path, seconds: float) -> bool:
    """Whether the agent's children, which have the spool's name in their command lines, end within so many seconds."""
    until = time.monotonic() + seconds
    while any(str(spool).encode() in command_line(path) for path in Path("/proc").glob("[0-9]*/cmdline")):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def command_line(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


AFTER_THE_TAILS = ("gpu/", "job/", "disk/", "net/", "logs/full/", "sample2/")


def ordinary(folder: Path) -> float:
    """Seconds of a collection that nobody disturbs."""
    watch = Stopwatch()
    process = start(CollectOptions(str(folder / "first.tar.gz"), deadline=20))
    process.wait(30)
    process.stderr.close()  # type: ignore[union-attr]
    return watch.seconds()


def kills(times: int, folder: Path) -> None:
    logs, spool = planted(folder), folder / "spool"
    spool.mkdir()
    wrong, most, rest = [], Bundle({}), 0
    sure = max(1.8, 3 * ordinary(folder))  # a busy machine is slower
    for _ in range(times):
        moment = random.uniform(0.05, 2.5)
        out = folder / "b.tar.gz"
        process = start(CollectOptions(str(out), deadline=20, logs=logs, extras=SLOW), POSTMORTEM_SPOOL=str(spool))
        time.sleep(moment)
        process.kill()
        process.wait()
        process.stderr.close()  # type: ignore[union-attr]
        if not all_gone(spool, 4.0):
            wrong.append(f"children stay after a kill at {moment:.2f} s")
        for path in folder.glob("b.tar.gz*"):
            bundle, rest = read(path), rest + 1
            most = max(most, bundle, key=lambda one: len(one.members))
            later = moment > sure or any(name.startswith(AFTER_THE_TAILS) for name in bundle.members)
            if later and "the-last-line" not in bundle.members.get(f"logs/tail{logs[0][0]}", b"").decode():
                wrong.append(f"no tail of the log at {moment:.2f} s")
            if found := leaks(b"".join(bundle.members.values())):
                wrong.append(f"leak: {found}")
            path.unlink()
    judged(f"SIGKILL at {times} random times", 0.0, 20, most, wrong, f"{times} kills, {rest} left a file, each readable up to the kill")


def test_a_few_kills(room: Path) -> None:
    kills(5, room)


@pytest.mark.slow
def test_two_hundred_kills(room: Path) -> None:
    kills(200, room)


def test_term_half_way(room: Path) -> None:
    out = room / "b.tar.gz"
    process = start(CollectOptions(str(out), deadline=20, logs=planted(room), extras=SLOW))
    time.sleep(1.2)
    process.terminate()
    watch = Stopwatch()
    code = process.wait(5)
    seconds = watch.seconds()
    process.stderr.close()  # type: ignore[union-attr]
    bundle = read(out)
    wrong = [] if code == 0 and "END" in bundle.members and bundle.manifest["reason"] == "SIGTERM" else [f"exit {code}"]
    judged("SIGTERM half way", seconds, 1.0, bundle, wrong, "SIGTERM; closed at once")


@pytest.mark.parametrize("after", [3_000, 40_000])
def test_a_pipe_that_is_cut(after: int, room: Path) -> None:
    """Of standard output and a file at once, the file loses nothing."""
    out = room / "b.tar.gz"
    watch = Stopwatch()
    process = subprocess.Popen(command(CollectOptions("-", copies=(str(out),), deadline=12, logs=planted(room))), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout
    head = process.stdout.read(after)
    process.stdout.close()
    code = process.wait(20)
    (room / "head").write_bytes(head)
    wrong = [] if code == 0 and read(out).manifest["complete"] else [f"exit {code}"]
    wrong += [] if "START" in read(room / "head").members or after < 10_000 else ["the cut stream cannot be read"]
    judged(f"standard output cut after {after} bytes, and a file", watch.seconds(), 12, read(out), wrong, "the file is complete")


CUT_CLIENT = """#!{python}
import os, subprocess, sys
agent = subprocess.Popen(sys.argv[sys.argv.index("sh"):], stdout=subprocess.PIPE)
left = {after}
while left > 0 and (data := os.read(agent.stdout.fileno(), min(left, 65536))):
    left -= os.write(1, data)
"""


@pytest.mark.parametrize(("after", "least"), [(1, 0), (700, 0), (1_100, 1), (9_000, 3), (120_000, 10), (250_000, 15)])
def test_a_network_that_is_cut(after: int, least: int, room: Path) -> None:
    """What came before the cut is whole, and the bundle says that it is partial; the agent there ends."""
    client, out, spool = room / "bin" / "docker", room / "b.tar.gz", room / "spool"
    client.parent.mkdir()
    spool.mkdir()
    client.write_text(CUT_CLIENT.format(python=sys.executable, after=after + len(READY)))
    client.chmod(0o755)
    logs, watch = planted(room), Stopwatch()
    path = f"{client.parent}:{os.environ['PATH']}"
    process = start(CollectOptions(str(out), deadline=12, logs=logs, docker="worker"), PATH=path, POSTMORTEM_SPOOL=str(spool))
    code = process.wait(20)
    process.stderr.close()  # type: ignore[union-attr]
    seconds, bundle = watch.seconds(), read(out)
    wrong = [] if code == 0 and "END" in bundle.members and not bundle.manifest["complete"] else [f"exit {code}"]
    came = [name for name in bundle.members if not name.startswith(("transport/", "manifest.json", "END"))]
    wrong += [] if len(came) >= least else [f"only {came}"]
    wrong += [] if {p["state"] for p in bundle.manifest["probes"]} >= {"over-budget"} or not least else ["nothing is told as missing"]
    wrong += [] if seconds < 8 else ["the cut was not seen"]
    wrong += [] if all_gone(spool, 3.0) else ["the agent stays"]
    judged(f"the network cut after {after} bytes", seconds, 12, bundle, wrong, bundle.manifest["reason"][:60])


def odd_files(folder: Path) -> dict[str, tuple[Path, str]]:
    """Name of the fault -> the path, and the states that it may end in."""
    made = {name: folder / f"{n}.log" for n, name in enumerate(("a FIFO", "a socket", "a device", "a link loop", "a dangling link", "a link to a folder", "a link that escapes to a key", "a sparse file of 50 GB", "a line of 10 MB", "NUL bytes", "a torn private key"))}
    os.mkfifo(made["a FIFO"])
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(made["a socket"]))
    os.mknod(made["a device"], 0o666 | 0o020000, os.makedev(1, 5))
    made["a link loop"].symlink_to(made["a link loop"])
    made["a dangling link"].symlink_to("/no/such/file")
    made["a link to a folder"].symlink_to("/proc")
    key = folder / "home" / ".ssh" / "id_of_the_prover"
    key.parent.mkdir(parents=True)
    key.write_text(lines() + "\n".join(PEM) + "\n")
    made["a link that escapes to a key"].symlink_to("home/.ssh/id_of_the_prover")
    with made["a sparse file of 50 GB"].open("wb") as file:
        file.truncate(50 << 30)
    made["a line of 10 MB"].write_bytes(lines().splitlines()[0].encode() + b" x" * (5 << 20) + b"\nend\n")
    made["NUL bytes"].write_bytes(b"a\0b\n\0\0\0\n" + lines().encode())
    body = "\n".join(PEM) + "\n"
    made["a torn private key"].write_text(body[len(body) // 2 :] + "x\n" * 40_000 + body[: len(body) // 2])
    states = {"a FIFO": "refused", "a socket": "refused", "a device": "refused", "a link loop": "missing refused", "a dangling link": "missing", "a link to a folder": "refused", "a link that escapes to a key": "refused"}
    return {name: (path, states.get(name, "whole cut withheld")) for name, path in made.items()}


@pytest.mark.root
def test_odd_files(room: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root to make a device")
    odd = odd_files(room)
    newline, latin = room / "new\nline.log", os.fsencode(room) + b"/caf\xe9.log"
    newline.write_text(lines())
    Path(os.fsdecode(latin)).write_text(lines())
    secret = lines().split()[3]
    (room / f"name-{secret}.log").write_text("the secret is in the name\n")
    logs = tuple((str(path), "") for path, _ in odd.values())
    out, watch = room / "b.tar.gz", Stopwatch()
    process = start(CollectOptions(str(out), deadline=12, logs=(*logs, (f"{room}/*.log", ""))))
    process.wait(30)
    process.stderr.close()  # type: ignore[union-attr]
    seconds, bundle = watch.seconds(), read(out)
    for name, (path, states) in odd.items():
        told = {p["state"] for p in bundle.manifest["probes"] if p["name"] in (f"logs.tail:{path}", f"logs.full:{path}")}
        wrong = [] if told and told <= set(states.split()) else [f"{sorted(told)}, not {states}"]
        judged(name, seconds, 12, bundle, wrong, ", ".join(sorted(told)))
    names = " ".join(bundle.members)
    judged("a name that is not UTF-8", seconds, 12, bundle, [] if "caf_" in names else ["not taken"], "taken under a plain name")
    told = [p["state"] for p in bundle.manifest["probes"] if p["name"] in (f"logs.tail:{room}/new", f"logs.tail:{room}/line.log")]
    judged("a newline in a name", seconds, 12, bundle, [] if told == ["missing"] else [f"{told}"], "told as missing, harms nothing")
    judged("a secret in a name", seconds, 12, bundle, [] if "name-[hidden" in names or "name-_hidden" in names else ["not taken"], "the name is redacted")


@pytest.mark.parametrize("how", ["grows", "shrinks", "rotates", "is deleted"])
def test_a_log_that_moves(how: str, room: Path) -> None:
    log, stop = room / "moving.log", threading.Event()
    log.write_text("".join(f"{n} line\n" for n in range(400_000)))

    def move() -> None:
        while not stop.is_set():
            if how == "grows":
                with log.open("a") as file:
                    file.write("more and more\n" * 100)
            elif how == "shrinks":
                log.write_text("short\n" * random.randint(1, 400_000))
            elif how == "rotates":
                log.replace(log.with_suffix(".1")) if log.exists() else log.write_text("a new one\n" * 50_000)
            elif log.exists():
                log.unlink()
            else:
                log.write_text("again\n" * 50_000)
            time.sleep(0.005)

    writer = threading.Thread(target=move)
    writer.start()
    out, watch = room / "b.tar.gz", Stopwatch()
    try:
        process = start(CollectOptions(str(out), deadline=12, logs=((str(log), ""), *planted(room))))
        process.wait(30)
        process.stderr.close()  # type: ignore[union-attr]
    finally:
        stop.set()
        writer.join()
    bundle = read(out)
    wrong = [] if "END" in bundle.members and f"logs/tail{room}/secrets.log" in bundle.members else ["not whole"]
    judged(f"a log that {how} while it is read", watch.seconds(), 12, bundle, wrong, "every member has its announced size")


def test_two_at_once(room: Path) -> None:
    out, watch = room / "b.tar.gz", Stopwatch()
    both = [start(CollectOptions(str(out), deadline=15, logs=planted(room))) for _ in range(2)]
    codes = [process.wait(30) for process in both]
    for process in both:
        process.stderr.close()  # type: ignore[union-attr]
    found = sorted(room.glob("*.tar.gz"))
    wrong = [] if codes == [0, 0] and len(found) == 2 else [f"{codes}, {len(found)} files"]
    wrong += ["one is not complete" for path in found if not read(path).manifest["complete"]]
    judged("two collectors at once with one name", watch.seconds(), 15, read(found[0]), wrong, "both complete, the second as b-2.tar.gz")


def busybox_root(folder: Path) -> Path:
    """An image root with nothing but busybox."""
    root = folder / "root"
    for name in ("bin", "proc", "dev", "tmp", "var/log"):
        (root / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox") or "busybox", root / "bin/busybox")
    (root / "bin/sh").symlink_to("busybox")
    listed = subprocess.run(["ldd", root / "bin/busybox"], capture_output=True, text=True, check=False).stdout
    for word in listed.split():  # where it is not a static one
        if word.startswith("/"):
            (root / word[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(word, root / word[1:])
    return root


def in_root(root: Path, script: str, before: str = "") -> tuple[bytes, float]:
    words = 'mount --bind /dev "$1/dev"; mount -t proc proc "$1/proc"; ' + before + ' exec chroot "$1" /bin/sh -s'
    watch = Stopwatch()
    done = subprocess.run(["unshare", "-m", "-p", "-f", "sh", "-c", words, "sh", root], input=script.encode(), capture_output=True, timeout=60, check=False)
    return done.stdout, watch.seconds()


def sealed(raw: bytes, folder: Path) -> Bundle:
    (folder / "raw").write_bytes(raw)
    seal_file(str(folder / "raw"), str(folder / "sealed.tar.gz"))
    return read(folder / "sealed.tar.gz")


@pytest.mark.root
@pytest.mark.parametrize("shell", ["dash", "bash", "busybox ash", "nothing but busybox"])
def test_shells(shell: str, room: Path) -> None:
    if shutil.which(shell.split()[0] if shell[0] != "n" else "busybox") is None or os.geteuid():
        pytest.skip(f"no {shell} on this machine, or no root")
    logs = planted(room)
    if shell == "nothing but busybox":
        root = busybox_root(room)
        (root / "var/log/secrets.log").write_text(lines() + "the-last-line\n")
        raw, seconds = in_root(root, agent_script(CollectOptions(deadline=10, logs=(("/var/log/secrets.log", ""),))))
        name = "logs/tail/var/log/secrets.log"
    else:
        watch = Stopwatch()
        script = agent_script(CollectOptions(deadline=10, logs=logs))
        raw = subprocess.run([*shell.split(), "-s"], input=script.encode(), capture_output=True, timeout=60, check=False).stdout
        seconds, name = watch.seconds(), f"logs/tail{logs[0][0]}"
    bundle = sealed(raw, room)
    wrong = [] if b"the-last-line" in bundle.members.get(name, b"") else ["the log is not there"]
    wrong += [f"only {len(bundle.members)} members"] if len(bundle.members) < 40 else []
    wrong += [] if bundle.manifest["complete"] else [f"partial: {bundle.manifest['reason']}"]
    judged(f"the agent in {shell}", seconds, 10, bundle, wrong, "complete" if not wrong else "")


DATE = """#!/bin/sh
n=$(cat /tmp/n 2>/dev/null || echo 0); n=$((n + 1)); echo $n >/tmp/n
now=$(/bin/busybox date +%s)
[ $n -lt 10 ] || now=$((now - 3600))
case $1 in -u) echo "$now 2023-11-14T22:13:20Z" ;; *) echo $now ;; esac
"""


@pytest.mark.root
def test_a_clock_that_is_set_back(room: Path) -> None:
    """Where the real clock cannot be set: a date(1) that jumps an hour back, and no /proc that would know better."""
    if os.geteuid() or shutil.which("busybox") is None:
        pytest.skip("needs root and busybox")
    root = busybox_root(room)
    for applet in subprocess.run(["busybox", "--list"], capture_output=True, text=True, check=True).stdout.split():
        if applet not in ("busybox", "sh", "date"):
            (root / "bin" / applet).symlink_to("busybox")
    (root / "bin/date").write_text(DATE)
    (root / "bin/date").chmod(0o755)
    (root / "var/log/secrets.log").write_text(lines() + "the-last-line\n")
    script = agent_script(CollectOptions(deadline=6, logs=(("/var/log/secrets.log", ""),)))
    raw, seconds = in_root(root, script, 'umount "$1/proc";')
    bundle = sealed(raw, room)
    wrong = [] if b"the-last-line" in bundle.members.get("logs/tail/var/log/secrets.log", b"") else ["the log is not there"]
    wrong += [] if "END" in read_tar(raw).members else ["no END"]
    judged("a clock that is set back by an hour", seconds, 6, bundle, wrong, "no time is lost by the step")


def test_secrets_in_every_source(room: Path) -> None:
    """Log, its border of two parts, script, argv, environment, file name, a probe's and an attached command's output."""
    pem = "\n".join(PEM) + "\n"
    filler = "0123456789 nothing to see here\n"
    big = room / "big.log"
    at = (2 << 20) - len(pem) // 2
    big.write_text((filler * (at // len(filler) + 1))[:at] + "\n" + pem + filler * 100_000 + lines())
    script = room / "run.sh"
    script.write_text("#!/bin/sh\n" + "".join(f"# {line}\n" for line in lines().splitlines()))
    argv = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", *lines().splitlines()], env={**os.environ, **{f"X_{n}_TOKEN": line for n, line in enumerate(lines().splitlines())}})
    from postmortem.collect.options import Attach

    out, watch = room / "b.tar.gz", Stopwatch()
    options = CollectOptions(
        str(out), deadline=20, logs=((str(big), ""), *planted(room)), scripts=(str(script),),
        extras=(Extra("cat", run=f"cat {room}/secrets.log"),), attach=(Attach("market", f"cat {room}/secrets.log"),),
        argv=("collect", *lines().splitlines()),
    )  # fmt: skip
    try:
        process = start(options, POSTMORTEM_SECRET_LINE=lines())
        process.wait(40)
        process.stderr.close()  # type: ignore[union-attr]
    finally:
        argv.kill()
        argv.wait()
    bundle = read(out)
    wanted = ("attach/market", "extra/cat", f"scripts{script}", f"logs/tail{big}", f"logs/full{big}.part1", f"logs/full{big}.part2")
    wrong = [f"{name} is missing" for name in wanted if name not in bundle.members]
    judged("secrets in logs, scripts, argv, environment and probes", watch.seconds(), 20, bundle, wrong, "none is left")


