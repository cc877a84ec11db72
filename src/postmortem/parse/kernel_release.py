"""The release of the kernel that ran, as its first line, its records or uname tell it."""

from __future__ import annotations

from collections.abc import Iterator

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Parser, Reading

NEEDLES = (r"Linux version \d", r"[Tt]ainted[: ]")
_TOLD = lazy(
    r"\bLinux version (?P<booted>\d[\w.+~-]*)|\b(?:Not tainted|Tainted: [-A-Z ()]+?) +(?P<named>\d+\.\d+[\w.+~-]*) +#"
)


def read(reading: Reading) -> Iterator[Event | Fact]:
    """`CPU: 3 PID: 700 Comm: trainer Not tainted 6.8.0-45-generic #45-Ubuntu`, by the kernel; the last one counts."""
    told = ((number, _TOLD.search(reading.raw(number) or "")) for number in reversed(reading.nominated))
    found = next(((number, match) for number, match in told if match), None)
    if found:
        number, match = found
        yield reading.fact("host.kernel", match["booted"] or match["named"], number)


PARSER = Parser(
    name="kernel-release",
    kinds=frozenset({Kind.KERNEL, Kind.JOURNAL}),
    read=read,
    needles=NEEDLES,
)
