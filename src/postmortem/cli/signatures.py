"""signatures, schema: the catalogue and the formats."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from postmortem.cli.group import cli


@cli.group()
def signatures() -> None:
    """Work with the failure signatures.

    \b
    postmortem signatures list
    postmortem signatures check my-signatures.yaml
    """


@signatures.command("check")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def signatures_check(files: tuple[Path, ...]) -> None:
    """Run the samples of every entry, and name what cannot work.

    \b
    postmortem signatures check                       the catalogue itself
    postmortem signatures check my-signatures.yaml
    """
    from postmortem.signatures import check, load

    catalogue = load(files)
    problems = check(catalogue)
    for problem in problems:
        click.echo(problem, err=True)
    click.echo(f"{len(catalogue.signatures)} signatures, {len(problems)} problems")
    sys.exit(1 if problems else 0)


@signatures.command("list")
@click.option("--signatures", "files", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True)
def signatures_list(files: tuple[Path, ...]) -> None:
    """List the classes: id, role, title.

    \b
    postmortem signatures list
    postmortem signatures list --signatures my-signatures.yaml
    """
    from postmortem.signatures import load

    for one in load(files).signatures:
        click.echo(f"{one.id:34s} {one.role:12s} {one.title}")


@cli.command()
@click.argument("what", type=click.Choice(["report", "signatures"]))
def schema(what: str) -> None:
    """Print a JSON Schema: of the report, or of signature files.

    \b
    postmortem schema report > report.schema.json
    postmortem schema signatures
    """
    from importlib.resources import files

    folder, name = {"report": ("report", "schema.json"), "signatures": ("signatures", "schema.json")}[what]
    click.echo(files("postmortem").joinpath(folder, name).read_text(encoding="utf-8"), nl=False)
