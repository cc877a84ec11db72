"""The machine's own numbers that an operator looks up next, once the class is known: limits, counters, versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from postmortem.diagnose.entity import Match, compare
from postmortem.model import Fact, Finding
from postmortem.scene import Scene

GPU = ("gpu.name", "gpu.driver", "gpu.cuda", "gpu.recovery_action")
KERNEL = ("host.kernel",)
MEMORY = (*KERNEL, "cgroup.memory.limit", "cgroup.memory.peak", "host.mem.total", "host.mem.available")
DISK = ("disk.use", "disk.inode_use", "disk.read_only")
RELATED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gpu.thermal", (*GPU, "gpu.temperature", "gpu.slowdown.hw_thermal", "gpu.slowdown.sw_thermal", "gpu.pstate")),
    ("gpu.power", (*GPU, "gpu.power_draw", "gpu.power_cap", "gpu.slowdown.hw_power_brake", "gpu.slowdown.sw_power")),
    ("gpu.pcie-error", (*GPU, "gpu.pcie_gen", "gpu.pcie_gen_max", "gpu.pcie_width", "gpu.pcie_width_max")),
    ("gpu.out-of-memory", (*GPU, "gpu.memory_used", "gpu.memory_total", "gpu.process_count")),
    ("gpu.ecc-error", (*GPU, "gpu.ecc_uncorrected", "gpu.remap_failure", "gpu.remap_pending", "gpu.retired_pending")),
    ("gpu.mig-config", (*GPU, "gpu.mig")),
    ("gpu.fabric-not-ready", (*GPU, "gpu.fabric_state")),
    ("gpu.", GPU),
    ("memory.pinned-failed", ("proc.limit.locked_memory", "host.mem.mlocked", *MEMORY)),
    ("memory.alloc-failed", (*MEMORY, "proc.limit.address_space", "host.mem.commit_limit", "host.mem.committed")),
    ("memory.", MEMORY),
    ("limits.pids", ("cgroup.pids.max", "cgroup.pids.current", "cgroup.pids.max_events", "proc.limit.processes")),
    ("process.zombie", ("cgroup.pids.max", "cgroup.pids.current")),
    ("limits.open-files", ("proc.limit.open_files",)),
    ("storage.", DISK),
    ("kernel.", KERNEL),
    ("process.hung", KERNEL),
    ("script.", ("script.shebang", "script.sha256", "script.mtime")),
)


def with_related(root: Finding, scene: Scene) -> Finding:
    """The finding with the facts that belong to its class, where the machine tells one value of them."""
    wanted = next((names for prefix, names in RELATED if root.class_id.startswith(prefix)), ())
    more = {name: value for name in wanted if (value := only_value(name, root.entity, scene)) is not None}
    return replace(root, facts={**more, **root.facts}) if more else root


def only_value(name: str, entity: Mapping[str, str], scene: Scene) -> int | float | str | bool | None:
    """The one value of a fact among those about the same entity, else among those that nothing sets apart."""
    open_ones = [f for f in scene.facts_of(name) if compare(f.entity, entity) is not Match.OTHER]
    same = [f for f in open_ones if compare(f.entity, entity) is Match.SAME]
    values = {f.value for f in same or full_ones(open_ones)}
    return values.pop() if len(values) == 1 else None


def full_ones(facts: list[Fact]) -> list[Fact]:
    """Of many mounts, only one that is full says something."""
    if facts and facts[0].name.startswith("disk."):
        return [f for f in facts if f.value is True or (isinstance(f.value, int | float) and f.value >= 99)]
    return facts
