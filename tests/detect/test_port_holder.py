"""Who holds a port, and which kernel ran."""

from __future__ import annotations

import pytest
from scene_texts import seen

from postmortem.detect import port_holder
from postmortem.model import Kind
from postmortem.parse import kernel_release
from reading import facts

REFUSED = "INFO starting\nError: failed to bind 127.0.0.1:7070\nCaused by:\n    Address already in use (os error 98)\n"
SS = 'State  Recv-Q Send-Q Local:Port Peer:Port Process\nLISTEN 0 128 {at} 0.0.0.0:* users:(("webd",pid=31,fd=9))\n'
NETSTAT = (
    "Proto Recv-Q Send-Q Local Address Foreign Address State PID/Program name\ntcp 0 0 {at} 0.0.0.0:* LISTEN 31/webd\n"
)
LSOF = "COMMAND PID USER FD TYPE DEVICE SIZE/OFF NODE NAME\nwebd 31 root 6u IPv4 1234 0t0 TCP {at} (LISTEN)\n"


@pytest.mark.parametrize(
    ("log", "listing", "holders"),
    [
        (REFUSED, SS.format(at="127.0.0.1:7070"), [("7070", "31")]),
        (REFUSED, NETSTAT.format(at="0.0.0.0:7070"), [("7070", "31")]),
        (REFUSED, LSOF.format(at="*:7070"), [("7070", "31")]),
        (REFUSED, SS.format(at="127.0.0.1:7071"), []),
        ("INFO listening on 127.0.0.1:7070\n", SS.format(at="127.0.0.1:7070"), []),
    ],
    ids=["ss", "netstat", "lsof", "another port", "no complaint"],
)
def test_port_holder(log: str, listing: str, holders: list[tuple[str, str]]) -> None:
    events, _ = seen(port_holder.DETECTOR, {"app.log": (Kind.LOG, log), "ss.txt": (Kind.LISTING, listing)})
    assert [(e.fields["port"], e.fields["holder_pid"]) for e in events] == holders


@pytest.mark.parametrize(
    ("line", "release"),
    [
        ("[    0.000000] Linux version 6.8.0-50-generic (build@host) (gcc 13) #51 SMP", "6.8.0-50-generic"),
        ("[   12.000000] CPU: 3 PID: 7 Comm: x Not tainted 5.14.0-1.el9.x86_64 #1", "5.14.0-1.el9.x86_64"),
        ("[   12.000000] CPU: 3 PID: 7 Comm: x Tainted: G   OE   4.18.0-80.el8 #1 SMP", "4.18.0-80.el8"),
        ("[   12.000000] Pid: 7, comm: java Not tainted 2.6.32-5.el6.x86_64 #1", "2.6.32-5.el6.x86_64"),
        ("[   12.000000] nvidia: module verification failed: tainting kernel", None),
    ],
    ids=["boot", "not tainted", "tainted", "old", "a word"],
)
def test_kernel_release(line: str, release: str | None) -> None:
    found = facts(kernel_release.PARSER, line + "\n", Kind.KERNEL, "dmesg.txt")
    assert list(found.values()) == ([release] if release else [])
