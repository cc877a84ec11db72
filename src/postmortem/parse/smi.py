"""nvidia-smi in all its forms: the table, -q, -q -x, --query-gpu CSV, -L, and the lines it prints when it fails."""

from __future__ import annotations

from collections.abc import Iterator

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.parse.smi_csv import read_csv
from postmortem.parse.smi_table import read_table
from postmortem.parse.smi_tree import Leaf, UnsafeXml, of_text, of_xml
from postmortem.parse.smi_values import BROKEN, Convert, active, number, pci, state_of, text_or_none, yes
from postmortem.scene import Parser, Reading


def read(reading: Reading) -> Iterator[Event | Fact]:
    """nvidia-smi output, such as its table's `|   0  NVIDIA GeForce RTX 5090   On  |   00000000:41:00.0 Off |`."""
    lines = list(reading.source.text.kept())
    start = next((raw for _, raw in lines if raw.strip()), "")
    if start.lstrip().startswith(("<?xml", "<!DOCTYPE nvidia_smi", "<nvidia_smi_log")):
        yield from _xml(reading, lines)
    elif any("NVSMI LOG" in raw for _, raw in lines[:40]):
        yield from _of_leaves(reading, of_text(lines))
    else:
        yield from read_table(reading, lines)
        yield from read_csv(reading, lines)
    yield from _failures(reading, lines)


_REASON = r"clocks_(?:event|throttle)_reasons?(?:/|_active\.|\.)(?:clocks_(?:event|throttle)_reason_)?"
_LEAVES: tuple[tuple[str, str, str, Convert], ...] = (
    (r"product_name", "gpu.name", "", text_or_none),
    (r"driver_version", "gpu.driver", "", text_or_none),
    (r"cuda_version", "gpu.cuda", "", text_or_none),
    (r"attached_gpus", "gpu.count", "count", number),
    (r"fb_memory_usage/used", "gpu.memory_used", "MiB", number),
    (r"fb_memory_usage/total", "gpu.memory_total", "MiB", number),
    (r"temperature/gpu(?:_current)?_temp", "gpu.temperature", "C", number),
    (r"(?:gpu_)?power_readings/(?:average_|instantaneous_|instant_)?power_draw", "gpu.power_draw", "W", number),
    (r"(?:gpu_)?power_readings/(?:current_|enforced_)?power_limit", "gpu.power_cap", "W", number),
    (r"remapped_rows/(?:remapping_failure_occurred|remapped_row_failure)", "gpu.remap_failure", "", yes),
    (r"remapped_rows/(?:pending|remapped_row_pending)", "gpu.remap_pending", "", yes),
    (r"retired_pages/(?:pending_page_blacklist|pending_blacklist|pending_retirement)", "gpu.retired_pending", "", yes),
    (r"gpu_recovery_action", "gpu.recovery_action", "", text_or_none),
    (
        r"pci/(?:gpu_link_info|pci_gpu_link_info)/(?:pcie_generation/current|pcie_gen/current_link_gen)",
        "gpu.pcie_gen",
        "",
        number,
    ),
    (
        r"pci/(?:gpu_link_info|pci_gpu_link_info)/(?:pcie_generation/max|pcie_gen/max_link_gen)",
        "gpu.pcie_gen_max",
        "",
        number,
    ),
    (
        r"pci/(?:gpu_link_info|pci_gpu_link_info)/link_width(?:/current|s/current_link_width)",
        "gpu.pcie_width",
        "",
        number,
    ),
    (r"pci/(?:gpu_link_info|pci_gpu_link_info)/link_width(?:/max|s/max_link_width)", "gpu.pcie_width_max", "", number),
    (r"pci/(?:replays_since_reset|replay_counter)", "gpu.replays", "count", number),
    (r"mig_mode/current(?:_mig)?", "gpu.mig", "", text_or_none),
    (r"compute_mode", "gpu.compute_mode", "", text_or_none),
    (r"performance_state", "gpu.pstate", "", text_or_none),
    (r"fabric/state", "gpu.fabric_state", "", text_or_none),
    (_REASON + "hw_slowdown", "gpu.slowdown.hw", "", active),
    (_REASON + "(?:hw_slowdown/)?hw_thermal_slowdown", "gpu.slowdown.hw_thermal", "", active),
    (_REASON + "(?:hw_slowdown/)?hw_power_brake(?:_slowdown)?", "gpu.slowdown.hw_power_brake", "", active),
    (_REASON + "sw_thermal_slowdown", "gpu.slowdown.sw_thermal", "", active),
    (_REASON + "sw_power_cap", "gpu.slowdown.sw_power", "", active),
)
_TABLE = tuple((lazy(path), name, unit, convert) for path, name, unit, convert in _LEAVES)
_ECC = lazy(
    r"ecc_errors/(?P<span>volatile|aggregate)/(?:(?:sram|dram)_uncorrectable\w*|double_bit/(?P<total>total)|"
    r"uncorrectable/total)$"
)


# ---- -q and -q -x


def _xml(reading: Reading, lines: list[tuple[int, str]]) -> Iterator[Event | Fact]:
    try:
        leaves = of_xml("\n".join(raw for _, raw in lines))
    except UnsafeXml:
        return
    yield from _of_leaves(reading, leaves)


def _of_leaves(reading: Reading, leaves: Iterator[Leaf] | list[Leaf]) -> Iterator[Event | Fact]:
    states: dict[str, tuple[str, int]] = {}
    ecc: dict[tuple[str, str], tuple[int, int]] = {}
    seen: set[tuple[str, str]] = set()
    for leaf in leaves:
        gpu = pci(leaf.gpu) if leaf.gpu else ""
        if gpu:
            states.setdefault(gpu, ("ok", leaf.line))
            if BROKEN.match(leaf.value):
                states[gpu] = (state_of(leaf.value), leaf.line)
        if (match := _ECC.fullmatch(leaf.path)) and isinstance(count := number(leaf.value), int):
            total, line = ecc.get((gpu, match["span"]), (0, leaf.line))
            ecc[gpu, match["span"]] = (total + count, leaf.line if count else line)
        for fact in _leaf(reading, leaf, gpu):
            if (gpu, fact.name) not in seen:
                seen.add((gpu, fact.name))
                yield fact
    for (gpu, span), (total, line) in ecc.items():
        name = "gpu.ecc_uncorrected" if span == "volatile" else "gpu.ecc_uncorrected_total"
        yield reading.fact(name, total, line, "count", {"gpu": gpu})
    for gpu, (state, line) in states.items():
        yield reading.fact("gpu.state", state, line, "", {"gpu": gpu})


def _leaf(reading: Reading, leaf: Leaf, gpu: str) -> Iterator[Fact]:
    for path, name, unit, convert in _TABLE:
        if path.fullmatch(leaf.path) and (value := convert(leaf.value)) is not None:
            yield reading.fact(name, value, leaf.line, unit, {"gpu": gpu} if gpu else {})


# ---- failures and -L

_HANDLE = lazy(
    r"Unable to determine the device handle for (?:gpu|GPU) ?(?:\d+: )"
    r"?(?P<gpu>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d): "
    r"(?P<why>[^.]*)"
)
_NONE = lazy(r"^No devices were found")
_LISTED = lazy(r"^GPU \d+: .+ \(UUID: GPU-")


def _failures(reading: Reading, lines: list[tuple[int, str]]) -> Iterator[Fact]:
    listed = [line for line, raw in lines if _LISTED.match(raw)]
    if listed:
        yield reading.fact("gpu.count", len(listed), listed[0], "count")
    for line, raw in lines:
        if match := _HANDLE.search(raw):
            why = match["why"].lower()
            state = "requires-reset" if "reset" in why else "lost" if "lost" in why or "not found" in why else "err"
            yield reading.fact("gpu.state", state, line, "", {"gpu": pci(match["gpu"])})
        elif _NONE.match(raw):
            yield reading.fact("gpu.count", 0, line, "count")


PARSER = Parser(name="nvidia-smi", kinds=frozenset({Kind.SMI}), read=read)
