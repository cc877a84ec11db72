"""The Dockerfile: what it says, and its steps done in a chroot, for where no engine builds it."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chroot_image import instructions

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
STEPS = list(instructions(TEXT))
LAST = STEPS[max(n for n, (name, _) in enumerate(STEPS) if name == "FROM") :]


def copied() -> list[str]:
    """What the build takes from the checkout."""
    words = [rest.split() for name, rest in STEPS if name == "COPY" and not rest.startswith("--from")]
    return [source for *sources, _ in words for source in sources]


def test_base_images_are_slim_and_pinned_to_a_python() -> None:
    bases = [rest.split()[0] for name, rest in STEPS if name == "FROM"]
    assert bases
    assert all(re.fullmatch(r"python:3\.\d+-slim", one) for one in bases)


def test_the_last_stage_is_not_root() -> None:
    users = [rest for name, rest in LAST if name == "USER"]
    assert users
    assert re.fullmatch(r"[1-9]\d*", users[-1])  # a number, so that Kubernetes can check runAsNonRoot
    assert not any(name == "RUN" for name, _ in LAST[[n for n, _ in LAST].index("USER") :])


def test_what_is_copied_is_there_and_let_through() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    let_through = [line[1:] for line in ignored if line.startswith("!")]
    assert ignored[0] == "*"
    for source in copied():
        assert (ROOT / source).exists(), source
        assert any(fnmatch.fnmatch(source, one) for one in let_through), source


@pytest.mark.parametrize("line", ["ADD https://example.com/x /x", "VOLUME /x", "run x"])
def test_an_instruction_that_is_not_known_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match="no instruction"):
        list(instructions(f"FROM x\n{line}\n"))


def context(folder: Path) -> Path:
    folder.mkdir()
    for source in ("Dockerfile", *copied()):
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, folder / source, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / source, folder / source)
    return folder


def may_mount() -> bool:
    """Whether this process may make mounts of its own, and its Python stands alone, as an image's does."""
    if os.geteuid() or not shutil.which("unshare") or not shutil.which("setpriv") or sys.base_prefix == "/usr":
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


RUNS: dict[str, tuple[list[str], int, str]] = {
    "verdict": (["analyze", "/in/bundle.tar.gz", "--quiet"], 0, "script.syntax-error  high  "),
    "page with plots": (["analyze", "/in/bundle.tar.gz", "--format", "html"], 0, "</html>"),
    "nothing can be written": (["analyze", "/in/bundle.tar.gz", "-o", "/in/report.txt"], 1, "Read-only file system"),
    "but in /tmp": (["analyze", "/in/bundle.tar.gz", "-o", "/tmp/report.txt"], 0, ""),
    "help without arguments": ([], 0, "Usage: postmortem"),
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    """(status, output, errors) of every run in the image, built once."""
    folder = tmp_path_factory.mktemp("image")
    (folder / "work").mkdir()
    python, engine = sys._base_executable, Path(__file__).parent / "chroot_image.py"
    bundle = ROOT / "samples/syntax-error-zombie/bundle.tar.gz"
    runs = json.dumps([arguments for arguments, _, _ in RUNS.values()])
    command = ["unshare", "--mount", python, engine, folder / "work", context(folder / "files"), bundle, runs]
    made = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=900)
    assert made.returncode == 0, made.stderr[-3000:]
    return dict(zip(RUNS, json.loads(made.stdout), strict=True))


@pytest.mark.slow
@pytest.mark.skipif(not may_mount(), reason="needs root, mounts and a Python outside /usr")
@pytest.mark.parametrize("name", RUNS)
def test_the_steps_build_what_runs_without_rights(name: str, done: dict[str, list[object]]) -> None:
    _, status, said = RUNS[name]
    code, output, errors = map(str, done[name])
    assert code == str(status), errors
    assert said in output + errors
    assert "Traceback" not in errors
