"""Machine-wide counters (meminfo, vmstat, stat, uptime, pressure, free) -> facts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Parser, Reading

KIB = 1024
SMALLEST_MIB_TOTAL = 1100  # below, `free` without a unit could be in GiB or in MiB
LARGEST_MIB_TOTAL = 1_000_000
LARGEST_KIB_TOTAL = 20_000_000_000

_MEMINFO = {
    "MemTotal": "total",
    "MemAvailable": "available",
    "SwapTotal": "swap_total",
    "SwapFree": "swap_free",
    "Shmem": "shmem",
    "Mlocked": "mlocked",
    "SUnreclaim": "slab_unreclaimable",
    "CommitLimit": "commit_limit",
    "Committed_AS": "committed",
}
_UNITS = {"B": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}

_KB = lazy(r"^(?P<name>\w+): +(?P<value>\d+) kB$")
_COUNTER = lazy(r"^(?P<name>oom_kill|btime|procs_blocked) (?P<value>\d+)$")
_PRESSURE = lazy(
    r"^(?P<who>some|full) avg10=(?P<avg10>[\d.]+) avg60=(?P<avg60>[\d.]+) "
    r"avg300=[\d.]+ total=(?P<total>\d+)"
)
_UPTIME = lazy(r"^(?P<up>\d+\.\d\d) \d+\.\d\d$")
_HEADING = lazy(r"^==> (?P<path>\S.*) <==$")
_RESOURCE = lazy(r"(memory|cpu|io)(?:\.pressure)?(?:\.txt)?$")
_COUNTERS = {
    "oom_kill": ("host.vmstat.oom_kill", "count"),
    "btime": ("host.boot_time", "s since 1970"),
    "procs_blocked": ("host.procs_blocked", "count"),
}


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Facts of the machine as a whole.

    `MemAvailable:   11482312 kB` of /proc/meminfo, `oom_kill 3` of /proc/vmstat, by the kernel; `Mem: …`, by free.
    """
    path, columns = reading.path, list[str]()
    for line in reading.lines():
        raw = line.raw.strip()
        if heading := _HEADING.match(raw):
            path = heading["path"]
        elif raw.split()[:3] == ["total", "used", "free"]:
            columns = raw.split()
        elif columns and (label := re.match(r"(Mem|Swap|-/\+ buffers/cache): +", raw)):
            yield from _free(reading, line.number, label.group(1), raw[label.end() :].split(), columns)
        else:
            yield from _counter(reading, line.number, raw, path)


def _counter(reading: Reading, number: int, raw: str, path: str) -> Iterator[Fact]:
    if (kb := _KB.match(raw)) and kb["name"] in _MEMINFO:
        yield reading.fact(f"host.mem.{_MEMINFO[kb['name']]}", int(kb["value"]) * KIB, number, "bytes")
    elif counter := _COUNTER.match(raw):
        name, unit = _COUNTERS[counter["name"]]
        yield reading.fact(name, int(counter["value"]), number, unit)
    elif uptime := _UPTIME.match(raw):
        yield reading.fact("host.uptime", float(uptime["up"]), number, "s")
    elif (pressure := _PRESSURE.match(raw)) and (resource := _RESOURCE.search(path)):
        name = f"host.pressure.{resource.group(1)}.{pressure['who']}"
        yield reading.fact(f"{name}_avg60", float(pressure["avg60"]), number, "percent")


def _free(reading: Reading, number: int, label: str, cells: list[str], columns: list[str]) -> Iterator[Fact]:
    """One row of free(1), in any of its units; without `available` (before procps 3.3.10) the second row has it."""
    if label.startswith("-/+"):
        cells = [cells[0], *cells]  # this row has no total
        wanted = {"free": "available"}
    elif label == "Mem":
        wanted = {"total": "total", "available": "available", "shared": "shmem"}
    else:
        wanted = {"total": "swap_total", "free": "swap_free"}
    row = dict(zip(columns, cells, strict=False))
    scale = _scale(reading)
    for column, name in wanted.items():
        value = _bytes(row.get(column, ""), scale)
        if value is not None:
            yield reading.fact(f"host.mem.{name}", value, number, "bytes")


def _scale(reading: Reading) -> int:
    """What a bare number of free(1) counts, by the size of the total: KiB, MiB or bytes; 0 if it cannot be told."""
    row = next((raw for _, raw in reading.source.text.kept() if raw.startswith("Mem:")), "")
    total = [*row.split(), "", ""][1]
    if not total.isdigit() or int(total) < SMALLEST_MIB_TOTAL:
        return 0
    if int(total) < LARGEST_MIB_TOTAL:
        return KIB * KIB
    return KIB if int(total) < LARGEST_KIB_TOTAL else 1


def _bytes(cell: str, scale: int) -> int | None:
    """`15Gi`, `4.0G`, `0B` or a bare number -> bytes."""
    found = re.fullmatch(r"([\d.]+)([BKMGTP]?)i?", cell)
    if found is None or not (found.group(2) or scale):
        return None
    factor = int(KIB ** _UNITS[found.group(2)]) if found.group(2) else scale
    return int(float(found.group(1)) * factor)


PARSER = Parser(name="host", kinds=frozenset({Kind.HOST}), read=read)
