"""A kernel record written as each tool writes it."""

from __future__ import annotations

from collections.abc import Callable

from postmortem.model import Kind

Writer = Callable[[int, str], str]

# name -> (kind of source, writer of line number n with a message)
DIALECTS: dict[str, tuple[Kind, Writer]] = {
    "dmesg": (Kind.KERNEL, lambda n, m: f"[ 1564.{n:06d}] {m}"),
    "dmesg-T": (Kind.KERNEL, lambda n, m: f"[Sun Feb 23 16:24:{n % 60:02d} 2025] {m}"),
    "dmesg-x-iso": (Kind.KERNEL, lambda n, m: f"kern  :err   : 2025-01-21T08:41:{n % 60:02d},287197+00:00 {m}"),
    "kmsg": (Kind.KERNEL, lambda n, m: f"3,{1200 + n},{5678901000 + n},-;{m}"),
    "pstore": (Kind.KERNEL, lambda n, m: f"<4>[  201.{n:06d}] {m}"),
    "journal-short": (Kind.JOURNAL, lambda n, m: f"May 01 12:00:{n % 60:02d} host kernel: {m}"),
    "syslog": (Kind.JOURNAL, lambda n, m: f"May  6 00:38:{n % 60:02d} host kernel: [ 1564.{n:06d}] {m}"),
    "iso": (Kind.JOURNAL, lambda n, m: f"2026-05-01T12:00:{n % 60:02d}.123456+02:00 host kernel: {m}"),
}


def written(dialect: str, record: str) -> tuple[str, Kind]:
    """The record in a dialect, between two ordinary kernel lines."""
    kind, write = DIALECTS[dialect]
    lines = ["docker0: port 1(veth4107b89) entered forwarding state", *record.strip("\n").splitlines()]
    lines.append("eth0: renamed from vethc4a9156")
    return "\n".join(write(n, line) for n, line in enumerate(lines, 1)) + "\n", kind
