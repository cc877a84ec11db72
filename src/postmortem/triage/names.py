"""What a group of failures is called: the cause, what all of them share, and the host where nearly all of them are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KIB_PER_GIB = 1 << 20
TELLING = (
    "xid",
    "limit_kb",
    "victim",
    "comm",
    "script",
    "token",
    "library",
    "exception",
    "killer",
    "why",
    "rcode",
    "reason",
)
MOST, LONGEST, MOSTLY, FEW = 3, 60, 0.8, 3


def label(group: Mapping[str, Any], title: str, templates: Sequence[str]) -> str:
    """`A GPU fell off the bus: Xid 79, on gpu-7`."""
    if not group["named"]:
        said = f": {templates[0][:90]}" if templates else ", and no line that says more"
        told = f"unknown cause{said}"
    else:
        keys = [k for k in TELLING if k != "reason" or "oom-kill" not in group["class"]]
        parts = [said for key in keys if (said := part(key, group["facts"].get(key)))]
        told = title + (f": {', '.join(list(dict.fromkeys(parts))[:MOST])}" if parts else "")
    top = next(iter(group["hosts"].items()), ("", 0))
    mostly = group["count"] >= FEW and top[1] >= MOSTLY * group["count"]
    return told + (f", on {top[0]}" if mostly else "")


def part(key: str, value: Any) -> str:
    if value in (None, ""):
        return ""
    if key == "xid":
        return f"Xid {value}"
    if key == "limit_kb":
        return f"limit {size(int(value))}" if str(value).isdigit() else ""
    text = str(value).rsplit("/", 1)[-1] if key == "script" else str(value)
    return text[:LONGEST]


def size(kib: int) -> str:
    """KiB as `330 GiB` or `192 MiB`."""
    return f"{kib / KIB_PER_GIB:.3g} GiB" if kib >= KIB_PER_GIB else f"{kib / 1024:.3g} MiB"
