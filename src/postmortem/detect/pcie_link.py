"""A GPU's PCIe link that came up narrower or slower than it can, beside a stream of corrected errors on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from postmortem.detect.looking import matching
from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Reading, Scene

CORRECTED = r"PCIe Bus Error: severity=Correct(?:ed|able)"
LIMITED = r"available PCIe bandwidth, limited by"
DOWNGRADED = r"LnkSta:[^\n]{1,80}\(downgraded\)"
NEEDLES = (CORRECTED, LIMITED, DOWNGRADED)
MANY = 5  # records of corrected errors: the bus repairs one now and then on a sound link, too
AT_WORK = ("P0", "P1", "P2")  # performance states in which a GPU does not save power on its link
_ADDRESS = r"(?P<gpu>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2})\.\d"
_CORRECTED = lazy(rf"(?:nvidia|amdgpu|nouveau|xe|i915) {_ADDRESS}: {CORRECTED}")
_LIMITED = lazy(
    rf"(?:nvidia|amdgpu|nouveau|pci|xe|i915) {_ADDRESS}: [\d.]+ Gb/s {LIMITED} "
    r"(?P<speed>[\d.]+ GT/s) PCIe x(?P<width>\d+)"
    r" link at \S+ \(capable of [\d.]+ Gb/s with (?P<best>[\d.]+ GT/s) PCIe x(?P<most>\d+) link\)"
)
_LSPCI = lazy(r"^(?:[0-9a-f]{4}:)?(?P<gpu>[0-9a-f]{2}:[0-9a-f]{2})\.\d (?:VGA|3D|Display)")
_STATUS = lazy(r"LnkSta:\s+Speed (?P<speed>[\d.]+GT/s)(?: \(\w+\))?, Width x(?P<width>\d+)(?: \(\w+\))?")
ABOVE = 60  # lines of lspci -vv between a device and its link


def detect(scene: Scene) -> Iterator[Event | Fact]:
    """One `gpu.link` for each GPU whose link is both reduced and full of corrected errors."""
    errors: dict[str, list[tuple[Reading, int]]] = defaultdict(list)
    for reading in scene.of_kind(Kind.KERNEL, Kind.JOURNAL):
        for line in matching(reading, CORRECTED):
            if match := _CORRECTED.search(line.message):
                errors[match["gpu"]].append((reading, line.number))
    for gpu, records in errors.items():
        told = reduced(gpu, scene) if len(records) >= MANY else {}
        if told:
            reading, number = records[0]
            fields = {"gpu": gpu, "errors": str(len(records)), **told}
            yield reading.event("gpu.link", number, fields, tuple(n for r, n in records[:4] if r is reading))


def reduced(gpu: str, scene: Scene) -> dict[str, str]:
    """What the machine tells of a link below its best: the driver's tool, lspci, or the kernel at start."""
    return by_smi(gpu, scene) or by_lspci(gpu, scene) or by_kernel(gpu, scene)


def by_smi(gpu: str, scene: Scene) -> dict[str, str]:
    """nvidia-smi's numbers: fewer lanes, or a lower generation in a state in which no power is saved."""
    told = {n: next((f.value for f in scene.facts_of(f"gpu.{n}", gpu=gpu)), None) for n in NUMBERS}
    width, gen = told["pcie_width"], told["pcie_gen"]
    narrow = is_below(width, told["pcie_width_max"])
    slow = is_below(gen, told["pcie_gen_max"]) and told["pstate"] in AT_WORK
    if not (narrow or slow):
        return {}
    names = {"width": width, "width_max": told["pcie_width_max"], "gen": gen, "gen_max": told["pcie_gen_max"]}
    return {name: str(value) for name, value in names.items() if value is not None}


NUMBERS = ("pcie_width", "pcie_width_max", "pcie_gen", "pcie_gen_max", "pstate")


def is_below(value: object, best: object) -> bool:
    return isinstance(value, int | float) and isinstance(best, int | float) and value < best


def by_lspci(gpu: str, scene: Scene) -> dict[str, str]:
    """lspci -vv: `LnkSta: Speed 2.5GT/s (downgraded), Width x4 (downgraded)` below the device's own line."""
    for reading in scene.of_kind(Kind.LISTING, Kind.LOG):
        for line in matching(reading, DOWNGRADED):
            above = (reading.raw(n) or "" for n in range(line.number, max(0, line.number - ABOVE), -1))
            device = next((m for raw in above if (m := _LSPCI.match(raw))), None)
            match = _STATUS.search(line.raw)
            if match and device and gpu.endswith(device["gpu"]):
                return {"width": match["width"], "speed": match["speed"]}
    return {}


def by_kernel(gpu: str, scene: Scene) -> dict[str, str]:
    """`8.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x4 link at …`: alone it may be an idle link."""
    for reading in scene.of_kind(Kind.KERNEL, Kind.JOURNAL):
        for line in matching(reading, LIMITED):
            match = _LIMITED.search(line.message)
            if match and match["gpu"] == gpu:
                return {"speed": match["speed"], "width": match["width"], "width_max": match["most"]}
    return {}


DETECTOR = detect
