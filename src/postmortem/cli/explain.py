"""explain: a class of the catalogue in words."""

from __future__ import annotations

from pathlib import Path

import click

from postmortem.cli.group import cli
from postmortem.cli.output import write
from postmortem.errors import UsageError


@cli.command()
@click.argument("class_id", metavar="CLASS")
@click.option("--signatures", "files", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True)
def explain(class_id: str, files: tuple[Path, ...]) -> None:
    """Say what a failure class is, how it shows, what proves and refutes it, and what to do.

    \b
    postmortem explain memory.oom-kill-cgroup
    postmortem signatures list               all classes
    """
    from difflib import get_close_matches

    from postmortem.signatures import load
    from postmortem.signatures.explain import explain as in_words

    catalogue = load(files)
    signature = catalogue.by_id.get(class_id)
    if signature is None:
        near = get_close_matches(class_id, catalogue.by_id, 3) or [i for i in catalogue.by_id if class_id in i][:3]
        hint = f"did you mean {', '.join(near)}?" if near else "`postmortem signatures list` names all"
        raise UsageError(f"there is no class {class_id}; {hint}")
    write(in_words(catalogue, signature), None)
