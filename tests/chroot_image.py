"""The steps of a Dockerfile in folders and a mount namespace, where no container engine runs.

`FROM` gives this machine's system read-only with a Python at /usr/local that may be written to; every other instruction
does what the engine would do. Run as `unshare --mount python chroot_image.py WORK CONTEXT BUNDLE RUNS` by root: builds
the file in CONTEXT, then runs its last stage with each list of arguments in RUNS (JSON), root read-only, with a /tmp. Prints
[status, standard output, standard error] of each as JSON.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SYSTEM = ("usr", "opt")
LINKS = ("bin", "sbin", "lib", "lib64")
KNOWN = frozenset({"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT", "CMD"})


@dataclass
class Stage:
    """One `FROM` and what was set since."""

    root: Path
    name: str
    base: str
    folder: str = "/"
    env: dict[str, str] = field(default_factory=dict)
    user: str = "0"
    entrypoint: list[str] = field(default_factory=list)
    cmd: list[str] = field(default_factory=list)


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """(name, rest) of every instruction. Raises ValueError for one that is not known here."""
    joined = re.sub(r"\\\n", " ", text)
    for line in joined.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, _, rest = line.strip().partition(" ")
        if name not in KNOWN:
            raise ValueError(f"{name} is no instruction that is known here: {line}")
        yield name, rest.strip()


def sh(*args: str | Path) -> None:
    subprocess.run([str(a) for a in args], check=True)


def base(root: Path, python: Path) -> None:
    """The machine's system read-only, and that Python at /usr/local under a layer that takes writes."""
    for name in (*SYSTEM, "etc", "proc", "dev", "tmp", "in", "src", "var/tmp"):
        (root / name).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    for name in LINKS:
        (root / name).symlink_to(f"usr/{name}")
    for name in SYSTEM:
        if Path("/", name).is_dir():
            sh("mount", "--bind", Path("/", name), root / name)
            sh("mount", "-o", "remount,bind,ro", root / name)
    shutil.copytree("/etc", root / "etc", symlinks=True, dirs_exist_ok=True)
    sh("mount", "--rbind", "/dev", root / "dev")
    sh("mount", "--bind", "/proc", root / "proc")
    upper, work = root.parent / f"{root.name}.upper", root.parent / f"{root.name}.work"
    upper.mkdir()
    work.mkdir()
    layers = f"lowerdir={python},upperdir={upper},workdir={work}"
    sh("mount", "-t", "overlay", "overlay", "-o", layers, root / "usr/local")
    sh("chroot", root, "ldconfig")
    for script in (root / "usr/local/bin").iterdir():
        body = script.read_bytes() if script.is_file() else b""
        if body.startswith(f"#!{python}/bin/python".encode()):
            script.write_bytes(b"#!/usr/local/bin/python3\n" + body.partition(b"\n")[2])


def inside(stage: Stage, command: list[str], user: str = "0") -> subprocess.CompletedProcess[str]:
    """The command in the stage's root, folder and environment."""
    path = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"
    index = {k: v for k, v in os.environ.items() if k.startswith("PIP_")}
    identity = ["--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs"] if user != "0" else []
    drop = ["setpriv", *identity] if identity else []
    script = f"cd {shlex.quote(stage.folder)} && exec {shlex.join([*drop, *command])}"
    env = {"PATH": path, "HOME": "/", **(index if user == "0" else {}), **stage.env}
    chroot = ["chroot", str(stage.root), "/bin/sh", "-c", script]
    return subprocess.run(chroot, env=env, capture_output=True, text=True)


def build(text: str, context: Path, work: Path, python: Path) -> Stage:
    """The last stage. Raises CalledProcessError or FileNotFoundError where a step fails."""
    stages: list[Stage] = []
    for name, rest in instructions(text):
        if name == "FROM":
            parts = rest.split()
            stages.append(Stage(work / f"stage{len(stages)}", parts[2] if len(parts) > 2 else "", parts[0]))
            base(stages[-1].root, python)
        else:
            step(stages[-1], stages, name, rest, context)
    return stages[-1]


def step(stage: Stage, stages: list[Stage], name: str, rest: str, context: Path) -> None:
    """One instruction after FROM."""
    match name:
        case "WORKDIR":
            stage.folder = rest
            (stage.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "COPY":
            copy(stage, stages, shlex.split(rest), context)
        case "RUN":
            inside(stage, ["/bin/sh", "-c", rest]).check_returncode()
        case "ENV":
            stage.env |= dict(pair.split("=", 1) for pair in shlex.split(rest))
        case "USER":
            stage.user = rest
        case "ENTRYPOINT":
            stage.entrypoint = json.loads(rest)
        case "CMD":
            stage.cmd = json.loads(rest)


def copy(stage: Stage, stages: list[Stage], words: list[str], context: Path) -> None:
    """COPY [--from=STAGE] SOURCE... TARGET; a folder's content goes into the target."""
    origin = context
    if words[0].startswith("--from="):
        origin = next(s.root for s in stages if s.name == words[0].removeprefix("--from="))
        words = words[1:]
    *sources, target = words
    into = stage.root / os.path.join(stage.folder, target).lstrip("/")
    for source in sources:
        found = origin / source.lstrip("/")
        if found.is_dir():
            shutil.copytree(found, into, symlinks=True, dirs_exist_ok=True)
        else:
            to_folder = target.endswith("/") or len(sources) > 1
            shutil.copy2(found, into / found.name if to_folder else into)


def closed(stage: Stage, bundle: Path) -> None:
    """As `docker run --read-only --tmpfs /tmp -v BUNDLE:/in/bundle.tar.gz:ro` has it."""
    shutil.copy2(bundle, stage.root / "in/bundle.tar.gz")
    sh("mount", "--rbind", stage.root, stage.root)
    sh("mount", "-o", "remount,bind,ro", stage.root)
    sh("mount", "-o", "remount,ro", stage.root / "usr/local")
    sh("mount", "-t", "tmpfs", "tmpfs", stage.root / "tmp")


def main(work: Path, context: Path, bundle: Path, runs: list[list[str]]) -> None:
    sh("mount", "--make-rprivate", "/")
    last = build((context / "Dockerfile").read_text(), context, work, Path(sys.base_prefix))
    closed(last, bundle)
    done = [inside(last, [*last.entrypoint, *(run or last.cmd)], last.user) for run in runs]
    print(json.dumps([[one.returncode, one.stdout, one.stderr] for one in done]))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]), json.loads(sys.argv[4]))
