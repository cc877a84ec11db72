"""Copies of /proc/PID/stat, status and limits, one file each or swept into one member."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.parse.ending import of_wait_status
from postmortem.scene import Parser, Reading

_STAT = lazy(r"(?<![\w/(])(?P<pid>\d+) \((?P<comm>.{1,64}?)\) (?P<rest>[RSDZTtXxKWPI](?: -?\d+){20,})(?P<more>.*)$")
_HEAD = lazy(r"^==> (?P<path>\S+) <==$")
_PID = lazy(r"(?:^|/|proc-)(?P<pid>\d+)(?:/|-|$)")
_PAIR = lazy(r"^(?P<key>[A-Za-z_]+):\s+(?P<value>.*\S)")
_PERMITTED = lazy(r"\bpermitted[=: ]\s*(?P<yes>yes|no|unknown|[01])\b")
_PARENT = lazy(r"\bparent=(?P<comm>\S.*)$")
_LIMIT = lazy(r"^Max (?P<name>[a-z ]+?)\s{2,}(?P<soft>unlimited|\d+)\s+(?P<hard>unlimited|\d+)")
_WAIT_STATUS = 49  # field 52; the list starts at field 3, the state
_THREADS = 17  # field 20
_STARTED = 19  # field 22, in clock ticks since boot


@dataclass(frozen=True, slots=True)
class Task:
    """One process as /proc shows it; empty where the copy does not say."""

    line: int
    pid: str
    comm: str = ""
    state: str = ""
    ppid: str = ""
    threads: str = ""
    wait_status: str = ""
    permitted: str = "unknown"
    vm_hwm_kb: str = ""
    nspid: str = ""
    wchan: str = ""
    started_ticks: str = ""
    parent: str = ""


def read(reading: Reading) -> Iterator[Event | Fact]:
    """/proc copies, such as `4127 (prover) Z 1 4119 4119 0 -1 4227084 ... 9` (the last field is the wait status)."""
    tasks = _merged(reading)
    for task in tasks.values():
        yield from _facts(reading, task)
        parent = tasks.get(task.ppid)
        named = task.parent or (parent.comm if parent else "")
        if task.state in ("Z", "X"):
            yield reading.event("zombie", task.line, _zombie(task, named))
        elif task.state == "D":
            fields = {"pid": task.pid, "comm": task.comm, "wchan": task.wchan}
            yield reading.event("dstate", task.line, {key: value for key, value in fields.items() if value})
    yield from _limits(reading)


def _merged(reading: Reading) -> dict[str, Task]:
    """Tasks by pid: a stat line, a status block and a wchan line about the same pid are one."""
    tasks: dict[str, Task] = {}
    for task in (*_stats(reading), *_statuses(reading), *_wchans(reading)):
        known = tasks.get(task.pid)
        tasks[task.pid] = task if known is None else _joined(known, task)
    return {pid: task for pid, task in tasks.items() if task.comm or task.state}


def _joined(a: Task, b: Task) -> Task:
    """The fields of a, and of b what a does not know."""
    fill = {name: getattr(b, name) for name in Task.__slots__ if not getattr(a, name) and getattr(b, name)}
    return replace(a, **fill)


def _stats(reading: Reading) -> Iterator[Task]:
    for number, raw in reading.source.text.kept():
        if match := _STAT.search(raw):
            yield _stat(match, number, raw)


def _stat(match: re.Match[str], number: int, raw: str) -> Task:
    fields = match["rest"].split()
    wait_status = fields[_WAIT_STATUS] if len(fields) > _WAIT_STATUS else ""
    said = _PERMITTED.search(raw)
    permitted = {"1": "yes", "0": "no"}.get(said["yes"], said["yes"]) if said else "unknown"
    if wait_status not in ("", "0"):
        permitted = "yes"  # the kernel shows a status only to who may see it
    started = fields[_STARTED] if len(fields) > _STARTED else ""
    task = Task(number, match["pid"], match["comm"], fields[0], fields[1], fields[_THREADS])
    parent = _PARENT.search(raw)
    named = parent["comm"].strip() if parent else ""
    return replace(task, wait_status=wait_status, permitted=permitted, started_ticks=started, parent=named)


def _statuses(reading: Reading) -> Iterator[Task]:
    task: Task | None = None
    for number, raw in reading.source.text.kept():
        match = _PAIR.match(raw)
        if match is None:
            continue
        if match["key"] == "Name":
            if task is not None and task.pid:
                yield task
            task = Task(number, "", comm=match["value"])
        elif task is not None:
            task = _with(task, match["key"], match["value"])
    if task is not None and task.pid:
        yield task


def _with(task: Task, key: str, value: str) -> Task:
    slot = {"Pid": "pid", "PPid": "ppid", "Threads": "threads", "NSpid": "nspid", "VmHWM": "vm_hwm_kb"}.get(key)
    if key == "State":
        return replace(task, state=value[:1])
    named: dict[str, Any] = {slot: value.removesuffix(" kB")} if slot else {}
    return replace(task, **named)


def _wchans(reading: Reading) -> Iterator[Task]:
    """Wait channels of a sweep: `==> /proc/4127/wchan <==` and the symbol on the next line."""
    pid = ""
    for number, raw in reading.source.text.kept():
        if head := _HEAD.match(raw):
            found = _PID.search(head["path"])
            pid = found["pid"] if found and head["path"].endswith("/wchan") else ""
        elif pid and re.fullmatch(r"[a-z_][\w.]*", raw.strip()):
            yield Task(number, pid, wchan=raw.strip())
            pid = ""


def _facts(reading: Reading, task: Task) -> Iterator[Fact]:
    entity = {"pid": task.pid, "comm": task.comm}
    named: dict[str, str] = {"state": task.state, "comm": task.comm, "ppid": task.ppid, "wchan": task.wchan}
    named |= {"nspid": task.nspid, "started_ticks": task.started_ticks}
    for name, value in named.items():
        if value:
            yield reading.fact(f"proc.{name}", value, task.line, "", entity)
    if task.threads.isdigit():
        yield reading.fact("proc.threads", int(task.threads), task.line, "count", entity)
    if task.vm_hwm_kb.isdigit():
        yield reading.fact("proc.vm_hwm", int(task.vm_hwm_kb), task.line, "kB", entity)
    if task.state == "Z" and task.wait_status.isdigit() and task.permitted == "yes":
        yield reading.fact("proc.wait_status", int(task.wait_status), task.line, "", entity)


def _zombie(task: Task, parent: str) -> dict[str, str]:
    fields = {"pid": task.pid, "ppid": task.ppid, "comm": task.comm, "parent": parent, "threads": task.threads}
    fields |= {"wait_status": task.wait_status, "permitted": task.permitted}
    if task.wait_status.isdigit() and task.permitted == "yes":
        # a 0 that the reader may not have been permitted to see is unknown, never "exited with 0"
        fields |= of_wait_status(int(task.wait_status))
    return {key: value for key, value in fields.items() if value}


def _limits(reading: Reading) -> Iterator[Fact]:
    """Rows of /proc/PID/limits, such as `Max open files            1024                 4096                 files`."""
    named = _PID.search(reading.path)
    pid = named["pid"] if named else ""
    for number, raw in reading.source.text.kept():
        if head := _HEAD.match(raw):
            found = _PID.search(head["path"])
            pid = found["pid"] if found else ""
        elif match := _LIMIT.match(raw):
            name = "proc.limit." + match["name"].strip().replace(" ", "_")
            soft = match["soft"]
            value: int | str = int(soft) if soft.isdigit() else soft
            yield reading.fact(name, value, number, "", {"pid": pid} if pid else {})


PARSER = Parser(name="procfs", kinds=frozenset({Kind.PROC}), read=read)
