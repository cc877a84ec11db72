"""What is going on, on a terminal's standard error, for an analysis that takes more than a second."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TextIO

from postmortem.watch import Watch

AFTER_S, EVERY_S = 1.0, 0.2
CLEAR = "\r\x1b[K"


@contextmanager
def progress(watch: Watch, out: TextIO | None = None, after_s: float = AFTER_S) -> Iterator[None]:
    """Shows one line that says what is done; nothing where standard error is no terminal."""
    out = out or sys.stderr
    if not out.isatty():
        yield
        return
    done = Event()
    teller = Thread(target=_tell, args=(watch, out, done, after_s), daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _tell(watch: Watch, out: TextIO, done: Event, after_s: float) -> None:
    began = watch.clock()
    if done.wait(after_s):
        return
    while not done.wait(EVERY_S):
        out.write(f"{CLEAR}{watch.doing}: {watch.bytes / 1e6:,.0f} MB, {watch.clock() - began:.0f} s")
        out.flush()
    out.write(CLEAR)
    out.flush()
