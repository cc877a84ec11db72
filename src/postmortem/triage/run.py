"""Items -> rows in the store: batches in flight, what was seen before, and what a dead worker leaves behind."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from itertools import islice

from postmortem import __version__
from postmortem.errors import PostmortemError
from postmortem.triage.engines import Pool
from postmortem.triage.job import Batch, Done, Item, Options
from postmortem.triage.row import Row, without_report
from postmortem.triage.store import Seen, Store
from postmortem.triage.work import stopped

AHEAD = 3  # batches in flight for each worker: enough that none waits, few enough that memory stays flat
NOBODY_S = 60.0  # without any worker before a run gives up


@dataclass(slots=True)
class Count:
    """What a run did so far."""

    rows: int = 0  # written
    read: int = 0  # of them, bundles that were analysed now
    kept: int = 0  # items whose row was there already
    copied: int = 0  # rows of content that was known under another path
    broken: int = 0  # unread or stopped
    started: float = field(default_factory=time.monotonic)

    @property
    def items(self) -> int:
        return self.rows + self.kept


@dataclass(slots=True)
class Run:
    """One pass over the items."""

    pool: Pool
    store: Store
    options: Options
    seen: Seen | None = None  # of earlier runs; None: everything is read
    told: Callable[[Count], None] = lambda count: None
    count: Count = field(default_factory=Count)
    _flying: dict[Future[list[Done]], Batch] = field(default_factory=dict)
    _again: deque[Batch] = field(default_factory=deque)

    def go(self, items: Iterable[Item]) -> Count:
        """Read all items. Whatever ends it, rows that were finished are in the store."""
        batches = self._batches(iter(items))
        lonely = 0.0
        while True:
            self._fill(batches)
            if not self._flying:
                return self.count
            done, _ = wait(self._flying, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in done:
                self._land(future, self._flying.pop(future))
            lonely = 0.0 if done or self.pool.alive() else lonely + 1.0
            if lonely > NOBODY_S:
                raise PostmortemError("no worker is left; the rows so far are kept, --resume does the rest")
            self.told(self.count)

    def _fill(self, batches: Iterator[Batch]) -> None:
        while len(self._flying) < AHEAD * self.pool.workers:
            batch = self._again.popleft() if self._again else next(batches, None)
            if batch is None:
                return
            self._flying[self.pool.submit(batch)] = batch

    def _batches(self, items: Iterator[Item]) -> Iterator[Batch]:
        todo = (item for item in items if not self._known_by_stamp(item))
        while group := tuple(islice(todo, self.pool.batch)):
            yield from self._first_step(group)

    def _first_step(self, group: tuple[Item, ...]) -> Iterator[Batch]:
        """Local files are hashed first where an earlier run may have read them; objects are fetched but once."""
        hash_first = tuple(i for i in group if self.seen is not None and self.seen.by_path and "://" not in i.place)
        read = tuple(i for i in group if i not in hash_first)
        if hash_first:
            yield Batch(hash_first, self.options, only_identify=True)
        if read:
            yield Batch(read, self.options)

    def _land(self, future: Future[list[Done]], batch: Batch) -> None:
        error = future.exception()
        if isinstance(error, PostmortemError):
            raise error
        if error is not None:  # the worker died with the batch, several times over
            self._lost(batch, error)
            return
        done = future.result()
        if batch.only_identify:
            self._identified(batch, done)
        else:
            self._write(done, read=len(done))

    def _lost(self, batch: Batch, error: BaseException) -> None:
        """A batch that no worker survives is tried item by item; an item that none survives is a row."""
        if len(batch.items) > 1:
            self._again.extend(replace(batch, items=(item,)) for item in batch.items)
            return
        why = stopped(f"worker lost: {type(error).__name__}", self.options)
        row = without_report(batch.items[0].path, "stopped", why, self.options.catalogue, __version__)
        self._write([Done(batch.items[0], "", row)])

    def _identified(self, batch: Batch, done: list[Done]) -> None:
        new = [d.item for d in done if not self._known(d.item, d.id)]
        if new:
            self._again.append(replace(batch, items=tuple(new), only_identify=False))

    def _known_by_stamp(self, item: Item) -> bool:
        content = self.seen.by_stamp.get(item.stamp, "") if self.seen and item.stamp else ""
        return bool(content) and self._known(item, content)

    def _known(self, item: Item, content: str) -> bool:
        """Whether the row is there; of known content under a new path a copy of its row is written."""
        seen = self.seen
        if seen is None or not content:
            return False
        if seen.by_path.get(item.path) == content:
            self.count.kept += 1
            return True
        if content not in seen.by_id:
            return False
        row: Row = self.store.row_at(seen.by_id[content]) | {"path": item.path}
        self.count.copied += 1
        self._write([Done(item, content, row)])
        return True

    def _write(self, done: list[Done], read: int = 0) -> None:
        self.store.append(done)
        self.count.rows += len(done)
        self.count.read += read
        self.count.broken += sum(bool(d.row and d.row["error"]) for d in done)
