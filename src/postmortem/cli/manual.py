"""The manual page, made of the commands' own help: troff of the man macros."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from postmortem import __version__

STATUS = """0 the analysis was made, 1 the input, a report or a signature file cannot be used, 2 wrong usage.
With --exit-code: 0 healthy, 3 failed with a cause, 4 failed without one, 5 undecided.
collect exits 0 whenever a bundle was written."""


def page(group: click.Group) -> str:
    """The whole page, commands in alphabetical order."""
    return "\n".join(lines(group)) + "\n"


def lines(group: click.Group) -> Iterator[str]:
    ctx = click.Context(group, info_name="postmortem")
    yield f'.TH POSTMORTEM 1 "" "postmortem {__version__}"'
    yield ".SH NAME"
    yield "postmortem \\- save the evidence of a failed machine, and say what happened"
    yield ".SH SYNOPSIS"
    yield ".B postmortem\n.I COMMAND\n[OPTIONS] [ARGUMENTS]"
    yield ".SH DESCRIPTION"
    yield from described(group)
    yield ".SH COMMANDS"
    for name, command, inner in commands(group, ctx):
        yield f".SS {roff(name)}"
        usage = " ".join(command.collect_usage_pieces(inner))
        yield f".B postmortem {roff(name)}\n{roff(usage)}\n.PP"
        yield from described(command)
        yield from options(command, inner)
    yield ".SH EXIT STATUS"
    yield roff(" ".join(STATUS.split()))
    yield ".SH ENVIRONMENT"
    yield "Every option can be set as POSTMORTEM_COMMAND_OPTION. NO_COLOR and FORCE_COLOR decide on colours."


def commands(group: click.Group, ctx: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Every command with its full name; those of a group stand under it."""
    for name in sorted(group.list_commands(ctx)):
        command = group.get_command(ctx, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=ctx)
        if isinstance(command, click.Group):
            yield from ((f"{name} {sub}", one, c) for sub, one, c in commands(command, inner))
        else:
            yield name, command, inner


def described(command: click.Command) -> Iterator[str]:
    """The help text; what follows a \\b line keeps its line breaks, as examples do."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            yield f".PP\n.nf\n.RS 4\n{roff(paragraph[2:])}\n.RE\n.fi"
        else:
            yield f".PP\n{roff(' '.join(paragraph.split()))}"


def options(command: click.Command, ctx: click.Context) -> Iterator[str]:
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record:
            yield f".TP\n.B {roff(record[0])}\n{roff(record[1])}"


def roff(text: str) -> str:
    """Text that troff prints as it stands."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in escaped)
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in escaped.split("\n"))
