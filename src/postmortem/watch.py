"""Where the time of one analysis goes: seconds by stage and by signature, and how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

SLOW_S = 0.1  # of one signature's patterns over the lines of one input


@dataclass(slots=True)
class Watch:
    """What is being done, since when, and what the stages before took."""

    clock: Callable[[], float] = time.perf_counter
    doing: str = ""
    bytes: int = 0  # of content that was scanned
    stages: dict[str, float] = field(default_factory=dict)
    signatures: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Counts the seconds of a stage."""
        self.doing, began = name, self.clock()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + self.clock() - began

    def scanned(self, size: int) -> None:
        self.bytes += size

    def table(self) -> str:
        """The stages in order, then the ten signatures that took longest; a slow one is named as such."""
        lines = [f"{seconds * 1000:9.1f} ms  {name}" for name, seconds in self.stages.items()]
        lines.append(f"{self.bytes / 1e6:9.1f} MB  scanned")
        longest = sorted(self.signatures.items(), key=lambda pair: (-pair[1], pair[0]))[:10]
        for name, seconds in longest:
            lines.append(f"{seconds * 1000:9.1f} ms  signature {name}{'  slow' if seconds > SLOW_S else ''}")
        return "\n".join(lines) + "\n"
