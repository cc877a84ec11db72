"""What a pattern cannot say: detectors over the whole scene, found by walking this folder."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from postmortem.model import Event, Fact
from postmortem.scene import Detector, Scene


@cache
def detectors() -> tuple[tuple[str, Detector], ...]:
    """Every (file name, DETECTOR) of this folder, by file name."""
    named = ((module.name, import_module(f"{__name__}.{module.name}")) for module in pkgutil.iter_modules(__path__))
    return tuple((name, module.DETECTOR) for name, module in named if hasattr(module, "DETECTOR"))


@cache
def needles() -> tuple[str, ...]:
    """The patterns that the detectors want nominated, each once."""
    modules = (import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__))
    return tuple(dict.fromkeys(needle for module in modules for needle in getattr(module, "NEEDLES", ())))


def detect(scene: Scene) -> tuple[Event | Fact, ...]:
    """What all detectors say; none sees what another one said, so that their order does not matter."""
    return tuple(found for _, detector in detectors() for found in detector(scene))
