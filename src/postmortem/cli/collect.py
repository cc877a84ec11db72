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
    click.option(
        "--profile",
        type=click.Choice(("gpu-container", "vm", "pod", "slurm", "minimal")),
        default=None,
        help="What kind of machine it is; without it, what fits all.",
    ),
    click.option("--incident", metavar="ID", help="Goes into the bundle and its name."),
    click.option(
        "--sample",
        type=click.FloatRange(0, 600),
        default=0.0,
        metavar="SECONDS",
        help="Read moving counters again after so long.",
    ),
    click.option(
        "--allow",
        multiple=True,
        type=click.Choice(("signals", "vendor")),
        help="Also probes that do more than read: stacks of the job's programs by signals, the GPU vendor's report.",
    ),
)


TARGETING = (
    click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        metavar="FILE|-",
        help="Default: postmortem-HOST-UTC[-INCIDENT].tar.gz; - is standard output. Several are filled at once.",
    ),
    click.option("--ssh", metavar="[USER@]HOST[:PORT]", help="Collect from another machine, by the system's ssh."),
    click.option("--ssh-option", "ssh_options", multiple=True, metavar="OPT", help="An -o option of ssh: ProxyJump=…"),
    click.option("--docker", metavar="CONTAINER", help="Collect inside a container, by docker exec."),
    click.option("--kubectl", metavar="[NAMESPACE/]POD[:CONTAINER]", help="Collect inside a pod, by kubectl exec."),
    click.option("--kubectl-option", "kubectl_options", multiple=True, metavar="OPT", help="Such as --context=NAME."),
    click.option(
        "--attach", multiple=True, metavar="NAME=COMMAND", help="Also keep what this command says here, on this side."
    ),
    click.option(
        "--ship",
        multiple=True,
        metavar="URL|env:NAME|@FILE",
        help="Also send it: https (PUT), post+https, logpush+https, s3, ssh. A secret URL comes from NAME or FILE.",
    ),
    click.option("--encrypt-to", multiple=True, metavar="KEY", help="Encrypt to this public key of age; needs pyrage."),
    click.option("--sign", metavar="FILE", help="Sign with this secret key of minisign; needs that program."),
    click.option("--no-redact", is_flag=True, help="Keep secrets; the file's name must contain 'unredacted'."),
)


def targeting(command: Any) -> Any:
    """The options that `collect` and `guard` share."""
    for option in reversed((*TARGETING, *COLLECTING)):
        command = option(command)
    return command


def options_of(given: dict[str, Any]) -> Any:
    """The collector's options. Raises UsageError."""
    from postmortem.collect import CollectOptions, split_label
    from postmortem.collect.options import attach_of

    logs = tuple(split_label(text) for text in given.pop("logs"))
    given["profile"] = given.pop("profile") or ""
    if "outputs" in given:
        first, *copies = given.pop("outputs") or (None,)
        attach = tuple(attach_of(text) for text in given.pop("attach"))
        given |= {"output": first, "copies": tuple(copies), "attach": attach, "redact": not given.pop("no_redact")}
    return CollectOptions(logs=logs, argv=tuple(sys.argv[1:]), spent=age(), **given)


def age() -> float:
    """Seconds since this process began: the deadline counts from there."""
    import os
    import time

    try:
        with open("/proc/self/stat", "rb") as stat, open("/proc/uptime", "rb") as uptime:
            began = int(stat.read().rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
            return min(max(float(uptime.read().split()[0]) - began, 0.0), 5.0)
    except (OSError, ValueError, IndexError):
        return time.process_time()


@cli.command()
@targeting
def collect(**given: Any) -> None:
    """Save the evidence of this machine, or of another one, before it is destroyed.

    Exits 0 whenever a bundle was written, however partial; 1 when nothing could be written; 2 for wrong usage.

    \b
    postmortem collect -o bundle.tar.gz
    postmortem collect --log '/var/log/myapp/*.log' --script /opt/run.sh --deadline 10
    postmortem collect --ssh root@203.0.113.7:40022 -o bundle.tar.gz
    postmortem collect --kubectl prod/worker-0 --ship env:UPLOAD_URL -o bundle.tar.gz
    """
    from postmortem.collect import collect as run
    from postmortem.collect.footprint import be_humble

    be_humble()
    ended(run(options_of(given)))


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
