"""Stamps -> one time line, with uncertainty.

The steps, each in its file: read the stamps of every source (`marks`); find the zone of stamps that have none (`zone`);
give years to stamps without one and dates to times of day (`calendar`); find when the machine booted, for the kernel's
stamps (`boot`); and put all of it on UTC (`make`). A line keeps its own stamp even where that goes back in time: a late
flush is a finding, not an error to repair.
"""

from __future__ import annotations

from postmortem.clock.make import make_clocks
from postmortem.clock.timeline import Clock, before, year_known

__all__ = ["Clock", "before", "make_clocks", "year_known"]
