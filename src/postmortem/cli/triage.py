"""triage, query, signatures suggest: many bundles."""

from __future__ import annotations

import sys
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import click

from postmortem.cli.analyze import moment, zone
from postmortem.cli.group import cli
from postmortem.cli.output import wants_colour, write
from postmortem.cli.signatures import signatures as signatures_group

FORMATS = ("table", "json", "csv", "html")


def since_when(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """A day, an RFC 3339 time, or how long ago: 36h, 7d."""
    from postmortem.triage.since import parse_since

    try:
        return parse_since(value) if value else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@cli.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH|GLOB|s3://BUCKET/PREFIX...")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Keep rows, summary and dashboard here.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--jobs", type=click.IntRange(1, 1024), help="Bundles at a time; default: one for each CPU.")
@click.option("--scheduler", metavar="tcp://HOST:PORT", help="Read on the workers of this Dask cluster.")
@click.option("--since", callback=since_when, metavar="TIME|36h|7d", help="Only what failed since then.")
@click.option("--by", metavar="host,gpu,...", help="Count by these columns too.")
@click.option("--resume", is_flag=True, help="Read only what OUT has no row of yet.")
@click.option("--reports", type=click.Choice(["examples", "all", "none"]), default="examples", show_default=True,
              help="HTML reports in OUT beside the dashboard.")  # fmt: skip
@click.option("--wall-limit", type=click.FloatRange(0.1, 86400), default=60.0, show_default=True, metavar="SECONDS",
              help="For one bundle.")  # fmt: skip
@click.option("--memory-limit", type=click.IntRange(0), default=2048, show_default=True, metavar="MIB",
              help="Of address space, for one bundle; 0: none.")  # fmt: skip
@click.option(
    "--prom", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write a Prometheus textfile."
)
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write JUnit XML.")
@click.option(
    "--signatures", type=click.Path(dir_okay=False, exists=True, path_type=Path), multiple=True, help="More signatures."
)
@click.option("--now", callback=moment, help="The moment of the analysis of each bundle.")
@click.option("--tz", callback=zone, help="The zone of stamps that have none.")
def triage(paths: tuple[str, ...], form: str, now: datetime | None, tz: tzinfo | None, **given: Any) -> None:
    """Read many bundles; say what fails, where, since when, and what to fix first.

    A folder is searched for archives (.tar.gz .tgz .tar); one without any is a bundle itself. A bundle that cannot be
    read, or takes too long or too much memory, is a row that says why, and the others go on.

    \b
    postmortem triage /var/archive --out state --resume --format html > fleet.html
    postmortem triage s3://bucket/incidents --scheduler tcp://10.0.0.5:8786 --out state
    """
    from postmortem.triage.command import Wanted
    from postmortem.triage.command import triage as run

    wanted = Wanted(paths, form=form, now=now.isoformat() if now else "", tz=str(tz) if tz else "", **given)
    text, code = run(wanted, progress=sys.stderr.isatty(), colour=wants_colour())
    write(text, None)
    sys.exit(code)


@cli.command()
@click.argument("sql")
@click.option(
    "--out", type=click.Path(file_okay=False, exists=True, path_type=Path), required=True, help="Of a triage run."
)
@click.option("--format", "form", type=click.Choice(["table", "json", "csv"]), default="table", show_default=True)
@click.option(
    "--to", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.parquet", help="Write Parquet, CSV or JSON."
)
def query(sql: str, out: Path, form: str, to: Path | None) -> None:
    """Ask the rows of a triage run in SQL (DuckDB); the table is called rows.

    \b
    postmortem query --out state "select class, count(*) n from rows group by all order by n desc"
    """
    from postmortem.triage.query import query as run

    write(run(out, sql, form, to), None)


@signatures_group.command("suggest")
@click.argument("cluster")
@click.option(
    "--out", type=click.Path(file_okay=False, exists=True, path_type=Path), required=True, help="Of a triage run."
)
def suggest(cluster: str, out: Path) -> None:
    """Print the beginning of a signature for a CLUSTER of unknown failures that triage named.

    \b
    postmortem signatures suggest 4f2a91c07d3b --out state
    """
    from postmortem.triage.suggest import suggest as run

    write(run(out, cluster), None)
