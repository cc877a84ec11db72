"""Exhibits: what a person wants to see beside the verdict, as typed data for the renderers.

Each module here makes one kind. `EXHIBITS` is their order in the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from postmortem.model import Diagnosis
from postmortem.report.exhibits import (
    activity,
    context,
    gpus,
    memory,
    monitor,
    oom_tasks,
    order,
    processes,
    raw,
    script,
)
from postmortem.scene import Scene

Exhibit = dict[str, Any]
Maker = Callable[[Diagnosis, Scene], Iterator[Exhibit]]

EXHIBITS: tuple[Maker, ...] = (
    activity.make,
    order.make,
    memory.make,
    oom_tasks.make,
    monitor.make,
    gpus.make,
    processes.make,
    script.make,
    context.make,
    raw.make,
)


def exhibits(diagnosis: Diagnosis, scene: Scene) -> list[Exhibit]:
    """Everything to look at beside the verdict, in reading order."""
    return [one for make in EXHIBITS for one in make(diagnosis, scene)]


__all__ = ["exhibits"]
