"""One line on a terminal: how many, how fast, how long still."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

from postmortem.errors import PostmortemError
from postmortem.triage.run import Count

EVERY_S = 0.25


class Progress:
    """Rewrites its line on standard error; the total is counted beside the work."""

    def __init__(self, total: Callable[[], int], to: TextIO = sys.stderr) -> None:
        self._to = to
        self._total: int | None = None
        self._last = 0.0
        threading.Thread(target=self._count, args=(total,), daemon=True).start()

    def show(self, count: Count) -> None:
        """The line, at most four times a second."""
        now = time.monotonic()
        if now - self._last >= EVERY_S:
            self._last = now
            self._to.write(f"\r{line(count, self._total, now - count.started)}\x1b[K")
            self._to.flush()

    def end(self, count: Count) -> None:
        self._to.write(f"\r{line(count, None, time.monotonic() - count.started)}\x1b[K\n")
        self._to.flush()

    def _count(self, total: Callable[[], int]) -> None:
        try:
            self._total = total()
        except (PostmortemError, OSError):  # the run itself says what is wrong with the roots
            self._total = None


def line(count: Count, total: int | None, seconds: float) -> str:
    """`1,200 of 20,000 bundles, 41/s, 7 min 38 s left, 3 unread or stopped`."""
    rate = count.items / seconds if seconds > 0 else 0.0
    parts = [f"{count.items:,} of {total:,} bundles" if total else f"{count.items:,} bundles", f"{rate:.0f}/s"]
    if total and rate:
        parts.append(f"{span((total - count.items) / rate)} left")
    else:
        parts.append(span(seconds))
    if count.broken:
        parts.append(f"{count.broken:,} unread or stopped")
    return ", ".join(parts)


def span(seconds: float) -> str:
    whole = max(0, round(seconds))
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"
