"""Tables of numbers and their meanings: data beside the engine, read when first asked for."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    """The table of this name (`xid`, `sxid`, `cuda`); FileNotFoundError for another."""
    import yaml  # only analyses that met such a record pay for it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    read: dict[str, Any] = yaml.load((files(__package__) / f"{name}.yaml").read_text("utf-8"), Loader=loader)
    return read
