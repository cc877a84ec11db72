"""Boots within a log, and zombies that pile up."""

from __future__ import annotations

import pytest
from scene_texts import seen

from postmortem.detect import boots, zombie_pile
from postmortem.model import Kind

HEAD = "    PID    PPID STAT COMMAND\n      1       0 Ss   /bin/bash /start.sh\n"
LINUX = "[    0.000000] Linux version 6.8.0-50-generic (build@host) (gcc 13) #51 SMP\n"


@pytest.mark.parametrize(
    ("text", "kind", "lines"),
    [
        (LINUX + "[    1.0] usb: new device\n", Kind.KERNEL, []),
        ("[ 9999.1] NVRM: Xid (PCI:0000:3b:00): 79, x\n" + LINUX + "[    1.0] usb\n", Kind.KERNEL, [2]),
        ("Nov 03 05:55:21 sim3 kernel: a\n-- Reboot --\nNov 19 09:00:00 sim3 kernel: b\n", Kind.JOURNAL, [2]),
        ("Nov 03 05:55:21 sim3 app[1]: Linux version 6.8 is supported\nNov 03 05:55:22 sim3 app[1]: Linux version 6.8 is supported\n", Kind.JOURNAL, []),
    ],
    ids=["the log begins with it", "a second boot below", "journal's marker", "a program's words"],
)
def test_boots(text: str, kind: Kind, lines: list[int]) -> None:
    events, _ = seen(boots.DETECTOR, {"k": (kind, text)})
    assert [e.line for e in events] == lines


@pytest.mark.parametrize(
    ("dead", "piles"),
    [([("11", "1")] * 1, []), ([(str(20 + n), "1") for n in range(4)], []), ([(str(20 + n), "1") for n in range(7)], [("1", "7")]), ([(str(20 + n), str(n)) for n in range(7)], [])],
    ids=["one", "four", "seven of one parent", "seven of seven parents"],
)
def test_zombie_piles(dead: list[tuple[str, str]], piles: list[tuple[str, str]]) -> None:
    rows = "".join(f"{pid:>7} {ppid:>7} Z    [probe] <defunct>\n" for pid, ppid in dead)
    events, _ = seen(zombie_pile.DETECTOR, {"ps.txt": (Kind.PS, HEAD + rows)})
    assert [(e.fields["ppid"], e.fields["dead"]) for e in events] == piles
