"""What is known of the machine, for triage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from postmortem.model import Fact, Kind
from postmortem.report.safe import plain
from postmortem.scene import Scene

PER_GPU = ("gpu.name", "gpu.driver", "gpu.memory_total", "gpu.uuid", "gpu.serial")


def machine(scene: Scene, known: Mapping[str, Any]) -> dict[str, Any]:
    """Host, boot, kernel, GPUs, driver, scripts by checksum and provider, as far as they were read."""
    gpus: dict[str, dict[str, Any]] = {}
    for fact in scene.facts:
        if fact.name in PER_GPU and fact.entity.get("gpu"):
            gpus.setdefault(fact.entity["gpu"], {"gpu": fact.entity["gpu"]})[fact.name.removeprefix("gpu.")] = value(
                fact
            )
    drivers = sorted({str(f.value) for f in scene.facts if f.name == "gpu.driver"})
    scripts = {r.path: r.source.sha256 for r in scene.of_kind(Kind.SCRIPT) if r.source.sha256}
    return {
        "host": plain(str(known.get("host", "")) or host_of(scene)),
        "boot_id": plain(str(known.get("boot_id", ""))),
        "kernel": plain(str(known.get("kernel", ""))),
        "gpus": [gpus[k] for k in sorted(gpus)],
        "driver": plain(drivers[0]) if drivers else "",
        "image": plain(str(known.get("image", ""))),
        "scripts": scripts,
        "provider": {},
    }


def value(fact: Fact) -> Any:
    return plain(fact.value) if isinstance(fact.value, str) else fact.value


def host_of(scene: Scene) -> str:
    """The host that a journal's first line names."""
    for reading in scene.of_kind(Kind.JOURNAL):
        line = reading.line(1)
        if line and line.host:
            return line.host
    return ""
