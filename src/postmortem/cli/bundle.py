"""verify, redact, ship, unpush: what is done with a bundle that is there."""

from __future__ import annotations

import sys
from typing import TextIO

import click

from postmortem.cli.collect import ended
from postmortem.cli.group import cli


@cli.command()
@click.argument("bundle", type=click.Path(exists=True, dir_okay=False))
@click.option("--public-key", metavar="KEY|FILE", help="Also check BUNDLE.minisig, by the minisign program.")
def verify(bundle: str, public_key: str | None) -> None:
    """Check a bundle's hashes, order and completeness.

    Exits 0 when it is whole, 3 when it is sound but partial, 1 when it is damaged.

    \b
    postmortem verify bundle.tar.gz
    """
    from postmortem.collect.sign import check
    from postmortem.collect.verify import verify as run

    verdict = run(bundle)
    if public_key:
        verdict.damage += check(bundle, public_key)
    for text in verdict.damage:
        click.echo(f"damaged: {text}")
    for text in verdict.missing:
        click.echo(f"partial: {text}")
    secrets = {True: "redacted", False: "NOT redacted", None: "not known to be redacted"}[verdict.redacted]
    click.echo(f"{verdict.members} members, {secrets}" + (", whole" if not verdict.damage + verdict.missing else ""))
    sys.exit(1 if verdict.damage else 3 if verdict.missing else 0)


@cli.command()
@click.argument("bundle", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", required=True, metavar="FILE|-", help="The bundle without secrets.")
def redact(bundle: str, output: str) -> None:
    """Take the secrets out of a bundle that was made with --no-redact.

    \b
    postmortem redact unredacted.tar.gz -o bundle.tar.gz
    """
    from postmortem.collect.redaction import redact_bundle

    ended(redact_bundle(bundle, output))


@cli.command()
@click.argument("bundle", type=click.Path(exists=True, dir_okay=False))
@click.argument("targets", nargs=-1, required=True, metavar="URL|env:NAME|@FILE...")
@click.option("--deadline", type=click.FloatRange(1, 3600), default=60.0, show_default=True, metavar="SECONDS")
def ship(bundle: str, targets: tuple[str, ...], deadline: float) -> None:
    """Send a bundle that is there; what a receiver acknowledged before is not sent again.

    Exits 0 when all targets have it, else 1.

    \b
    postmortem ship bundle.tar.gz env:UPLOAD_URL
    """
    import os
    import time

    from postmortem.collect.ship import Bundle, ship_all, target_of

    urls = [target_of(text) for text in targets]
    receipts = ship_all(Bundle(os.path.basename(bundle), None, bundle), urls, time.monotonic() + deadline)
    for receipt in receipts:
        click.echo(receipt.text, err=True)
    sys.exit(0 if all(receipt.done for receipt in receipts) else 1)


@cli.command()
@click.argument("log", type=click.File("r", encoding="utf-8", errors="replace"))
def unpush(log: TextIO) -> None:
    """Put bundles together that came by log-push: LOG holds the pushed lines, whatever stands around them.

    \b
    postmortem unpush service.log
    """
    from postmortem.collect.ship.push import together
    from postmortem.errors import CollectError

    try:
        found = together(log)
    except ValueError as error:
        raise CollectError(str(error)) from error
    if not found:
        raise CollectError("no line of a bundle is there")
    for name, data in found.items():
        name = name.replace("/", "_")
        with open(name, "xb") as file:
            file.write(data)
        click.echo(name)
