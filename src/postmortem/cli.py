"""The command line: arguments in, exit statuses out, nothing else."""

from __future__ import annotations

import os
import sys
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import click

from postmortem import __version__
from postmortem.errors import PostmortemError, UsageError

STATUS = {"healthy": 0, "undecided": 5}
FAILED_WITH_CAUSE, FAILED_WITHOUT = 3, 4


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
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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


def moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """An RFC 3339 time with a zone."""
    if value is None:
        return None
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a time like 2026-11-30T12:00:00Z") from None
    if when.tzinfo is None:
        raise click.BadParameter(f"{value!r} has no zone; add Z or +02:00")
    return when


def zone(ctx: click.Context, param: click.Parameter, value: str | None) -> tzinfo | None:
    """A zone name such as Europe/Berlin, or UTC."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(value) if value else None
    except (ZoneInfoNotFoundError, ValueError):
        raise click.BadParameter(f"{value!r} is not a time zone such as Europe/Berlin or UTC") from None


@cli.command()
@click.argument("path")
@click.option("--format", "form", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report to a file.")
@click.option(
    "--signatures",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
    help="More signatures; may be given several times.",
)
@click.option(
    "--now", callback=moment, help="The moment of the analysis; default: the bundle's end or its newest stamp."
)
@click.option("--tz", callback=zone, help="The zone of stamps that have none; default: unknown, read as UTC.")
@click.option(
    "--exit-code", is_flag=True, help="Exit 0 healthy, 3 failed with a cause, 4 failed without one, 5 undecided."
)
@click.option("-v", "--verbose", is_flag=True, help="Show all evidence.")
def analyze(
    path: str,
    form: str,
    output: Path | None,
    signatures: tuple[Path, ...],
    now: datetime | None,
    tz: tzinfo | None,
    exit_code: bool,
    verbose: bool,
) -> None:
    """Say what happened: PATH is a bundle, a capture, a tar, a folder or one log file; - is standard input.

    \b
    postmortem analyze bundle.tar.gz
    postmortem analyze /var/log/myapp --format json
    dmesg | postmortem analyze -
    """
    from postmortem.analysis import analyze as run
    from postmortem.report import json, terminal

    report = run(path, now=now, tz=tz, signatures=signatures, stdin=sys.stdin.buffer if path == "-" else None)
    colour = wants_colour() and output is None
    write(json.render(report) if form == "json" else terminal.render(report, colour, verbose), output)
    sys.exit(exit_status(report) if exit_code else 0)


def exit_status(report: Any) -> int:
    """The exit status that --exit-code promises."""
    if report["status"] == "failed":
        return FAILED_WITH_CAUSE if report["root_cause"] else FAILED_WITHOUT
    return STATUS[report["status"]]


def wants_colour() -> bool:
    """Whether standard output takes colours: NO_COLOR and FORCE_COLOR first, then whether it is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def write(text: str, output: Path | None) -> None:
    """The text to the file, or to standard output as UTF-8 whatever the locale."""
    data = text.encode("utf-8", "replace")
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        raise PostmortemError(f"cannot write {output}: {error.strerror}; give another file with -o") from error


@cli.group()
def signatures() -> None:
    """Work with the failure signatures."""


@signatures.command("check")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def signatures_check(files: tuple[Path, ...]) -> None:
    """Run the samples of every entry, and name what cannot work."""
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
    """List the classes: id, role, title."""
    from postmortem.signatures import load

    for one in load(files).signatures:
        click.echo(f"{one.id:34s} {one.role:12s} {one.title}")


@cli.command()
@click.argument("what", type=click.Choice(["report", "signatures"]))
def schema(what: str) -> None:
    """Print a JSON Schema: of the report, or of signature files."""
    from importlib.resources import files

    folder, name = {"report": ("report", "schema.json"), "signatures": ("signatures", "schema.json")}[what]
    click.echo(files("postmortem").joinpath(folder, name).read_text(encoding="utf-8"), nl=False)


def main() -> None:
    """The console script."""
    cli(windows_expand_args=False)
