"""Time as a test may judge it: the least of some runs' processor time, and wall time less what the machine stood still."""

from __future__ import annotations

import atexit
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache

TICK_S = 0.02
_TICKER = f"""
import os, select, time
total, last = 0.0, time.monotonic()
while True:
    asked = select.select([0], [], [], {TICK_S})[0]
    now = time.monotonic()
    gap, last = now - last - {TICK_S}, now
    total += gap if gap > {TICK_S} else 0.0
    if asked:
        if not os.read(0, 1):
            break
        os.write(1, b"%.3f\\n" % total)
"""


def least_cpu(work: Callable[[], object], times: int = 3) -> float:
    """Processor seconds of the cheapest of some runs: what is quadratic is slow in each, a busy machine is not."""
    return min(_cpu(work) for _ in range(times))


def _cpu(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


class Stopwatch:
    """Wall seconds since it was made, less those in which this machine ran nobody: rented machines stop at times."""

    def __init__(self) -> None:
        self._begin, self._stood = time.monotonic(), _stood_s()

    def seconds(self) -> float:
        return time.monotonic() - self._begin - self.stood()

    def stood(self) -> float:
        """Seconds of them in which the machine ran nobody."""
        return _stood_s() - self._stood


def _stood_s() -> float:
    """Seconds by which a sleeper of its own process has been woken too late, since the first call."""
    ticker = _ticker()
    assert ticker.stdin
    assert ticker.stdout
    ticker.stdin.write(b"?")
    return float(ticker.stdout.readline())


@cache
def _ticker() -> subprocess.Popen[bytes]:
    ticker = subprocess.Popen([sys.executable, "-S", "-c", _TICKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    atexit.register(lambda: (ticker.kill(), ticker.communicate()))
    return ticker
