"""Counters that the collector read twice -> what rose between the samples, by how much and in what time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.parse.cgroup import group_of
from postmortem.parse.smi_tree import of_text
from postmortem.parse.smi_values import number, pci
from postmortem.scene import Parser, Reading

SECOND = "sample2/"
STALL = 0.25  # of the time between the samples: below, some stall of memory or I/O is ordinary
_FIRST = ("host/", "cgroup/", "gpu/")
_TIMES = "sample2/times"
_INTERVAL = "sample.interval."
_SAMPLE_OF = (  # the prefix of a counter's name -> which of the collector's samples it belongs to
    ("gpu.aer", "pci"), ("fabric.", "pci"), ("gpu.", "smi"), ("cgroup.", "cgroup"), ("host.", "host"),
)  # fmt: skip
_RISE = frozenset(
    (
        "cgroup.memory.oom_kill", "cgroup.memory.oom", "cgroup.memory.max_events", "cgroup.memory.failcnt",
        "cgroup.memory.oom_group_kill", "cgroup.memory.local.oom_kill", "cgroup.memory.local.oom",
        "cgroup.pids.max_events", "cgroup.cpu.nr_throttled", "cgroup.cpu.throttled_us", "host.vmstat.oom_kill",
        "gpu.ecc_uncorrected", "gpu.ecc_uncorrected_total", "gpu.ecc_corrected", "gpu.replays",
    )
)  # fmt: skip
_RISE_BY_PREFIX = ("gpu.aer_", "gpu.throttled_us.", "fabric.")
_STALLS = lazy(r"(?:host|cgroup)\.pressure\.(?:memory|io)\.(?:some|full)_total")

_HEADING = lazy(r"^==> (?P<path>\S.*) <==$")
_PRESSURE = lazy(r"^(?P<who>some|full) avg10=\S+ avg60=\S+ avg300=\S+ total=(?P<us>\d+)")
_RESOURCE = lazy(r"(memory|cpu|io)(?:\.pressure)?$")
_THROTTLED = lazy(r"^throttled_(?P<unit>usec|time) (?P<value>\d+)$")
_AER = lazy(r"^(?P<bridge>bridge )?aer_dev_(?P<what>correctable|nonfatal|fatal):TOTAL_ERR_[A-Z]+ (?P<count>\d+)$")
_PORT = lazy(r"/infiniband/(?P<device>[^/]+)/ports/(?P<port>\d+)/(?:hw_)?counters/(?P<counter>\w+)$")
_FABRIC = frozenset(
    (
        "symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors", "port_xmit_discards",
        "local_link_integrity_errors", "excessive_buffer_overrun_errors", "out_of_sequence", "packet_seq_err",
        "local_ack_timeout_err",
    )
)  # fmt: skip
_ECC_CORRECTED = lazy(r"ecc_errors/volatile/(?:(?:sram|dram)_correctable|single_bit/total)")
_SLOWED = {
    "sw_power_capping": "sw_power",
    "sw_thermal_slowdown": "sw_thermal",
    "hw_thermal_slowdown": "hw_thermal",
    "hw_power_braking": "hw_power_brake",
    "sync_boost": "sync_boost",
}


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Counters that nobody else reads, in the collector's own members only.

    `some avg10=0.00 avg60=0.12 avg300=0.05 total=360091` of a pressure file and `throttled_usec 90411` of cpu.stat, by
    the kernel; `aer_dev_correctable:TOTAL_ERR_COR 12` and `host 41` (hundredths of a second), by the collector.
    """
    path = reading.path
    if path == _TIMES:
        yield from _times(reading)
    elif path.startswith((*_FIRST, SECOND)):
        if reading.source.kind is Kind.SMI:
            yield from _smi(reading)
        elif reading.source.kind is not Kind.PROBE:
            yield from _lines(reading)


def _times(reading: Reading) -> Iterator[Fact]:
    for line in reading.lines():
        if found := re.fullmatch(r"(host|cgroup|pci|smi) (\d+)", line.raw.strip()):
            yield reading.fact(f"{_INTERVAL}{found[1]}", int(found[2]) / 100, line.number, "s")


def _lines(reading: Reading) -> Iterator[Fact]:
    path, gpu = reading.path, ""
    for line in reading.lines():
        raw = line.raw.strip()
        if heading := _HEADING.match(raw):
            path = heading["path"]
            gpu = pci(path)
        elif (stall := _PRESSURE.match(raw)) and (resource := _RESOURCE.search(path)):
            of, entity = ("cgroup", {"cgroup": group_of(path)}) if "cgroup" in path else ("host", {})
            name = f"{of}.pressure.{resource[1]}.{stall['who']}_total"
            yield reading.fact(name, int(stall["us"]), line.number, "us", entity)
        elif (slow := _THROTTLED.match(raw)) and path.endswith("cpu.stat"):
            value = int(slow["value"]) // (1 if slow["unit"] == "usec" else 1000)
            yield reading.fact("cgroup.cpu.throttled_us", value, line.number, "us", {"cgroup": group_of(path)})
        elif aer := _AER.match(raw):
            where = {"gpu": gpu} if not aer["bridge"] else {"gpu": gpu, "port": "bridge"}
            yield reading.fact(f"gpu.aer_{aer['what']}", int(aer["count"]), line.number, "count", where)
        elif raw.isdigit() and (port := _PORT.search(path)) and port["counter"] in _FABRIC:
            entity = {"port": f"{port['device']}/{port['port']}"}
            yield reading.fact(f"fabric.{port['counter']}", int(raw), line.number, "count", entity)


def _smi(reading: Reading) -> Iterator[Fact]:
    corrected: dict[str, tuple[int, int]] = {}
    for leaf in of_text(reading.source.text.kept()):
        value, gpu = number(leaf.value), pci(leaf.gpu)
        if not gpu or not isinstance(value, int):
            continue
        if _ECC_CORRECTED.fullmatch(leaf.path):
            corrected[gpu] = (corrected.get(gpu, (0, 0))[0] + value, leaf.line)
        elif (reason := _SLOWED.get(leaf.path.rpartition("/")[2])) and "reasons_counters" in leaf.path:
            yield reading.fact(f"gpu.throttled_us.{reason}", value, leaf.line, "us", {"gpu": gpu})
    for gpu, (count, line) in corrected.items():
        yield reading.fact("gpu.ecc_corrected", count, line, "count", {"gpu": gpu})


def rising(found: Iterable[Event | Fact]) -> Iterator[Event]:
    """An event for each counter whose second value is higher than its first."""
    facts = [f for f in found if isinstance(f, Fact)]
    seconds = {f.name.removeprefix(_INTERVAL): float(f.value) for f in facts if f.name.startswith(_INTERVAL)}
    if not seconds:
        return
    firsts: dict[tuple[str, str], Fact] = {}
    told: set[tuple[str, str]] = set()
    for fact in facts:
        if fact.evidence.source.startswith(_FIRST):
            firsts.setdefault(_key(fact), fact)
    for fact in facts:
        key = _key(fact)
        first = firsts.get(key)
        if first is None or key in told or not fact.evidence.source.startswith(SECOND):
            continue
        if event := _risen(first, fact, seconds.get(_sample(fact.name), 0.0)):
            told.add(key)
            yield event


def _risen(first: Fact, second: Fact, seconds: float) -> Event | None:
    stalls = bool(_STALLS.fullmatch(first.name))
    if not (stalls or first.name in _RISE or first.name.startswith(_RISE_BY_PREFIX)) or seconds <= 0:
        return None
    if not isinstance(first.value, int) or not isinstance(second.value, int) or second.value <= first.value:
        return None
    rise = second.value - first.value
    fields = {
        "counter": first.name,
        "first": str(first.value),
        "second": str(second.value),
        "rise": str(rise),
        "seconds": f"{seconds:.2f}",
        "rate": f"{round(rise / seconds, 2):g}",
        **first.entity,
    }
    if first.unit == "us":
        share = rise / seconds / 1e6
        if stalls and share < STALL:
            return None
        fields["percent"] = f"{min(share, 1) * 100:.0f}"
    evidence = second.evidence
    more = (first.evidence,)
    return Event("counter.rising", evidence.source, evidence.line, evidence.text, evidence.when, fields, more)


def _key(fact: Fact) -> tuple[str, str]:
    entity: Mapping[str, str] = fact.entity
    whom = entity.get("gpu") or entity.get("cgroup") or entity.get("index") or ""
    return fact.name, f"{whom} {entity.get('port', '')}"


def _sample(name: str) -> str:
    return next((sample for prefix, sample in _SAMPLE_OF if name.startswith(prefix)), "")


JOIN: Callable[[Iterable[Event | Fact]], Iterator[Event | Fact]] = rising
PARSER = Parser(
    name="samples", kinds=frozenset({Kind.HOST, Kind.CGROUP, Kind.LISTING, Kind.SMI, Kind.PROBE}), read=read
)
