"""render, compare, completion: what can be done with reports, and with the command line itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from postmortem.cli.group import cli
from postmortem.cli.output import write
from postmortem.cli.showing import emit, showing


@cli.command()
@click.argument("report", type=click.Path(dir_okay=False, path_type=Path))
@showing
def render(report: Path, **given: Any) -> None:
    """Show a saved report: REPORT is what `analyze --format json` wrote.

    \b
    postmortem render report.json
    postmortem render report.json --format html -o report.html
    postmortem render report.json --format markdown >> "$GITHUB_STEP_SUMMARY"
    """
    from postmortem.report.load import load

    emit(load(report), **given)


@cli.command()
@click.argument("a")
@click.argument("b")
@click.option("--format", "form", type=click.Choice(["terminal", "markdown", "json"]), default="terminal")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file.")
def compare(a: str, b: str, form: str, output: Path | None) -> None:
    """Say what differs between A and B: bundles, folders, logs or saved reports.

    Verdict, versions, limits, findings, and lines that only one of them has (numbers and times aside).

    \b
    postmortem compare good.tar.gz bad.tar.gz
    postmortem compare monday.json tuesday.json --format markdown
    """
    from postmortem.report.formats import compared

    write(compared(opened(a), opened(b), form, {"a": a, "b": b}), output)


def opened(path: str) -> Any:
    """A saved report as it is; anything else is analysed. Raises BundleError, ReportError."""
    from postmortem.analysis import analyze
    from postmortem.report.load import is_report, load

    return load(Path(path)) if is_report(Path(path)) else analyze(path)


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    postmortem completion bash > ~/.local/share/bash-completion/completions/postmortem
    postmortem completion zsh > ~/.zfunc/_postmortem
    postmortem completion fish > ~/.config/fish/completions/postmortem.fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    if made is None:  # pragma: no cover - the choice above names the shells that click knows
        raise click.UsageError(f"no completion for {shell}")
    write(made(cli, {}, "postmortem", "_POSTMORTEM_COMPLETE").source() + "\n", None)


@cli.command()
def man() -> None:
    """Print the manual page.

    \b
    postmortem man > postmortem.1 && man ./postmortem.1
    """
    from postmortem.cli.manual import page

    write(page(cli), None)
