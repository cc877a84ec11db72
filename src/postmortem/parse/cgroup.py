"""Files of control groups, v1 and v2, one a member or many in one listing -> facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Parser, Reading
from postmortem.sources import without_compression

OWN = "own"  # the incident's group, where a folder does not say which
UNLIMITED = 1 << 60  # v1 prints "no limit" as 9223372036854771712
CONTROLLERS = frozenset(
    ("memory", "pids", "cpu", "cpuacct", "cpu,cpuacct", "cpuset", "freezer", "devices", "blkio", "systemd", "unified")
)

_VALUES = {
    "memory.max": "cgroup.memory.limit",
    "memory.limit_in_bytes": "cgroup.memory.limit",
    "memory.high": "cgroup.memory.soft_limit",
    "memory.soft_limit_in_bytes": "cgroup.memory.soft_limit",
    "memory.peak": "cgroup.memory.peak",
    "memory.max_usage_in_bytes": "cgroup.memory.peak",
    "memory.current": "cgroup.memory.current",
    "memory.usage_in_bytes": "cgroup.memory.current",
    "memory.failcnt": "cgroup.memory.failcnt",
    "pids.max": "cgroup.pids.max",
    "pids.current": "cgroup.pids.current",
}
_COUNTERS = {
    ("memory.events", "oom_kill"): "cgroup.memory.oom_kill",
    ("memory.events", "oom"): "cgroup.memory.oom",
    ("memory.events", "max"): "cgroup.memory.max_events",
    ("memory.events", "oom_group_kill"): "cgroup.memory.oom_group_kill",
    ("memory.events.local", "oom_kill"): "cgroup.memory.local.oom_kill",
    ("memory.events.local", "oom"): "cgroup.memory.local.oom",
    ("memory.oom_control", "oom_kill"): "cgroup.memory.oom_kill",
    ("memory.oom_control", "under_oom"): "cgroup.memory.under_oom",
    ("memory.oom_control", "oom_kill_disable"): "cgroup.memory.oom_kill_disable",
    ("pids.events", "max"): "cgroup.pids.max_events",
    ("cpu.stat", "nr_throttled"): "cgroup.cpu.nr_throttled",
    ("cgroup.events", "populated"): "cgroup.populated",
    ("cgroup.events", "frozen"): "cgroup.frozen",
}
_LIMITS = frozenset({"cgroup.memory.limit", "cgroup.memory.soft_limit", "cgroup.pids.max"})
_V1 = lazy(r"_in_bytes$|^memory\.(?:failcnt|oom_control)$")
_V2 = lazy(r"^memory\.(?:max|high|peak|current|events)$")

_FILE = lazy(r"((?:memory|pids|cpu|cgroup)\.[a-z_]+(?:\.local)?)(?:\.txt|\.log|\.out)?$")
_HEADING = lazy(r"^(?:==> (?P<head>\S.*) <==|(?:[$#>]+ )?cat (?P<cat>/?\S+)|(?P<colon>/\S+/[a-z]+\.[a-z_.]+):)\s*$")
_PREFIXED = lazy(r"^(?P<path>(?:/\S*/)?(?:memory|pids|cpu|cgroup)\.[a-z_.]+)[:=] ?(?P<value>\S.*)$")
_PATHS = lazy(r"^(?P<version>v[12]) (?P<controller>\S+) (?P<path>/.*?) (?P<folder>/\S*) (?P<mount>/\S*)$")


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Facts of a control group's limits and counters.

    `oom_kill 1` of memory.events, or `==> /sys/fs/cgroup/memory/docker/a/memory.failcnt <==` of a sweep, by the kernel.
    """
    path, versions = without_compression(reading.path), set[tuple[str, str]]()
    for line in reading.lines():
        raw = line.raw.strip()
        if heading := _HEADING.match(raw):
            path = heading["head"] or heading["cat"] or heading["colon"]
            continue
        if own := _PATHS.match(raw):
            yield from _own_path(reading, line.number, own)
            continue
        if prefixed := _PREFIXED.match(raw):
            path, raw = prefixed["path"], prefixed["value"]
        file, group = file_of(path), group_of(path)
        version = "v1" if _V1.search(file) else "v2" if _V2.search(file) else ""
        if version and (group, version) not in versions:
            versions.add((group, version))
            yield reading.fact("cgroup.version", version, line.number, entity={"cgroup": group})
        yield from _value(reading, line.number, file, raw, {"cgroup": group})


def file_of(path: str) -> str:
    """`memory.events` of `cgroup/self/v2/memory.events` or `own-memory.events.txt`; "" for another file."""
    found = _FILE.search(path.rsplit("/", 1)[-1])
    return found.group(1) if found else ""


def group_of(path: str) -> str:
    """The group that a file's path names: what follows the mount point, or `own` where nothing does."""
    folders = [part for part in path.split("/")[:-1] if part not in ("", ".")]
    if "cgroup" not in folders:
        return OWN
    at = len(folders) - 1 - folders[::-1].index("cgroup")
    mounted = folders[max(at - 2, 0) : at] == ["sys", "fs"]
    inside = folders[at + 1 :]
    while inside and (inside[0] in CONTROLLERS or (not mounted and inside[0] in ("self", "v1", "v2"))):
        inside = inside[1:]
    if inside:
        return "/" + "/".join(inside)
    return "/" if mounted else OWN


def _own_path(reading: Reading, number: int, found: re.Match[str]) -> Iterator[Fact]:
    """Where our own group is: a line of the collector's `cgroup/paths`."""
    if found["controller"] == "v2" or "memory" in found["controller"].split(","):
        yield reading.fact("cgroup.path", found["path"], number, entity={"cgroup": OWN})


def _value(reading: Reading, number: int, file: str, raw: str, entity: Mapping[str, str]) -> Iterator[Fact]:
    words = raw.split()
    if file in _VALUES and len(words) == 1 and words[0].isdigit():
        name, value = _VALUES[file], int(words[0])
        if name not in _LIMITS or value < UNLIMITED:
            yield reading.fact(name, value, number, _unit(name), entity)
    elif len(words) == 2 and words[1].isdigit() and (file, words[0]) in _COUNTERS:
        yield reading.fact(_COUNTERS[file, words[0]], int(words[1]), number, "count", entity)


def _unit(name: str) -> str:
    return "count" if name.endswith("failcnt") or ".pids." in name else "bytes"


def ratios(found: Iterable[Event | Fact]) -> Iterator[Fact]:
    """Peak over limit of every group that has both, as one value: the two stand in two members."""
    facts = [f for f in found if isinstance(f, Fact)]
    limits = {f.entity["cgroup"]: f.value for f in facts if f.name == "cgroup.memory.limit" and "cgroup" in f.entity}
    for peak in facts:
        limit = limits.get(peak.entity.get("cgroup", "")) if peak.name == "cgroup.memory.peak" else None
        if isinstance(limit, int) and limit > 0 and isinstance(peak.value, int):
            ratio = round(peak.value / limit, 4)
            yield Fact("cgroup.memory.peak_ratio", ratio, "1", peak.evidence, peak.entity)


JOIN: Callable[[Iterable[Event | Fact]], Iterator[Event | Fact]] = ratios
PARSER = Parser(name="cgroup", kinds=frozenset({Kind.CGROUP}), read=read)
