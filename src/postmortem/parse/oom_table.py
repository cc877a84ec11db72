"""The task table of a kernel OOM record: who held the memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from postmortem.lazy import lazy
from postmortem.scene import Reading

PAGE_KB = 4
MAX_ROWS = 20_000
MAX_FOREIGN = 60  # other programs' lines in a row, in a journal, before the table counts as cut

_HEAD = lazy(r"\[ *pid *\] +(uid .*\bname)\b")
_ROW = lazy(r"\[ *(\d+)\] +(\d+ +\d+ +\d+ +\d+ .+)$")


@dataclass(frozen=True, slots=True)
class Task:
    """One row; memory in KiB."""

    pid: str
    uid: str
    comm: str
    rss_kb: int
    total_vm_kb: int


def read_table(reading: Reading, head: int, stop: int) -> tuple[Task, ...]:
    """The tasks of the table whose head is line `head`, up to line `stop`.

    `[  461702]     0 461702     1180      710    53248        0           984 bash`, printed by the kernel, in pages.
    """
    columns = _HEAD.search(reading.raw(head) or "")
    return tuple(_tasks(reading, head, stop, columns.group(1).split())) if columns else ()


def _tasks(reading: Reading, head: int, stop: int, columns: list[str]) -> Iterator[Task]:
    foreign = 0
    for number in range(head + 1, min(stop, head + MAX_ROWS)):
        raw = reading.raw(number)
        row = _ROW.search(raw) if raw else None
        task = _task(row.group(1), row.group(2).split(None, len(columns) - 1), columns) if row else None
        foreign = 0 if task else foreign + 1
        if task:
            yield task
        elif foreign > MAX_FOREIGN:
            return


def _task(pid: str, values: list[str], columns: list[str]) -> Task | None:
    row = dict(zip(columns, values, strict=False))
    if "name" not in row or not (row["rss"].isdigit() and row["total_vm"].isdigit()):
        return None
    return Task(pid, row["uid"], row["name"].strip(), int(row["rss"]) * PAGE_KB, int(row["total_vm"]) * PAGE_KB)


def fields_of(tasks: tuple[Task, ...]) -> dict[str, str]:
    """The top holder of a table as event fields; nothing for a table without rows."""
    if not tasks:
        return {}
    top = max(tasks, key=lambda task: task.rss_kb)
    return {"top_comm": top.comm, "top_pid": top.pid, "top_rss_kb": str(top.rss_kb), "tasks": str(len(tasks))}
