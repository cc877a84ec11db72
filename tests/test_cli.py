"""The command line: what it imports, what it exits with, where it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "samples/syntax-error-zombie"
HEAVY = ("pandas", "numpy", "matplotlib", "hyperscan", "regex", "yaml", "tree_sitter")


def run(*args: str | Path, data: bytes | None = None, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "postmortem", *map(str, args)],
        input=data,
        capture_output=True,
        timeout=120,
        env={**os.environ, **env},
    )


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], ["analyze", "--help"], ["collect", "--help"]], ids=" ".join
)
def test_help_imports_nothing_heavy(args: list[str]) -> None:
    code = f"import sys; sys.argv = ['postmortem', *{args!r}]\nimport postmortem.cli\ntry: postmortem.cli.cli()\nexcept SystemExit: pass\nprint(sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


@pytest.mark.parametrize(
    "args",
    [["analyze"], ["analyze", "x", "--format", "nope"], ["analyze", "x", "--now", "yesterday"], ["nope"]],
    ids=" ".join,
)
def test_wrong_usage_exits_2(args: list[str]) -> None:
    assert run(*args).returncode == 2


def test_missing_input_exits_1_with_one_sentence(tmp_path: Path) -> None:
    done = run("analyze", tmp_path / "nothing.tar.gz")
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"nothing.tar.gz" in done.stderr
    assert b"Traceback" not in done.stderr


def test_exit_code_tells_the_verdict() -> None:
    assert run("analyze", SAMPLE / "bundle.tar.gz").returncode == 0
    assert run("analyze", SAMPLE / "bundle.tar.gz", "--exit-code").returncode == 3


def test_same_input_same_bytes_and_a_valid_report() -> None:
    one, two = (
        run("analyze", SAMPLE / "bundle.tar.gz", "--format", "json", PYTHONHASHSEED=seed) for seed in ("1", "2")
    )
    assert one.stdout == two.stdout
    report = json.loads(one.stdout)
    jsonschema.validate(report, json.loads(run("schema", "report").stdout))
    assert report["root_cause"]["class"] == "script.syntax-error"


def test_standard_input_is_read() -> None:
    data = (SAMPLE / "bundle.tar.gz").read_bytes()
    report = json.loads(run("analyze", "-", "--format", "json", data=data).stdout)
    assert report["root_cause"]["class"] == "script.syntax-error"


def test_output_file(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    done = run("analyze", SAMPLE / "files", "--format", "json", "-o", out)
    assert (done.returncode, done.stdout) == (0, b"")
    assert json.loads(out.read_text(encoding="utf-8"))["status"] == "failed"


@pytest.mark.parametrize(
    ("env", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
    ids=["piped", "forced", "no-color"],
)
def test_colours(env: dict[str, str], coloured: bool) -> None:
    assert (b"\x1b[" in run("analyze", SAMPLE / "files", **env).stdout) is coloured


def test_terminal_escapes_of_a_log_never_reach_the_terminal(tmp_path: Path) -> None:
    log = "2026-01-01T00:00:00Z ERROR app: \x1b]0;owned\x07\x1b[2J\u202ebind: Address already in use (os error 98)\n"
    (tmp_path / "app.log").write_text(log, encoding="utf-8")
    out = run("analyze", tmp_path).stdout.decode()
    assert "Address already in use" in out
    assert not set(out) & {"\x1b", "\x07", "\u202e"}


def test_long_evidence_is_not_wrapped_when_piped(tmp_path: Path) -> None:
    words = "word " * 150
    (tmp_path / "app.log").write_text(
        f"2026-01-01T00:00:00Z ERROR app: {words}bind: Address already in use (os error 98)\n"
    )
    out = run("analyze", tmp_path, COLUMNS="60").stdout.decode()
    assert any(words in line and "Address already in use" in line for line in out.splitlines())


def test_output_that_cannot_be_written_is_one_sentence() -> None:
    with open("/dev/full", "wb") as full:
        run = subprocess.run(
            [sys.executable, "-m", "postmortem", "analyze", SAMPLE], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert run.returncode == 1
    assert run.stderr == "postmortem: cannot write to standard output: No space left on device; give another file with -o\n"
