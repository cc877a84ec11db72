"""The driver alone: what was seen before, batches that no worker survives, how many are in flight."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from postmortem import __version__
from postmortem.errors import PostmortemError
from postmortem.triage.engines import Pool
from postmortem.triage.job import Batch, Done, Item, Options
from postmortem.triage.row import COLUMNS, Row
from postmortem.triage.run import AHEAD, Run
from postmortem.triage.store import Store, read_rows, standing

OPTIONS = Options("c1")


def row(path: str, content: str, catalogue: str = "c1", kind: str = "bundle", **more: str) -> Row:
    empty: Row = dict.fromkeys(COLUMNS)
    told = {
        "path": path,
        "id": content,
        "catalogue": catalogue,
        "version": __version__,
        "kind": kind,
        "status": "failed",
        "fingerprint": "f",
    }
    return empty | told | more


def pool(work: Callable[[Batch], list[Done]], size: int = 1) -> Pool:
    """Does the work when it is submitted."""

    def submit(batch: Batch) -> Future[list[Done]]:
        future: Future[list[Done]] = Future()
        try:
            future.set_result(work(batch))
        except Exception as error:
            future.set_exception(error)
        return future

    return Pool("fake", 2, size, submit, lambda: True, lambda now: None)


def read(batch: Batch) -> list[Done]:
    """The hash of an item is its place."""
    return [Done(i, i.place, None if batch.only_identify else row(i.path, i.place)) for i in batch.items]


SEEN = {
    "the same": (row("a", "1"), Item("a", "1"), (0, 1, 0)),
    "other content": (row("a", "1"), Item("a", "2"), (1, 0, 0)),
    "another path": (row("a", "1"), Item("b", "1"), (0, 0, 1)),
    "another path of a single file, whose name counts": (row("a", "1", kind="file"), Item("b", "1"), (1, 0, 0)),
    "another catalogue": (row("a", "1", "c0"), Item("a", "1"), (1, 0, 0)),
    "never hashed": (row("a", ""), Item("a", ""), (1, 0, 0)),
    "stopped at other limits": (row("a", "1", status="stopped", error="stopped: time: more than 5 s"), Item("a", "1"), (1, 0, 0)),
    "stopped at these": (row("a", "1", status="stopped", error="stopped: time: more than 60 s"), Item("a", "1"), (0, 1, 0)),
}  # fmt: skip


@pytest.mark.parametrize(("earlier", "item", "want"), SEEN.values(), ids=SEEN)
def test_what_was_seen_before(tmp_path: Path, earlier: Row, item: Item, want: tuple[int, int, int]) -> None:
    from postmortem.triage.command import final

    with Store(tmp_path) as store:
        store.append([Done(Item("a", ""), "", earlier)])
    with Store(tmp_path) as store:
        seen = store.seen("c1", __version__, lambda r: final(r, OPTIONS))
        count = Run(pool(read), store, OPTIONS, seen).go([item])
    assert (count.read, count.kept, count.copied) == want
    assert {r["path"] for _, r in read_rows(tmp_path)} == {"a", item.path}


def test_an_object_with_a_known_etag_is_not_fetched(tmp_path: Path) -> None:
    item = Item("a", "s3://b/a", "etag:9")
    with Store(tmp_path) as store:
        store.append([Done(item, "1", row("a", "1"))])
    with Store(tmp_path) as store:
        run = Run(pool(forbidden), store, OPTIONS, store.seen("c1", __version__, lambda r: True))
        count = run.go([item, Item("copy", "s3://b/copy", "etag:9")])
    assert (count.kept, count.copied) == (1, 1)


def forbidden(batch: Batch) -> list[Done]:
    raise AssertionError(f"read {batch}")


def test_a_batch_that_no_worker_survives(tmp_path: Path) -> None:
    """One bad item costs its own row, not those of its batch."""

    def deadly(batch: Batch) -> list[Done]:
        if any(i.path == "bad" for i in batch.items):
            raise RuntimeError("the worker died")
        return read(batch)

    with Store(tmp_path) as store:
        count = Run(pool(deadly, 4), store, OPTIONS).go([Item(p, p) for p in ("a", "b", "bad", "c", "d")])
    found = {r["path"]: r["error"] for _, r in read_rows(tmp_path)}
    assert found == {"a": None, "b": None, "c": None, "d": None, "bad": "stopped: worker lost: RuntimeError"}
    assert (count.rows, count.broken) == (5, 1)


def test_a_worker_that_cannot_work_ends_the_run_and_keeps_its_rows(tmp_path: Path) -> None:
    def unfit(batch: Batch) -> list[Done]:
        if batch.items[0].path == "b":
            raise PostmortemError("another catalogue")
        return read(batch)

    with Store(tmp_path) as store, pytest.raises(PostmortemError, match="another catalogue"):
        Run(pool(unfit), store, OPTIONS).go([Item("a", "1"), Item("b", "2")])
    assert (tmp_path / "rows.jsonl").read_text().count("\n") <= 1


def test_items_are_taken_as_they_are_needed(tmp_path: Path) -> None:
    """Memory stays flat however long the list is."""
    taken, most = 0, 0

    def items() -> object:
        nonlocal taken
        for number in range(500):
            taken += 1
            yield Item(str(number), str(number))

    with Store(tmp_path) as store:
        run = Run(pool(read), store, OPTIONS)

        def told(count: object) -> None:
            nonlocal most
            most = max(most, taken - run.count.rows)

        run.told = told
        run.go(items())  # type: ignore[arg-type]
    assert taken == 500
    assert most <= AHEAD * 2 + 1


def test_what_was_known_before_the_last_run(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.append([Done(Item("a", ""), "1", row("a", "1", fingerprint="old"))])
    with Store(tmp_path) as store:
        store.append([Done(Item("b", ""), "2", row("b", "2", fingerprint="new"))])
        known = standing(tmp_path, store.start)
    assert (known.paths, known.fingerprints) == ({"a"}, {"old"})
