"""The command group: how our errors become one sentence and an exit status."""

from __future__ import annotations

import sys
from typing import Any

import click

from postmortem import __version__
from postmortem.cli.output import forget_output
from postmortem.errors import PostmortemError, UsageError


class Group(click.Group):
    """A group whose commands end with one sentence on stderr when something of ours fails."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UsageError as error:
            click.echo(f"postmortem: {error}", err=True)
            sys.exit(2)
        except PostmortemError as error:
            click.echo(f"postmortem: {error}", err=True)
            sys.exit(1)
        except BrokenPipeError:
            forget_output()
            sys.exit(0)
        except KeyboardInterrupt:
            click.echo("postmortem: interrupted", err=True)
            sys.exit(130)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "POSTMORTEM"})
@click.version_option(__version__, prog_name="postmortem")
def cli() -> None:
    """Save the evidence of a failed machine before it is destroyed, and say what happened.

    \b
    postmortem collect -o bundle.tar.gz     save the evidence of this machine
    postmortem analyze bundle.tar.gz        say what happened
    """
