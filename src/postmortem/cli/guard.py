"""guard, hook: evidence first, then the destroy, whatever happens."""

from __future__ import annotations

import sys
from typing import Any

import click

from postmortem.cli.collect import options_of, targeting
from postmortem.cli.group import cli


@cli.command(context_settings={"ignore_unknown_options": False})
@targeting
@click.option(
    "--destroy-deadline",
    type=click.FloatRange(1, 3600),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="COMMAND is killed after so long; exit status 124.",
)
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...")
def guard(destroy_deadline: float, command: tuple[str, ...], **given: Any) -> None:
    """Collect and ship, then run COMMAND whatever became of it, and end with COMMAND's exit status.

    \b
    postmortem guard --ssh root@host:40022 --attach 'vast=vastai show instance 7 --raw' -- vastai destroy instance 7 -y
    """
    from postmortem.collect.guard import guarded

    sys.exit(guarded(lambda: options_of(given), given["deadline"], command, destroy_deadline))


@cli.command()
@click.argument("name", required=False)
def hook(name: str | None) -> None:
    """Print the recipe NAME for calling the collector at the right moment; without NAME, list them.

    \b
    postmortem hook
    postmortem hook bash-exit-trap
    """
    from postmortem.collect.guard import hooks
    from postmortem.errors import UsageError

    known = hooks()
    if name is None:
        for one, text in known.items():
            click.echo(f"{one:18} {text.splitlines()[1].removeprefix('# ')}")
    elif name in known:
        click.echo(known[name], nl=False)
    else:
        raise UsageError(f"no hook {name!r}; there are {', '.join(known)}")
