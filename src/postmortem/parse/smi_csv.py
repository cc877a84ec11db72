"""`nvidia-smi --query-gpu=... --format=csv`: rows under a header that names the columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping

from postmortem.model import Fact
from postmortem.parse.smi_values import BROKEN, Convert, active, number, pci, state_of, text_or_none, yes
from postmortem.scene import Reading

_QUERY: Mapping[str, tuple[str, str, Convert]] = {
    "name": ("gpu.name", "", text_or_none),
    "driver_version": ("gpu.driver", "", text_or_none),
    "memory.used": ("gpu.memory_used", "MiB", number),
    "memory.total": ("gpu.memory_total", "MiB", number),
    "temperature.gpu": ("gpu.temperature", "C", number),
    "power.draw": ("gpu.power_draw", "W", number),
    "power.limit": ("gpu.power_cap", "W", number),
    "ecc.errors.uncorrected.volatile.total": ("gpu.ecc_uncorrected", "count", number),
    "ecc.errors.uncorrected.aggregate.total": ("gpu.ecc_uncorrected_total", "count", number),
    "pcie.link.gen.current": ("gpu.pcie_gen", "", number),
    "pcie.link.gen.gpucurrent": ("gpu.pcie_gen", "", number),
    "pcie.link.gen.max": ("gpu.pcie_gen_max", "", number),
    "pcie.link.width.current": ("gpu.pcie_width", "", number),
    "pcie.link.width.max": ("gpu.pcie_width_max", "", number),
    "mig.mode.current": ("gpu.mig", "", text_or_none),
    "compute_mode": ("gpu.compute_mode", "", text_or_none),
    "pstate": ("gpu.pstate", "", text_or_none),
    "count": ("gpu.count", "count", number),
    "remapped_rows.failure": ("gpu.remap_failure", "", yes),
    "remapped_rows.pending": ("gpu.remap_pending", "", yes),
    "retired_pages.pending": ("gpu.retired_pending", "", yes),
    "gpu_recovery_action": ("gpu.recovery_action", "", text_or_none),
    "fabric.state": ("gpu.fabric_state", "", text_or_none),
}
_SLOW = {
    "hw_slowdown": "hw",
    "hw_thermal_slowdown": "hw_thermal",
    "hw_power_brake_slowdown": "hw_power_brake",
    "sw_thermal_slowdown": "sw_thermal",
    "sw_power_cap": "sw_power",
}


def _query(column: str) -> tuple[str, str, Convert] | None:
    if match := re.fullmatch(r"clocks_(?:event|throttle)_reasons\.(\w+)", column):
        return (f"gpu.slowdown.{_SLOW[match[1]]}", "", active) if match[1] in _SLOW else None
    return _QUERY.get(column)


def read_csv(reading: Reading, lines: list[tuple[int, str]]) -> Iterator[Fact]:
    """Rows under a header such as `index, name, pci.bus_id, memory.used [MiB]`; without a header nothing is known."""
    columns: list[str] = []
    for line, raw in lines:
        cells = [cell.strip() for cell in next(csv.reader([raw], skipinitialspace=True), [])]
        names = [re.sub(r"\s*\[.*\]$", "", cell) for cell in cells]
        if (
            len(names) > 1
            and sum(_query(name) is not None or name in ("index", "pci.bus_id", "uuid") for name in names) > 1
        ):
            columns = names
        elif columns and len(cells) == len(columns):
            yield from _row(reading, line, dict(zip(columns, cells, strict=True)))


def _row(reading: Reading, line: int, row: Mapping[str, str]) -> Iterator[Fact]:
    address = row.get("pci.bus_id") or row.get("gpu_bus_id", "")
    entity = {"gpu": pci(address)} if address else {}
    if "index" in row:
        entity["index"] = row["index"]
    broken = next((value for value in row.values() if BROKEN.match(value)), "")
    yield reading.fact("gpu.state", state_of(broken) if broken else "ok", line, "", entity)
    for column, value in row.items():
        known = _query(column)
        if known is not None and not BROKEN.match(value):
            name, unit, convert = known
            converted = convert(value)
            if converted is not None:
                yield reading.fact(name, converted, line, unit, {} if name in ("gpu.count",) else entity)
