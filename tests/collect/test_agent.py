"""The agent itself, really run by each shell: a plain tar, START first and END last, nothing left behind."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from collecting import Bundle, gone, our_processes, read_tar

from clocked import Stopwatch
from postmortem.collect import CollectOptions, Extra, agent_script
from postmortem.collect.plan import load_plan

SHELLS = [["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"]]
SOURCES = Path(__file__).parents[2] / "src/postmortem/collect/sh"


def capture(shell: list[str], options: CollectOptions, **env: str) -> bytes:
    """The agent's whole output; the script comes on standard input, as over ssh."""
    if shutil.which(shell[0]) is None:
        pytest.skip(f"no {shell[0]} on this machine")
    script = agent_script(options).encode()
    done = subprocess.run(
        [*shell, "-s"] if shell[0] != "busybox" else shell,
        input=script,
        capture_output=True,
        timeout=60,
        env={**os.environ, **env},
        check=False,
    )
    assert done.stderr == b""
    assert done.returncode == 0
    return done.stdout


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "daemon of ours.log"
    path.write_text("".join(f"line {n}\n" for n in range(40000)) + "the last line\n")
    return path


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_every_shell_streams_a_plain_tar(shell: list[str], log: Path, tmp_path: Path) -> None:
    before = our_processes()
    data = capture(shell, CollectOptions(logs=((str(log), "daemon"), ("/nowhere/*.log", "")), deadline=20))
    bundle = read_tar(data)
    names = list(bundle.members)
    assert (names[0], names[-1]) == ("START", "END")
    assert len(names) >= 30
    assert "redacted: no\n" in bundle.text("START")
    assert "complete: yes\n" in bundle.text("END")
    assert bundle.text("logs/tail/daemon").endswith("line 39999\nthe last line\n")
    assert bundle.text("logs/full/daemon.part1") == log.read_text()
    assert "\tmissing\t" in "".join(
        text
        for name in names
        if name.startswith("notes/")
        for text in bundle.text(name).splitlines()
        if "nowhere" in text
    )
    assert gone(before)
    assert system_tar_agrees(data, tmp_path, bundle)


def system_tar_agrees(data: bytes, folder: Path, bundle: Bundle) -> bool:
    (folder / "capture.tar").write_bytes(data)
    listed = subprocess.run(["tar", "tf", folder / "capture.tar"], capture_output=True, text=True, check=True)
    return listed.stdout.splitlines() == list(bundle.members) and listed.stderr == ""


def test_with_nothing_but_busybox(tmp_path: Path, log: Path) -> None:
    busybox = shutil.which("busybox")
    if busybox is None:
        pytest.skip("no busybox on this machine")
    subprocess.run([busybox, "--install", "-s", tmp_path], check=True)
    script = agent_script(CollectOptions(logs=((str(log), ""),), deadline=20))
    # Only busybox's own tools: the fixed folders of the script are replaced too.
    script = script.replace(
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH", f"PATH={tmp_path}"
    )
    assert f"PATH={tmp_path}" in script
    done = subprocess.run(
        [tmp_path / "sh"],
        input=script.encode(),
        capture_output=True,
        timeout=60,
        check=False,
        env={"PATH": str(tmp_path)},
    )
    bundle = read_tar(done.stdout)
    assert "complete: yes\n" in bundle.text("END")
    kernel = [
        name
        for name in bundle.members
        if name.startswith("kernel/") and name.split("/")[1] in ("kmsg", "dmesg", "reason")
    ]
    assert kernel
    assert any(name.endswith(".log") and name.startswith("logs/tail/") for name in bundle.members)
    assert b"/proc/1/stat" in bundle.members["proc/sweep/stat"]


@pytest.mark.parametrize("name", [*sorted(path.name for path in SOURCES.glob("*.sh")), "rendered"])
def test_shellcheck_has_nothing_to_say(name: str, tmp_path: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("no shellcheck on this machine")
    path = SOURCES / name
    if name == "rendered":
        path = tmp_path / "agent"
        path.write_text(
            agent_script(CollectOptions(logs=(("/var/log/it's here*.log", "it's"),), incident="a 'b' $(c)"))
        )
    done = subprocess.run(["shellcheck", "-s", "sh", path], capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_a_script_that_is_cut_runs_nothing() -> None:
    script = agent_script(CollectOptions()).encode()
    done = subprocess.run(["sh", "-s"], input=script[: len(script) - 40], capture_output=True, timeout=20, check=False)
    assert done.stdout == b""


@pytest.mark.parametrize(
    "text",
    ["plain", "it's", "$(touch {0})", "`touch {0}`", '"; touch {0}; "', "a\ntouch {0}\n", "\\'; touch {0}; '"],
    ids=["plain", "quote", "substitution", "backticks", "double", "line-end", "backslash"],
)
def test_what_the_user_says_is_never_run(text: str, tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    text = text.format(planted)
    options = CollectOptions(logs=((text, text),), scripts=(text,), incident=text, argv=(text,), deadline=20)
    bundle = read_tar(capture(["sh"], options))
    assert not planted.exists()
    assert "complete: yes\n" in bundle.text("END")
    assert f"incident: {text.replace(chr(10), ' ')}\n" in bundle.text("START")


def test_names_found_on_disk_are_never_run(tmp_path: Path) -> None:
    for name in [
        "a b.log",
        "$(touch planted).log",
        "`touch planted`.log",
        "-rf.log",
        "new\nline.log",
        "\x1b[31m.log",
        "ü.log",
        "a;b|c&d.log",
    ]:
        (tmp_path / name).write_text(f"in {name!r}\n")
    data = capture(["sh"], CollectOptions(logs=((f"{tmp_path}/*.log", ""),), deadline=20))
    bundle = read_tar(data)
    tails = [body for name, body in bundle.members.items() if name.startswith(f"logs/tail{tmp_path}")]
    assert len(tails) == 7  # all but the one whose name would split a request
    assert not list(Path.cwd().glob("planted"))
    assert not (tmp_path / "planted").exists()
    assert all(name.isascii() and name.isprintable() for name in bundle.members)


def test_odd_files_are_refused_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "folder.log").mkdir()
    (tmp_path / "null.log").symlink_to("/dev/zero")
    (tmp_path / "dangling.log").symlink_to("/nowhere/at/all")
    (tmp_path / "good.log").write_text("good\n")
    watch = Stopwatch()
    bundle = read_tar(capture(["sh"], CollectOptions(logs=((f"{tmp_path}/*.log", ""),), deadline=20)))
    assert watch.seconds() < 5
    notes = "".join(bundle.text(name) for name in bundle.members if name.startswith("notes/"))
    states = {
        line.split("\t")[0].rpartition("/")[2]: line.split("\t")[1]
        for line in notes.splitlines()
        if str(tmp_path) in line and "logs.tail" in line
    }
    assert states == {
        "pipe.log": "refused",
        "folder.log": "refused",
        "null.log": "refused",
        "dangling.log": "missing",
        "good.log": "whole",
    }


def test_a_huge_log_gives_head_and_end_in_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "huge.log"
    with path.open("w") as file:
        for n in range(200_000):
            file.write(f"{n:09d} {'x' * 90}\n")
    bundle = read_tar(capture(["sh"], CollectOptions(logs=((str(path), "huge"),), deadline=20)))
    parts = [bundle.text(name) for name in bundle.members if name.startswith("logs/full/huge")]
    assert len(parts) >= 3
    assert parts[0].startswith("000000000 ")
    assert parts[-1].endswith(f"{199_999:09d} {'x' * 90}\n")
    assert max(len(part) for part in parts) <= 2 << 20
    numbers = [int(line[:9]) for part in parts for line in part.splitlines()]
    assert all(len(line) == 100 for part in parts for line in part.splitlines())
    assert numbers == sorted(set(numbers))
    gaps = [(a, b) for a, b in itertools.pairwise(numbers) if b != a + 1]
    assert len(gaps) == 1  # between the head and the end


def test_a_reader_that_goes_away_ends_the_agent() -> None:
    before = our_processes()
    process = subprocess.Popen(["sh", "-s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    process.stdin.write(agent_script(CollectOptions(deadline=20)).encode())
    process.stdin.close()
    process.stdout.read(600)
    process.stdout.close()
    process.wait(5)
    assert gone(before)


def test_a_stalled_reader_is_left_at_the_deadline() -> None:
    before = our_processes()
    process = subprocess.Popen(["sh", "-s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    watch = Stopwatch()
    process.stdin.write(agent_script(CollectOptions(deadline=1.5)).encode())
    process.stdin.close()
    process.wait(6)  # nobody reads: the pipe is full
    assert watch.seconds() < 3.5
    process.stdout.close()
    assert gone(before)


def test_term_closes_the_stream() -> None:
    options = CollectOptions(deadline=20, extras=(Extra("slow", run="sleep 15", seconds=15),))
    process = subprocess.Popen(["sh", "-s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    process.stdin.write(agent_script(options).encode())
    process.stdin.close()
    os.set_blocking(process.stdout.fileno(), True)
    data, begin = b"", time.monotonic()
    while chunk := process.stdout.read1(65536):
        data += chunk
        if b"net/sockets" in data and time.monotonic() - begin < 10:
            time.sleep(0.3)
            process.terminate()
            begin = time.monotonic() - 20
    process.wait(5)
    process.stdout.close()
    bundle = read_tar(data)
    assert "reason: SIGTERM\n" in bundle.text("END")
    assert "complete: no\n" in bundle.text("END")
    assert "extra.slow\tover-budget" in "".join(
        bundle.text(name) for name in bundle.members if name.startswith("notes/")
    )


def test_without_a_place_for_a_spool(tmp_path: Path) -> None:
    script = agent_script(CollectOptions(deadline=20)).replace(
        '"$POSTMORTEM_SPOOL" /dev/shm /run /tmp', '"$POSTMORTEM_SPOOL"'
    )
    done = subprocess.run(
        ["sh", "-s"],
        input=script.encode(),
        capture_output=True,
        timeout=30,
        check=False,
        env={**os.environ, "POSTMORTEM_SPOOL": "/proc/nowhere"},
    )
    bundle = read_tar(done.stdout)
    assert next(iter(bundle.members)) == "START"
    assert list(bundle.members)[-1] == "END"
    assert "MemTotal" in bundle.text("host/meminfo")
    assert "/proc/1/stat" in bundle.text("proc/sweep/stat")


def test_nothing_stays_in_the_spool(tmp_path: Path) -> None:
    capture(["sh"], CollectOptions(deadline=20), POSTMORTEM_SPOOL=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_every_probe_says_why() -> None:
    plan = load_plan()
    assert all(spec.why and spec.name and bool(spec.member) != (spec.how in ("step", "each")) for spec in plan.specs)
    assert len({spec.name for spec in plan.specs}) == len(plan.specs)
