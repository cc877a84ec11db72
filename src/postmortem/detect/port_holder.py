"""Who holds the port that a program could not bind: the complaint in a log, the holder in a list of sockets."""

from __future__ import annotations

from collections.abc import Iterator

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Reading, Scene

COMPLAINT = r"(?i)address (?:is )?already in use|EADDRINUSE|port is already allocated|only one usage of each socket"
NEEDLES = (COMPLAINT,)
LONGEST = 2000  # characters of a line that are looked at
NEAR_LINES = 6  # a program names the port in its message or in the lines around the errno
_PORT = lazy(r"(?<![\d.])(?:[\w.*\]-]*:|port[ =:]+)(\d{2,5})\b")
# `LISTEN 0 128 127.0.0.1:80 0.0.0.0:* users:(("nginx",pid=7,fd=9))` (ss), `tcp ... 0.0.0.0:80 ... 7/nginx` (netstat)
_SS = lazy(r'[\s*\]]:?(?:\S*:)?(?P<port>\d+)\s+\S+:\S+\s+users:\(\("(?P<comm>[^"]+)",pid=(?P<pid>\d+)')
_NETSTAT = lazy(r"^(?:tcp|udp)\S*\s+\d+\s+\d+\s+\S*:(?P<port>\d+)\s+\S+:\S+\s.*?(?P<pid>\d+)/(?P<comm>\S+)\s*$")
# `nginx   7 root   6u  IPv4  1234  0t0  TCP *:80 (LISTEN)` (lsof -i)
_LSOF = lazy(r"^(?P<comm>\S+)\s+(?P<pid>\d+)\s.*\b(?:TCP|UDP)\s+\S*:(?P<port>\d+)(?:\s+\(LISTEN\))?\s*$")


def detect(scene: Scene) -> Iterator[Event | Fact]:
    """One `port.holder` for each socket whose port a program could not bind."""
    asked = {port for reading in scene.readings for port in wanted(reading)}
    if not asked:
        return
    for reading in scene.of_kind(Kind.LISTING):
        for number, raw in reading.source.text.kept():
            match = _SS.search(raw) or _NETSTAT.match(raw) or _LSOF.match(raw)
            if match and match["port"] in asked:
                fields = {"port": match["port"], "holder": match["comm"], "holder_pid": match["pid"]}
                yield reading.event("port.holder", number, fields)


def wanted(reading: Reading) -> Iterator[str]:
    """The ports named near a complaint."""
    if reading.source.kind not in (Kind.LOG, Kind.JOURNAL, Kind.CONTAINER):
        return
    for hit in reading.hits(COMPLAINT):
        for number in range(max(1, hit - NEAR_LINES), hit + NEAR_LINES + 1):
            yield from _PORT.findall((reading.raw(number) or "")[:LONGEST])


DETECTOR = detect
