"""The values in nvidia-smi's cells: numbers with units, yes and no, and the words for absent and broken."""

from __future__ import annotations

import re
from collections.abc import Callable

from postmortem.lazy import lazy

Convert = Callable[[str], int | float | str | bool | None]


def pci(address: str) -> str:
    """A PCI address in the kernel's form without the function: `00000000:9B:00.0` -> `0000:9b:00`."""
    match = re.fullmatch(
        r"(?:pci:)?(?:0000)?([0-9a-f]{4}):([0-9a-f]{2}):([0-9a-f]{2})(?:\.\d)?", address.strip().lower()
    )
    return f"{match[1]}:{match[2]}:{match[3]}" if match else address.strip().lower()


_ABSENT = lazy(r"^\[?(?:N/?A|Not Supported|Not Active|Unknown)\]?$", re.I)
BROKEN = lazy(r"^\[?(?:ERR!|Unknown Error|GPU is lost|GPU requires reset)\]?$", re.I)


def number(text: str) -> int | float | None:
    """The number at the start of `32607 MiB` or `16x`; None where there is none."""
    match = re.match(r"-?\d+(?:\.\d+)?", text)
    if match is None:
        return None
    return float(match[0]) if "." in match[0] else int(match[0])


def active(text: str) -> bool | None:
    return {"active": True, "not active": False}.get(text.lower())


def yes(text: str) -> bool | None:
    return {"yes": True, "no": False}.get(text.lower())


def text_or_none(text: str) -> str | None:
    return None if _ABSENT.match(text) else text


def state_of(text: str) -> str:
    """`lost`, `requires-reset` or `err` of a broken cell."""
    lower = text.lower()
    return "lost" if "lost" in lower else "requires-reset" if "reset" in lower else "err"
