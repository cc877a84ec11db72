"""What was noted of a script beside its text: the collector's `.meta` member, the output of stat(1) and sha256sum."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Parser, Reading

_PAIR = lazy(
    r"^(?P<key>path|sha256|inode|mtime_epoch|ctime_epoch|bash_n|run_by_\w+|shebang|crlf|bytes): (?P<value>.*\S)"
)
_STAT = lazy(r"^\s*File: [‘'\"]?(?P<path>[^’'\"]+?)[’'\"]?(?: -> .*)?$")
_TIME = lazy(
    r"^\s*(?P<key>Modify|Change|Birth): (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?)\d* (?P<zone>[+-]\d{4})"
)
_INODE = lazy(r"\bInode: (?P<inode>\d+)")
_SUM = lazy(r"^(?P<sum>[0-9a-f]{64}) [ *](?P<path>\S.*)$")
_PLAIN = {
    "sha256": "sha256",
    "inode": "inode",
    "run_by_pid": "run_pid",
    "run_by_inode": "run_inode",
    "run_by_state": "run_state",
}
_TIMES = {"mtime_epoch": "mtime", "ctime_epoch": "ctime", "run_by_start_epoch": "run_start"}
_STAT_TIMES = {"Modify": "mtime", "Change": "ctime", "Birth": "birth"}
_FAULT = lazy(r"line (?P<line>\d+): ")


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Notes such as `mtime_epoch: 1781145490` of our collector, or stat's `Modify: 2026-07-30 22:08:10.90 +0000`."""
    if reading.path.endswith(".meta"):
        yield from _meta(reading)
    else:
        yield from _stat(reading)


def _meta(reading: Reading) -> Iterator[Fact]:
    name = PurePosixPath(reading.path).name.removesuffix(".meta")
    broken = False
    for number, raw in reading.source.text.kept():
        match = _PAIR.match(raw)
        if match is None:
            continue
        key, value = match["key"], match["value"]
        if key == "path":
            name = PurePosixPath(value).name
        entity = {"script": name}
        if key in _PLAIN:
            yield reading.fact(f"script.{_PLAIN[key]}", value, number, "", entity)
        elif key in _TIMES and value.isdigit():
            yield reading.fact(f"script.{_TIMES[key]}", _iso(int(value)), number, "UTC", entity)
        elif key == "bash_n" and not broken and not value.startswith("unknown"):
            broken = value != "ok"
            yield reading.fact("script.bash_n_ok", not broken, number, "", entity)
            if broken and (fault := _FAULT.search(value)):
                yield reading.fact("script.bash_n_line", int(fault["line"]), number, "line", entity)


def _iso(epoch: int) -> str:
    return datetime.fromtimestamp(epoch, UTC).isoformat()


def _stat(reading: Reading) -> Iterator[Fact]:
    """stat(1): `File:` names the file that the lines below speak of; a log kept in part is too long for it."""
    if not reading.source.text.whole:
        return
    entity: dict[str, str] = {}
    for number, raw in reading.source.text.kept():
        if match := _STAT.match(raw):
            entity = {"script": PurePosixPath(match["path"]).name}
        elif match := _SUM.match(raw):
            named = {"script": PurePosixPath(match["path"]).name}
            yield reading.fact("script.sha256", match["sum"], number, "", named)
        elif entity and (match := _TIME.match(raw)):
            when = datetime.fromisoformat(f"{match['time']}{match['zone']}").astimezone(UTC)
            yield reading.fact(f"script.{_STAT_TIMES[match['key']]}", when.isoformat(), number, "UTC", entity)
        elif entity and (match := _INODE.search(raw)):
            yield reading.fact("script.inode", match["inode"], number, "", entity)


PARSER = Parser(name="script-meta", kinds=frozenset({Kind.LISTING, Kind.PROBE, Kind.CONFIG, Kind.LOG}), read=read)
