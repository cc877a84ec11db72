"""What is known of the machine, for triage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from postmortem.lazy import lazy
from postmortem.model import Fact, Kind
from postmortem.report.provider import image, provider
from postmortem.report.safe import plain
from postmortem.scene import Reading, Scene

FIRST_LINES, RECORD = 40, 60
# `Linux version 6.8.0-45-generic (buildd@...`, at boot
VERSION = lazy(r"\bLinux version (\d[\w.+~-]*)")
# `CPU: 3 PID: 700 Comm: trainer Not tainted 6.8.0-45-generic #45-Ubuntu`, in every OOM and oops record
TAINT = lazy(r"\b(?:Not tainted|Tainted: [A-Z ()]+?) +(\d+\.\d+[\w.+~-]*) +#")
PER_GPU = ("gpu.name", "gpu.driver", "gpu.memory_total", "gpu.uuid", "gpu.serial")


def machine(scene: Scene, known: Mapping[str, Any]) -> dict[str, Any]:
    """Host, boot, kernel, GPUs, driver, scripts by checksum and provider, as far as they were read."""
    gpus: dict[str, dict[str, Any]] = {}
    for fact in scene.facts:
        if fact.name in PER_GPU and fact.entity.get("gpu"):
            gpus.setdefault(fact.entity["gpu"], {"gpu": fact.entity["gpu"]})[fact.name.removeprefix("gpu.")] = value(
                fact
            )
    told = identity(scene)
    drivers = sorted({str(f.value) for f in scene.facts if f.name == "gpu.driver"})
    scripts = {r.path: r.source.sha256 for r in scene.of_kind(Kind.SCRIPT) if r.source.sha256}
    return {
        "host": plain(str(known.get("host", "")) or host_of(scene)),
        "boot_id": plain(str(known.get("boot_id", "")) or told.get("boot_id", "")),
        "kernel": plain(str(known.get("kernel", "")) or kernel_of(scene, told)),
        "gpus": [gpus[k] for k in sorted(gpus)],
        "driver": plain(drivers[0]) if drivers else "",
        "image": plain(str(known.get("image", "")) or image(scene)),
        "scripts": scripts,
        "provider": provider(scene),
    }


def value(fact: Fact) -> Any:
    return plain(fact.value) if isinstance(fact.value, str) else fact.value


def identity(scene: Scene) -> dict[str, str]:
    """`key: value` lines of the collector's identity member: `boot_id: 561a82bf-...`."""
    for reading in scene.readings:
        if reading.path.endswith("identity/machine"):
            pairs = (text.partition(": ") for _, text in reading.source.text.kept())
            return {key: value for key, colon, value in pairs if colon}
    return {}


def kernel_of(scene: Scene, told: Mapping[str, str]) -> str:
    """The kernel's release: by the collector, by its first lines, or by the head of an OOM or oops record."""
    if found := VERSION.search(told.get("version", "")):
        return found[1]
    for reading in scene.of_kind(Kind.KERNEL, Kind.JOURNAL):
        heads = (reading.raw(number) or "" for number in range(1, FIRST_LINES))
        told_by = (text for e in scene.events if e.source == reading.path for text in records(reading, e.line))
        for text in (*heads, *told_by):
            if found := VERSION.search(text) or TAINT.search(text):
                return found[1]
    return ""


def records(reading: Reading, line: int) -> list[str]:
    """The lines around an event, where its record names the kernel."""
    return [reading.raw(number) or "" for number in range(max(1, line - RECORD), line + 8)]


def host_of(scene: Scene) -> str:
    """The host that the first lines of a journal name, else those of a kernel log that syslog wrote."""
    for kind in (Kind.JOURNAL, Kind.KERNEL):
        for reading in scene.of_kind(kind):
            heads = (reading.line(number) for number in range(1, 4))
            if host := next((plain(line.host) for line in heads if line and line.host), ""):
                return host
    return ""
