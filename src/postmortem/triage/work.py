"""A batch of items -> rows; runs in a worker, on this machine or another."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from postmortem import __version__
from postmortem.errors import PostmortemError
from postmortem.triage.job import Batch, Done, Item, Options
from postmortem.triage.minder import Children, Stopped
from postmortem.triage.row import without_report

CHILDREN = Children()
TRIES = 2  # a child that crashed may have been unlucky; one that met a limit was not


def run_batch(batch: Batch, children: Children | None = None) -> list[Done]:
    """Every item of the batch, in order. Raises PostmortemError when no child can be started here at all."""
    return [run_item(item, batch.options, batch.only_identify, children or CHILDREN) for item in batch.items]


def run_item(item: Item, options: Options, only_identify: bool, children: Children) -> Done:
    start = time.monotonic()
    with ExitStack() as stack:
        try:
            path = stack.enter_context(fetched(item))
        except PostmortemError as error:
            why = f"cannot fetch {item.path}: {error}"
            done = Done(item, "", without_report(item.path, "unread", why, options.catalogue, __version__))
        else:
            done = asked(item, path, options, only_identify, children)
    return Done(item, done.id, done.row, round(time.monotonic() - start, 4), whoami())


def asked(item: Item, path: str, options: Options, only_identify: bool, children: Children) -> Done:
    """The child's answer, or a row that says why there is none."""
    why = content = ""
    for _ in range(TRIES):
        try:
            with children.one(options) as child:
                answer = child.read(path, item.path, only_identify)
            return Done(item, answer["id"], answer["row"])
        except Stopped as stop:
            why, content = str(stop), stop.id or content
            if why == "interrupted":
                raise
            if not why.startswith("crash"):
                break
    row = without_report(item.path, "stopped", stopped(why, options), options.catalogue, __version__)
    return Done(item, content, row | {"id": content})


def stopped(why: str, options: Options) -> str:
    """What a row says of a bundle that was stopped."""
    limits = {"time": f"more than {options.wall_s:g} s", "memory": f"more than {options.memory_bytes >> 20} MiB"}
    return f"stopped: {why}" + (f": {limits[why]}" if why in limits else "")


@contextmanager
def fetched(item: Item) -> Iterator[str]:
    """The item as a local path; an object is fetched into a private folder for the time. Raises PostmortemError."""
    if "://" not in item.place:
        yield item.place
        return
    from postmortem.triage.objects import fetch

    with tempfile.TemporaryDirectory(prefix="postmortem-triage-") as folder:
        path = Path(folder) / (item.path.rsplit("/", 1)[-1] or "object")
        fetch(item.place, path)
        yield str(path)


def whoami() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{threading.get_native_id()}"
