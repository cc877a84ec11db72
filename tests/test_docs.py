"""Every command that README and docs show is run, every YAML block is YAML, every link leads somewhere."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from postmortem.cli.group import cli

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?:^    \S.*\n)+", re.M)
# other machines, stores, clusters: the arguments are checked, the command is not run
ELSEWHERE = re.compile(r"--(?:ssh|docker|kubectl|ship|scheduler|encrypt-to|sign)\b|s3://")
NOT_OURS = re.compile(r"^(?:make |pip |docker |#)")


def blocks(page: Path) -> list[list[str]]:
    """The command lines of a page: `sh` fences, indented blocks, and `run`/`script` lines of YAML.

    A fence that is a whole script is a recipe of `postmortem hook`; tests/collect runs those.
    """
    text = page.read_text(encoding="utf-8")
    text = text.replace("\\\n", " ")
    found = [body.splitlines() for kind, body in FENCE.findall(text) if kind == "sh" and not body.startswith("#!")]
    rest = FENCE.sub("", text)
    found += [[line[4:] for line in body.splitlines()] for body in INDENTED.findall(rest)]
    inner = [
        re.sub(r"^[\s-]*", "", line)
        for kind, body in FENCE.findall(text)
        if kind == "yaml"
        for line in body.splitlines()
    ]
    found.append([line for line in inner if line.startswith("postmortem ")])
    return [lines for lines in found if any(re.match(r"(?:\S+ \| )?(?:sh )?postmortem[ -]", line) for line in lines)]


def commands(lines: list[str]) -> list[str]:
    return [line for line in lines if line.strip() and not NOT_OURS.match(line)]


def bare(line: str) -> list[str]:
    """The words of a postmortem command, without comment, pipe and redirection."""
    words = shlex.split(line, comments=True)
    ends = [at for at, word in enumerate(words) if word in ("|", ">", ">>", "&&")]
    return words[1 : min(ends, default=len(words))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages speak of."""
    path = tmp_path_factory.mktemp("docs")
    sample = ROOT / "samples/syntax-error-zombie"
    for name in ("bundle.tar.gz", "good.tar.gz"):
        shutil.copy(sample / "bundle.tar.gz", path / name)
    (path / "samples").symlink_to(ROOT / "samples")
    shutil.copytree(sample / "files", path / "incident")
    shutil.copytree(sample / "files", path / "logs")
    page = (ROOT / "docs/new-class.md").read_text(encoding="utf-8")
    (path / "my-signatures.yaml").write_text(next(body for kind, body in FENCE.findall(page) if kind == "yaml"))
    (path / "ledger.log").write_text("".join(INDENTED.findall(page)[:1]).replace("    ", "", 1))
    tool = path / "bin" / "postmortem"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m postmortem "$@"\n')
    tool.chmod(0o755)
    return path


DONE: set[str] = set()  # a line that several pages show is run once
BLOCKS = [(page, lines) for page in PAGES for lines in blocks(page)]


def test_the_pages_show_commands() -> None:
    assert {page.name for page, _ in BLOCKS} >= {
        "README.md",
        "quickstart.md",
        "reports.md",
        "new-class.md",
        "ci.md",
        "troubleshooting.md",
    }


@pytest.mark.parametrize(("page", "lines"), BLOCKS, ids=[f"{p.name}-{n}" for n, (p, _) in enumerate(BLOCKS)])
def test_commands_work(page: Path, lines: list[str], folder: Path) -> None:
    env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "SLURM_JOB_ID": "7"}
    env["GITHUB_STEP_SUMMARY"] = str(folder / "summary.md")
    for line in commands(lines):
        if line in DONE:
            continue
        DONE.add(line)
        if ELSEWHERE.search(line):
            parsed(bare(line))
            continue
        done = subprocess.run(
            ["sh", "-c", f"set -e\n{line}"], cwd=folder, env=env, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"{page.name}: {line}\n{done.stdout[-1000:]}{done.stderr[-1000:]}"


def test_targets_of_make_are_there() -> None:
    shown = {name for page in PAGES for name in re.findall(r"^ {4}make ([\w-]+)", page.read_text(), re.M)}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert shown
    assert shown <= targets


def parsed(words: list[str]) -> None:
    """The command's options are taken. Raises click.UsageError."""
    command: click.Command = cli
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, words
        command, words = found, words[1:]
    with command.make_context("postmortem", words):
        pass  # files that it opened are closed


def test_a_wrong_option_would_be_seen() -> None:
    with pytest.raises(click.UsageError):
        parsed(["collect", "--ssh", "root@h", "--nope"])


def test_the_example_of_a_class_is_found(folder: Path) -> None:
    import postmortem

    report = postmortem.analyze(folder / "ledger.log", signatures=[folder / "my-signatures.yaml"])
    root = report["root_cause"]
    assert root is not None
    assert root["class"] == "ledger.journal-corrupt"
    assert "40960" in root["summary"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_yaml_is_yaml_and_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for kind, body in FENCE.findall(text):
        if kind == "yaml":
            assert yaml.safe_load(body)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target
    for target in re.findall(r"`(docs/[\w./-]+)`", text):
        assert (ROOT / target).exists(), target


def test_hooks_of_pre_commit() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["id"] == "postmortem-signatures-check"
    parsed(hook["entry"].split()[1:])
    assert re.search(hook["files"], "deploy/my-signatures.yaml")
    assert not re.search(hook["files"], "deploy/values.yaml")


def test_the_image_runs_without_root_and_copies_what_it_needs() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^USER \d+$", text, re.M)
    for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.M):
        assert all((ROOT / name).exists() for name in line.split())
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {
        f"!{name}" for line in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.M) for name in line.split()
    } <= set(ignored)


def everything(command: click.Command, path: str) -> list[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        return [one for name, sub in sorted(command.commands.items()) for one in everything(sub, f"{path} {name}")]
    return [(path, command)]


COMMANDS = everything(cli, "postmortem")


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_help_has_an_example_that_parses(
    name: str, command: click.Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Path("state").mkdir(exist_ok=True)
    for file in ("capture.tar.gz", "unredacted.tar.gz", "service.log"):
        Path(file).touch()
    shown = [line.strip() for line in (command.help or "").splitlines() if line.strip().startswith(name)]
    assert shown, f"{name} --help shows no example"
    for line in shown:
        parsed(bare(line.split("          ")[0]))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "postmortem", "completion", shell], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert "_POSTMORTEM_COMPLETE" in done.stdout
    if checker := shutil.which(shell):
        assert subprocess.run([checker, "-n"], input=done.stdout, text=True, timeout=20, check=False).returncode == 0


def test_manual_names_every_command_and_has_no_raw_dots() -> None:
    done = subprocess.run([sys.executable, "-m", "postmortem", "man"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    for name, _ in COMMANDS:
        assert f".B {name}".replace("-", "\\-") in done.stdout
    macros = {line.split()[0] for line in done.stdout.splitlines() if line.startswith(".")}
    assert macros <= {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I", ".nf", ".fi", ".RS", ".RE"}
