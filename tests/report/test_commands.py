"""analyze, render and compare: which format goes where, and what is said when it cannot."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from made_reports import ROOT

SAMPLE = ROOT / "samples/syntax-error-zombie/files"


def run(*args: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "postmortem", *map(str, args)],
        capture_output=True, text=True, timeout=120, env={**os.environ, **env},
    )  # fmt: skip


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("saved") / "r.json"
    assert run("analyze", SAMPLE, "--format", "json", "-o", file).returncode == 0
    return file


def test_several_formats_in_one_run(tmp_path: Path) -> None:
    page, data = tmp_path / "r.html", tmp_path / "r.json"
    done = run("analyze", SAMPLE, "--format", f"html={page}", "--format", f"json={data}", "--format", "junit")
    assert done.returncode == 0, done.stderr
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(data.read_text(encoding="utf-8"))["status"] == "failed"
    assert done.stdout.startswith("<?xml")


def test_only_files_leaves_standard_output_empty(tmp_path: Path) -> None:
    done = run("analyze", SAMPLE, "--format", f"markdown={tmp_path / 'r.md'}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("args", "status", "said"),
    [
        (["--format", "pdf"], 2, "pdf"),
        (["--format", "html="], 2, "html="),
        (["--format", "html", "--format", "json"], 2, "standard output"),
        (["--format", "html=a.html", "-o", "b.html"], 2, "-o"),
        (["--format", "html=/nonexistent/folder/r.html"], 1, "/nonexistent/folder/r.html"),
    ],
    ids=["unknown", "no file", "two on stdout", "-o without a use", "no folder"],
)
def test_what_cannot_be_is_said(args: list[str], status: int, said: str, saved: Path) -> None:
    done = run("render", saved, *args)
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_rendered_page_is_the_page_of_analyze(saved: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "1.html", tmp_path / "2.html"
    assert run("render", saved, "--format", "html", "-o", one, PYTHONHASHSEED="1").returncode == 0
    assert run("analyze", SAMPLE, "--format", f"html={two}", PYTHONHASHSEED="2").returncode == 0
    assert one.read_bytes() == two.read_bytes()


def test_quiet_is_one_line_and_keeps_the_exit_code() -> None:
    done = run("analyze", SAMPLE, "--quiet", "--exit-code")
    assert done.returncode == 3
    assert done.stdout.startswith("script.syntax-error  high  ")
    assert done.stdout.count("\n") == 1


def test_compare_takes_a_report_and_a_folder(saved: Path) -> None:
    done = run("compare", saved, SAMPLE)
    assert done.returncode == 0, done.stderr
    assert "The two say the same." in done.stdout


def test_render_of_something_else_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    done = run("render", tmp_path / "x.json")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


def test_links_only_when_asked_for(saved: Path) -> None:
    assert "\x1b]8" not in run("render", saved).stdout
    assert "\x1b]8;;file://" in run("render", saved, "--links").stdout


def test_a_terminal_gets_its_width(saved: Path) -> None:
    command = [sys.executable, "-m", "postmortem", "render", str(saved)]
    main, side = pty.openpty()
    env = {**os.environ, "COLUMNS": "60", "NO_COLOR": "1"}
    with subprocess.Popen(command, stdout=side, stderr=side, env=env) as process:
        os.close(side)
        text = b""
        while chunk := read(main):
            text += chunk
        process.wait(60)
    lines = text.decode().splitlines()
    assert lines[0].startswith("FAILED")
    assert len(lines[0]) <= 60


def read(main: int) -> bytes:
    """What the terminal got; nothing when its other side is closed (EIO)."""
    try:
        return os.read(main, 65536)
    except OSError:
        return b""
