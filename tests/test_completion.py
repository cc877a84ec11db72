"""Completion as each shell asks for it, and the manual page as roff reads it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

AS_INSTALLED = "import sys; sys.argv[0] = 'postmortem'; from postmortem.cli import main; main()"


def out(*args: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", AS_INSTALLED, *args],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **env},
    )
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("words", "wanted", "not_wanted"),
    [
        (["ana"], {"analyze"}, {"agent", "render"}),
        (["signatures", ""], {"check", "list", "suggest"}, {"analyze"}),
        (["analyze", "--for"], {"--format"}, {"--output"}),
        (["completion", ""], {"bash", "zsh", "fish"}, set()),
    ],
    ids=["command", "below a group", "option", "choice"],
)
def test_what_a_shell_is_offered(shell: str, words: list[str], wanted: set[str], not_wanted: set[str]) -> None:
    at = words[-1] if shell == "fish" else str(len(words))
    text = out(_POSTMORTEM_COMPLETE=f"{shell}_complete", COMP_WORDS=" ".join(["postmortem", *words]), COMP_CWORD=at)
    offered = {part.removeprefix("plain,").partition("\t")[0] for part in text.splitlines()}
    assert wanted <= offered
    assert not offered & not_wanted


@pytest.fixture
def command(tmp_path: Path) -> str:
    """A PATH on which `postmortem` is this checkout."""
    tool = tmp_path / "postmortem"
    tool.write_text(f"#!{sys.executable}\n{AS_INSTALLED}\n")
    tool.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


def test_bash_completes_with_the_script(command: str) -> None:
    script = out("completion", "bash")
    line = "COMP_WORDS=(postmortem ren); COMP_CWORD=1; _postmortem_completion postmortem; echo ${COMPREPLY[*]}"
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{line}"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PATH": command},
    )
    assert done.stdout.split() == ["render"], done.stderr


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh here")
def test_zsh_takes_the_script(command: str) -> None:
    script = out("completion", "zsh")
    lines = f"autoload -U compinit; compinit -u -D\n{script}\nprint -r -- ${{_comps[postmortem]}}"
    done = subprocess.run(
        ["zsh", "-f", "-c", lines], capture_output=True, text=True, timeout=60, env={**os.environ, "PATH": command}
    )
    assert done.stdout.strip() == "_postmortem_completion", done.stderr


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish here")
def test_fish_completes_with_the_script(command: str) -> None:
    done = subprocess.run(
        ["fish", "-c", f"{out('completion', 'fish')}\ncomplete -C 'postmortem ren'"],
        capture_output=True, text=True, timeout=60, env={**os.environ, "PATH": command},
    )  # fmt: skip
    assert done.stdout.split()[:1] == ["render"], done.stderr


@pytest.mark.skipif(not shutil.which("groff"), reason="no groff here")
def test_the_manual_is_clean_roff() -> None:
    page = out("man")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stderr == ""
    shown = re.sub(".\x08", "", done.stdout)  # bold is a letter struck twice
    for word in ("NAME", "SYNOPSIS", "postmortem analyze", "--format"):
        assert word in shown


def test_the_first_help_shows_how_to_begin() -> None:
    text = out("--help")
    assert "postmortem collect -o bundle.tar.gz" in text
    assert "postmortem analyze bundle.tar.gz" in text
