"""Process tables: `ps aux`, `ps -ef`, `ps -eo ...`, `ps faxu`, busybox ps and top."""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Parser, Reading

_HEADER = lazy(r"^\s*(?=.*\bPID\b)(?=.*\b(?:COMMAND|CMD|COMM|ARGS)\b)[A-Z%][A-Z0-9%+/: _.]*$")
_COMMANDS = ("COMMAND", "CMD", "ARGS", "COMM")
_STATES = ("STAT", "S", "ST", "STATE")
_STATE = lazy(r"^[RSDZTtXxIWKP][<NLsl+]*$")
_WEEKDAY = lazy(r"^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)$")
_MONTH = lazy(r"^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)$")
_FOREST = lazy(r"^(?:[|`\s]*(?:\\_|`-|[├└]─)\s*)+")


@dataclass(frozen=True, slots=True)
class Process:
    """One row of a process table; what the table does not show is empty."""

    line: int
    pid: str
    ppid: str
    stat: str
    command: str
    wchan: str = ""
    threads: str = ""
    started: str = ""

    @property
    def dead(self) -> bool:
        return self.stat.startswith("Z") or self.command.endswith("<defunct>")

    @property
    def comm(self) -> str:
        """The short name: of `[x] <defunct>` and of `/usr/bin/x -a` alike it is `x`."""
        bare = self.command.removesuffix("<defunct>").strip()
        if bare.startswith("["):
            return bare.strip("[]")
        first = bare.split(" ", 1)[0].rstrip(":")
        return os.path.basename(first).lstrip("-") or first


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Process table rows, such as `root  4127  1  0.0  0.0  0  0 ?  Z  03:40  0:00 [prover] <defunct>` of `ps aux`."""
    seen: set[tuple[str, str]] = set()
    for table in tables(reading):
        by_pid = {process.pid: process for process in table}
        for process in table:
            if (process.pid, process.comm) not in seen:
                seen.add((process.pid, process.comm))
                yield from _facts(reading, process)
                yield from _events(reading, process, by_pid)


def tables(reading: Reading) -> Iterator[list[Process]]:
    """The tables of a source in order: a header line starts one, a line that is no row ends it."""
    columns: list[str] = []
    rows: list[Process] = []
    for number, raw in reading.source.text.kept():
        if _HEADER.match(raw):
            if rows:
                yield rows
            columns, rows = raw.split(), []
        elif columns:
            process = _row(columns, raw, number)
            if process is not None:
                rows.append(process)
            elif raw.strip():
                columns = []
    if rows:
        yield rows


def _row(columns: list[str], raw: str, number: int) -> Process | None:
    cells = _cells(columns, raw)
    if cells is None or not cells.get("PID", "").isdigit():
        return None
    stat = next((cells[name] for name in _STATES if name in cells), "")
    if stat and not _STATE.match(stat):
        stat = _misplaced(raw)
    command = next(cells[name] for name in _COMMANDS if name in cells)
    started = next((cells[name] for name in ("STARTED", "LSTART", "START", "STIME") if name in cells), "")
    threads = next((cells[name] for name in ("NLWP", "THCNT") if name in cells), "")
    bare = _FOREST.sub("", command)
    if not stat and bare.endswith("<defunct>"):
        stat = "Z"
    return Process(number, cells["PID"], cells.get("PPID", ""), stat, bare, cells.get("WCHAN", ""), threads, started)


def _misplaced(raw: str) -> str:
    # busybox leaves the VSZ cell of a zombie narrow or glued, so the columns slip; the state letter still stands alone
    return next((cell for cell in raw.split()[1:6] if _STATE.match(cell)), "")


def _cells(columns: list[str], raw: str) -> Mapping[str, str] | None:
    """Column -> text: single words from both ends, the command takes what is left in its place."""
    at = next((i for i, name in enumerate(columns) if name in _COMMANDS), -1)
    if at < 0:
        return None
    words = raw.split()
    cells: dict[str, str] = {}
    for name in columns[:at]:
        if not words:
            return None
        take = _date_words(words[0]) if name in ("STARTED", "LSTART") else 1
        cells[name] = " ".join(words[:take])
        words = words[take:]
    after = columns[at + 1 :]
    if not words or len(words) <= len(after):
        return None
    if not after:
        cells[columns[at]] = _tail(raw, words)
        return cells
    for name, word in zip(after, words[-len(after) :], strict=True):
        cells[name] = word
    cells[columns[at]] = " ".join(words[: -len(after)])
    return cells


def _date_words(first: str) -> int:
    """How many words a start takes: `Mon Mar  2 08:01:44 2026` of lstart, `Mar 02` of started, else one."""
    return 5 if _WEEKDAY.match(first) else 2 if _MONTH.match(first) else 1


def _tail(raw: str, words: list[str]) -> str:
    """The rest of the line as it was written, from the first of the words that remain."""
    place = len(raw.rstrip())
    for word in reversed(words):
        place = raw.rindex(word, 0, place)
    return raw[place:].rstrip()


def _facts(reading: Reading, process: Process) -> Iterator[Fact]:
    entity = {"pid": process.pid, "comm": process.comm}
    named = {"state": process.stat[:1], "comm": process.comm, "ppid": process.ppid, "threads": process.threads}
    named |= {"wchan": process.wchan.strip("-"), "started": process.started}
    for name, value in named.items():
        if value:
            yield reading.fact(f"proc.{name}", value, process.line, "", entity)


def _events(reading: Reading, process: Process, by_pid: Mapping[str, Process]) -> Iterator[Event]:
    if process.dead:
        yield reading.event("zombie", process.line, _zombie(process, by_pid))
    elif process.stat.startswith("D"):
        fields = {"pid": process.pid, "comm": process.comm, "wchan": process.wchan.strip("-")}
        yield reading.event("dstate", process.line, {key: value for key, value in fields.items() if value})


def _zombie(process: Process, by_pid: Mapping[str, Process]) -> dict[str, str]:
    parent = by_pid.get(process.ppid)
    fields = {"pid": process.pid, "ppid": process.ppid, "comm": process.comm, "stat": process.stat}
    fields |= {"threads": process.threads, "permitted": "unknown"}
    if "l" in process.stat:
        # the leader is dead and other threads were counted: perhaps not a dead process at all
        fields["multithreaded"] = "yes"
    if parent is not None:
        fields |= {"parent": parent.comm, "parent_args": parent.command}
    return {key: value for key, value in fields.items() if value}


PARSER = Parser(name="ps", kinds=frozenset({Kind.PS}), read=read)
