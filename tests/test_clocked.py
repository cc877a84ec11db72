"""The tests' own stop watch: a machine that stands still for half a second is not a late program."""

from __future__ import annotations

import os
import signal
import time

from clocked import Stopwatch, _ticker


def test_what_the_machine_stood_still_is_taken_off() -> None:
    watch = Stopwatch()
    os.kill(_ticker().pid, signal.SIGSTOP)
    time.sleep(0.5)
    os.kill(_ticker().pid, signal.SIGCONT)
    assert watch.stood() > 0.4
    assert watch.seconds() < 0.3


def test_a_late_program_is_late() -> None:
    watch = Stopwatch()
    time.sleep(0.5)
    assert watch.seconds() > 0.4
