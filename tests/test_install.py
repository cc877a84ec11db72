"""The package where users have it: a wheel outside any checkout, and an editable install."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "samples/syntax-error-zombie/bundle.tar.gz"


def sh(*args: str | Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        [str(a) for a in args], cwd=cwd, capture_output=True, text=True, timeout=600, env={**os.environ, **env}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    sh(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", out, ROOT, cwd=out)
    return next(out.glob("*.whl"))


def test_the_wheel_brings_its_own_catalogue_and_agent(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    sh(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, wheel, cwd=tmp_path)
    env = {"PYTHONPATH": str(target)}
    where = sh(sys.executable, "-c", "import postmortem; print(postmortem.__file__)", cwd=tmp_path, **env)
    assert where.startswith(str(target))
    listed = sh(sys.executable, "-m", "postmortem", "signatures", "list", cwd=tmp_path, **env)
    assert "memory.oom-kill-cgroup" in listed
    report = json.loads(
        sh(sys.executable, "-m", "postmortem", "analyze", SAMPLE, "--format", "json", cwd=tmp_path, **env)
    )
    assert report["root_cause"]["class"] == "script.syntax-error"
    assert sh(sys.executable, "-m", "postmortem", "agent", cwd=tmp_path, **env).startswith("#!/bin/sh")


def test_the_wheel_brings_what_a_first_diagnosis_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        ready = {name: packed.read(name) for name in packed.namelist() if name.startswith("postmortem/ready/")}
    assert sorted(name.split("/")[2].split("-")[0] for name in ready) == ["catalogue", "needles", "scan"]
    assert [name for name, data in ready.items() if str(ROOT).encode() in data] == []


def test_an_edit_of_the_top_level_catalogue_is_seen_in_a_checkout(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT / "src", checkout / "src")
    entry = (
        "# yaml-language-server: $schema=x\nschema: 1\nsignatures:\n"
        "- {id: test.only, title: Only here, role: root, when: [{log: 'only in this checkout'}], yes: ['only in this checkout'], no: [nothing]}\n"
    )
    (checkout / "signatures.yaml").write_text(entry)
    listed = sh(
        sys.executable, "-m", "postmortem", "signatures", "list", cwd=tmp_path, PYTHONPATH=str(checkout / "src")
    )
    assert listed.split()[0] == "test.only"


@pytest.mark.slow
def test_a_new_virtual_environment_collects_and_analyzes(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    sh(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    command = tmp_path / "venv/bin/postmortem"
    sh(command, "collect", "-o", tmp_path / "b.tar.gz", cwd=tmp_path)
    cache = tmp_path / "cache"
    report = json.loads(
        sh(command, "analyze", tmp_path / "b.tar.gz", "--format", "json", cwd=tmp_path, XDG_CACHE_HOME=str(cache))
    )
    assert report["input"]["kind"] == "bundle"
    assert report["input"]["complete"] is True
    assert not cache.exists()  # nothing had to be made: the package brought it


@pytest.mark.slow
def test_an_editable_install_has_what_a_first_diagnosis_needs(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT / "src", checkout / "src", ignore=shutil.ignore_patterns("ready", "__pycache__"))
    for name in ("pyproject.toml", "hatch_build.py", "signatures.yaml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, checkout)
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    sh(python, "-m", "pip", "install", "--quiet", "--editable", checkout, cwd=tmp_path)
    assert len(list((checkout / "src/postmortem/ready").iterdir())) == 3
    sh(tmp_path / "venv/bin/postmortem", "analyze", SAMPLE, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert not (tmp_path / "cache").exists()
