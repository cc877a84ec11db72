"""Kernel OOM records -> one `oom.kill` event for each victim, and `oom.invoked` where nobody was killed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from postmortem.model import Event, Fact, Kind
from postmortem.parse.kernel_line import KERNEL_KINDS, kernel_line
from postmortem.parse.nearness import seconds_of, within
from postmortem.parse.oom_lines import NEEDLES, form_of
from postmortem.parse.oom_table import Task, fields_of, read_table
from postmortem.scene import Parser, Reading

SAME_DEATH_S = 60.0  # the kernel may name a victim again until it is gone
NEAR_LINES = 12  # "Kill process" and "Killed process" stand this close
RECORD_LINES = 30_000  # a record with its task table is not longer: what is further apart belongs to two

_DRAFT_ONLY = ("reason", "oom_group", "score")
_SHARED = ("scope", "constraint", "oom_memcg", "task_memcg")  # what every victim of one record has in common


@dataclass(slots=True)
class Record:
    """What was read of one OOM record so far; the header and any other part may be lost."""

    begun: int
    fields: dict[str, str] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    tasks: tuple[Task, ...] = ()
    chosen: dict[str, str] = field(default_factory=dict)  # by oom-kill: or "Kill process", not yet confirmed
    chosen_at: int = 0
    killed: bool = False
    group: bool = False
    skipped: bool = False  # the victim was already exiting: no kill, no count


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Events of kernel OOM records, whole or cut.

    `Memory cgroup out of memory: Killed process 20118 (stress) total-vm:112844kB, anon-rss:94376kB, …`, by the kernel.
    """
    yield from _Reader(reading).events()


class _Reader:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.record = Record(0)
        self.seen: list[Event] = []

    def events(self) -> Iterator[Event]:
        numbers = self.reading.nominated
        for at, number in enumerate(numbers):
            line = kernel_line(self.reading, number)
            form = form_of(line.message) if line else None
            if form and line:
                stop = numbers[at + 1] if at + 1 < len(numbers) else number + RECORD_LINES
                kernel = line.channel == "kernel" or self.reading.source.kind is Kind.KERNEL
                yield from self.take(number, *form, stop=stop, sure=kernel)
        yield from self.leave()

    def take(self, number: int, name: str, fields: dict[str, str], stop: int, sure: bool) -> Iterator[Event]:
        """One line of a record: it adds to the record, or begins the next, or ends in a kill."""
        if self.begins_another(name, number):
            yield from self.leave()
            self.record = Record(number)
        record = self.record
        if name in ("header", "limit", "usage", "group"):
            record.group |= name == "group"
            record.fields |= {k: v for k, v in fields.items() if k not in record.fields or name != "usage"}
            record.lines.append(number)
        elif name == "table":
            record.tasks = read_table(self.reading, number, stop)
        elif name in ("choice", "kill"):
            record.chosen, record.chosen_at = record.chosen | fields, number
        elif name == "exiting":
            record.skipped = True
        elif name in ("panic", "no-victim"):
            yield self.invoked(number, "panic" if name == "panic" else "no-victim")
        elif name == "reaped" or sure or "scope" in fields or "total_vm_kb" in fields or record.chosen:
            yield from self.kill(number, name, fields)

    def begins_another(self, name: str, number: int) -> bool:
        record = self.record
        if name == "header" or number - record.begun > RECORD_LINES:
            return True
        if name in ("limit", "table", "choice", "kill"):
            return record.killed or (name == "kill" and bool(record.chosen.get("score")))
        return name == "killed" and record.killed and not record.group

    def kill(self, number: int, name: str, fields: dict[str, str]) -> Iterator[Event]:
        """The event of a kill line, unless it names a death that was told already."""
        record = self.record
        if name == "reaped" and record.chosen.get("pid") != fields["pid"]:
            record = Record(number)
        known = self.told(fields["pid"], fields["victim"], number)
        if name != "reaped":
            record.killed = True
        if known is None:
            yield self.event(record, number, fields)

    def told(self, pid: str, victim: str, number: int) -> Event | None:
        """The event of this victim that was given before, if it is the same death."""
        now = seconds_of(self.reading, number)
        for event in reversed(self.seen):
            if event.fields.get("pid") != pid or event.fields.get("victim") != victim:
                continue
            near = within(seconds_of(self.reading, event.line), now, SAME_DEATH_S)
            return event if near and number - event.line < RECORD_LINES else None
        return None

    def event(self, record: Record, number: int, fields: dict[str, str]) -> Event:
        chosen = record.chosen if self.belongs(record, number, fields) else {}
        row = next((task for task in record.tasks if task.pid == fields["pid"]), None)
        merged = {"uid": row.uid} if row else {}
        merged |= record.fields | chosen | {k: v for k, v in fields.items() if v} | fields_of(record.tasks)
        merged |= {"group_kill": "yes"} if record.group else {}
        merged |= _ancestor(merged)
        more = (*record.lines, record.chosen_at) if chosen else tuple(record.lines)
        clean = {k: v for k, v in merged.items() if v and k not in _DRAFT_ONLY}
        made = self.reading.event("oom.kill", number, clean, tuple(sorted(more))[:8])
        self.seen.append(made)
        record.chosen = {}
        record.fields |= {k: clean[k] for k in _SHARED if k in clean}
        return made

    def belongs(self, record: Record, number: int, fields: dict[str, str]) -> bool:
        """Whether the choice line speaks of this kill: the same pid, or a child that died for its parent."""
        return record.chosen.get("pid") == fields["pid"] or 0 < number - record.chosen_at <= NEAR_LINES

    def invoked(self, number: int, outcome: str) -> Event:
        record = self.record
        fields = {k: v for k, v in record.fields.items() if k not in _DRAFT_ONLY} | fields_of(record.tasks)
        record.killed = True
        return self.reading.event("oom.invoked", number, fields | {"outcome": outcome}, tuple(record.lines[:8]))

    def leave(self) -> Iterator[Event]:
        """What a record says that ended without a kill line."""
        record = self.record
        if record.killed or record.skipped:
            return
        if record.chosen:
            record.killed = True
            if self.told(record.chosen["pid"], record.chosen["victim"], record.chosen_at) is None:
                yield self.event(record, record.chosen_at, dict(record.chosen))
        elif "invoker" in record.fields:
            yield self.invoked(record.lines[0], "cut")


def _ancestor(fields: dict[str, str]) -> dict[str, str]:
    """`yes` where the group at its limit is above the victim's: an outer container's or a slice's limit."""
    if fields.get("constraint") != "MEMCG" or "oom_memcg" not in fields or "task_memcg" not in fields:
        return {}
    return {"ancestor": "no" if fields["oom_memcg"] == fields["task_memcg"] else "yes"}


PARSER = Parser(name="oom", kinds=KERNEL_KINDS, read=read, needles=NEEDLES, before=700, after=60)
