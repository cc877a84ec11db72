"""Where a kernel's log starts anew: what stands above such a line was said before the last boot."""

from __future__ import annotations

from collections.abc import Iterator

from postmortem.detect.looking import matching
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Scene

FIRST_LINE = r"\bLinux version \d+\.\d+"
MARKER = r"^-- (?:Boot [0-9a-f]{32}|Reboot) --"
NEEDLES = (FIRST_LINE, MARKER)


def find(scene: Scene) -> Iterator[Event | Fact]:
    """One `boot` event for each place where a boot begins, but for the first line of a log."""
    for reading in scene.of_kind(Kind.KERNEL, Kind.JOURNAL):
        for needle in NEEDLES:
            for line in matching(reading, needle):
                if line.number > 1 and (needle is MARKER or line.channel == "kernel"):
                    yield reading.event("boot", line.number)


DETECTOR = find
