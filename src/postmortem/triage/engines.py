"""Where batches run: threads of this process, each with a child of its own, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from postmortem.errors import PostmortemError
from postmortem.triage.job import Batch, Done
from postmortem.triage.minder import Children
from postmortem.triage.work import run_batch

DASK_BATCH = 16  # items: a task costs the scheduler about a millisecond


@dataclass(frozen=True, slots=True)
class Pool:
    """Something that runs batches, several at a time."""

    name: str
    workers: int
    batch: int  # items of one batch
    submit: Callable[[Batch], Future[list[Done]]]
    alive: Callable[[], bool]  # whether there is anybody left to do the work
    close: Callable[[bool], None]  # True: at once, whatever is still running


def local(jobs: int = 0) -> Pool:
    """This machine: `jobs` children at a time (0: one for each CPU that this process may use)."""
    count = jobs or len(os.sched_getaffinity(0))
    executor, children = ThreadPoolExecutor(count, "triage"), Children()

    def close(now: bool) -> None:
        if now:
            children.close()
        executor.shutdown(wait=True, cancel_futures=True)
        children.close()

    return Pool("local", count, 1, lambda b: executor.submit(run_batch, b, children), lambda: True, close)


def dask(address: str, timeout_s: float = 15.0) -> Pool:
    """The workers of the Dask cluster whose scheduler listens at `address`. Raises PostmortemError."""
    try:
        import distributed
    except ImportError:
        raise PostmortemError("--scheduler needs dask.distributed: pip install 'postmortem[dask]'") from None
    try:
        answers(address)
        connect: Any = distributed.Client
        client = connect(address, timeout=timeout_s, set_as_default=False)
    except (OSError, ValueError) as error:
        raise PostmortemError(f"no Dask scheduler answers at {address}: {error}") from error
    executor: Executor = client.get_executor(pure=False)

    def close(now: bool) -> None:
        executor.shutdown(wait=not now)
        client.close(timeout=5)

    def submit(batch: Batch) -> Future[list[Done]]:
        return executor.submit(run_batch, batch)

    return Pool("dask", threads(client) or 1, DASK_BATCH, submit, lambda: threads(client) > 0, close)


def answers(address: str) -> None:
    """Raises OSError at once where nobody listens; the client itself would try again for a long time."""
    host, _, port = address.partition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), 5).close()


def threads(client: Any) -> int:
    """How many batches the cluster's workers run at a time now."""
    return sum(client.nthreads().values())
