"""collect, agent, seal: evidence off a machine."""

from __future__ import annotations

import sys
from typing import Any

import click

from postmortem.cli.group import cli
from postmortem.cli.output import write


def collecting(command: Any) -> Any:
    """The options that `collect` and `agent` share."""
    for option in reversed(COLLECTING):
        command = option(command)
    return command


COLLECTING = (
    click.option(
        "--deadline",
        type=click.FloatRange(1, 3600),
        default=25.0,
        show_default=True,
        metavar="SECONDS",
        help="Everything ends by then.",
    ),
    click.option(
        "--max-size",
        type=click.IntRange(100_000),
        default=10_000_000,
        show_default=True,
        metavar="BYTES",
        help="Of the bundle.",
    ),
    click.option(
        "--log", "logs", multiple=True, metavar="GLOB[:LABEL]", help="A log to take; may be given several times."
    ),
    click.option(
        "--script", "scripts", multiple=True, metavar="PATH", help="A script that ran; may be given several times."
    ),
    click.option(
        "--config",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="A YAML file with logs, scripts and probes of your own.",
    ),
    click.option("--incident", metavar="ID", help="Goes into the bundle and its name."),
    click.option(
        "--sample",
        type=click.FloatRange(0, 600),
        default=0.0,
        metavar="SECONDS",
        help="Read moving counters again after so long.",
    ),
)


def options_of(given: dict[str, Any], **more: Any) -> Any:
    """The collector's options. Raises UsageError."""
    from postmortem.collect import CollectOptions, split_label

    logs = tuple(split_label(text) for text in given.pop("logs"))
    return CollectOptions(logs=logs, argv=tuple(sys.argv[1:]), **given, **more)


@cli.command()
@click.option(
    "-o", "--output", metavar="FILE|-", help="Default: postmortem-HOST-UTC[-INCIDENT].tar.gz; - is standard output."
)
@click.option("--ssh", metavar="[USER@]HOST[:PORT]", help="Collect from another machine, by the system's ssh.")
@click.option(
    "--ssh-option", "ssh_options", multiple=True, metavar="OPT", help="An -o option of ssh; may be given several times."
)
@collecting
def collect(output: str | None, ssh: str | None, ssh_options: tuple[str, ...], **given: Any) -> None:
    """Save the evidence of this machine, or of another one, before it is destroyed.

    Exits 0 whenever a bundle was written, however partial; 1 when nothing could be written; 2 for wrong usage.

    \b
    postmortem collect -o bundle.tar.gz
    postmortem collect --log '/var/log/myapp/*.log' --script /opt/run.sh --deadline 10
    postmortem collect --ssh root@203.0.113.7:40022 -o bundle.tar.gz
    """
    from postmortem.collect import collect as run

    ended(run(options_of(given, output=output, ssh=ssh, ssh_options=ssh_options)))


@cli.command()
@collecting
def agent(**given: Any) -> None:
    """Print the collector as one POSIX sh script, for an image without Python.

    \b
    postmortem agent > /usr/local/bin/postmortem-agent
    postmortem-agent | gzip > capture.tar.gz          there; what it writes is not redacted
    """
    from postmortem.collect import agent_script

    write(agent_script(options_of(given)), None)


@cli.command()
@click.argument("capture", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", required=True, metavar="FILE|-", help="The sealed bundle.")
def seal(capture: str, output: str) -> None:
    """Make a redacted, hashed bundle of a raw capture.

    \b
    postmortem seal capture.tar.gz -o bundle.tar.gz
    """
    from postmortem.collect import seal_file

    ended(seal_file(capture, output))


def ended(result: Any) -> None:
    """One line on stderr, and the exit status that a hook may rely on."""
    click.echo(result.summary, err=True)
    sys.exit(result.code)
