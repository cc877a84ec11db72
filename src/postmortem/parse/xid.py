"""Xid, SXid, lost-GPU and GSP lines -> events; the same record within seconds is one event with a count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from postmortem.model import Event, Fact
from postmortem.parse.kernel_line import KERNEL_KINDS, kernel_line
from postmortem.parse.nearness import seconds_of, within
from postmortem.parse.xid_lines import NEEDLES, gsp_fields, identity, lost_fields, sxid_fields, xid_fields
from postmortem.scene import Parser, Reading

SAME_S = 5.0
OLD_FORM_LINES = 3  # "The NVIDIA GPU …" / "(PCI ID: …) installed in this system has" / "fallen off the bus …"

_FORMS: tuple[tuple[str, Callable[[str], dict[str, str] | None]], ...] = (
    ("gpu.xid", xid_fields),
    ("gpu.sxid", sxid_fields),
    ("gpu.gsp", gsp_fields),
)


@dataclass(slots=True)
class Group:
    """One record and its repeats."""

    kind: str
    key: tuple[str, ...]
    fields: dict[str, str]
    lines: list[int] = field(default_factory=list)
    last_s: float | None = None


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Events of the lines that NVIDIA's kernel drivers print about faults.

    `NVRM: Xid (PCI:0000:9b:00): 79, pid=2024380, name=python3, GPU has fallen off the bus.`, by the driver.
    """
    groups: list[Group] = []
    latest: dict[tuple[str, ...], Group] = {}
    lost: dict[str, int] = {}
    for number in reading.nominated:
        line = kernel_line(reading, number)
        if line is None:
            continue
        if known := identity(line.message):
            yield reading.fact("gpu.uuid", known[1], number, entity={"gpu": known[0]})
        elif found := _record(line.message):
            _add(groups, latest, *found, number=number, now_s=seconds_of(reading, number))
        elif gpu := _lost_gpu(reading, number, line.message):
            lost.setdefault(gpu, number)
    yield from (_event(reading, group) for group in groups)
    told = {group.fields.get("gpu") for group in groups if group.fields.get("xid") == "79"}
    yield from (reading.event("gpu.lost", at, {"gpu": gpu}) for gpu, at in lost.items() if gpu not in told)


def _record(message: str) -> tuple[str, dict[str, str]] | None:
    for kind, fields_of in _FORMS:
        fields = fields_of(message)
        if fields is not None:
            return kind, fields
    return None


def _lost_gpu(reading: Reading, number: int, message: str) -> str:
    """The GPU of a lost-device line; "" where the line does not say so (the older form takes three lines)."""
    fields = lost_fields(message)
    if fields is None:
        return ""
    if "fallen off the bus" in message:
        return fields["gpu"]
    after = (reading.raw(number + n) or "" for n in range(1, OLD_FORM_LINES + 1))
    return fields["gpu"] if any("fallen off the bus" in raw for raw in after) else ""


def _add(
    groups: list[Group],
    latest: dict[tuple[str, ...], Group],
    kind: str,
    fields: dict[str, str],
    number: int,
    now_s: float | None,
) -> None:
    names = ("xid", "sxid", "gpu", "pid", "what", "rpc", "link", "gpu_instance", "parent")
    key = (kind, *(fields.get(name, "") for name in names))
    group = latest.get(key)
    if group is None or not within(group.last_s, now_s, SAME_S):
        group = latest[key] = Group(kind, key, fields)
        groups.append(group)
    group.lines.append(number)
    group.last_s = now_s


def _event(reading: Reading, group: Group) -> Event:
    count = {"count": str(len(group.lines))} if len(group.lines) > 1 else {}
    return reading.event(group.kind, group.lines[0], group.fields | count, tuple(group.lines[1:4]))


PARSER = Parser(name="xid", kinds=KERNEL_KINDS, read=read, needles=NEEDLES, after=OLD_FORM_LINES)
