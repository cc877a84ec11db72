"""The process tree, with zombies, processes that cannot be killed, and the victims of the incident."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from postmortem.model import Diagnosis, Kind
from postmortem.report.safe import plain
from postmortem.scene import Scene

MOST = 160
MARKS = {"Z": "zombie", "X": "dead", "D": "uninterruptible"}
NAMES = {
    "proc.comm": "comm",
    "proc.state": "state",
    "proc.ppid": "ppid",
    "proc.wchan": "wchan",
    "proc.threads": "threads",
}


@dataclass(slots=True)
class Process:
    """What is known of one pid."""

    pid: str
    comm: str = ""
    state: str = ""
    ppid: str = ""
    wchan: str = ""
    threads: str = ""
    source: str = ""
    line: int = 0
    note: str = ""

    @property
    def mark(self) -> str:
        return MARKS.get(self.state[:1], "")


def make(diagnosis: Diagnosis, scene: Scene) -> Iterator[dict[str, Any]]:
    """One tree; of a large one the marked processes, their ancestors and children."""
    known = gathered(scene)
    if len(known) < 2:
        return
    note_ends(known, scene)
    kept = chosen(known, named(diagnosis))
    yield {
        "kind": "tree",
        "name": "processes",
        "title": "Processes",
        "nodes": list(drawn(known, kept)),
        "left_off": len(known) - len(kept),
    }


def gathered(scene: Scene) -> dict[str, Process]:
    """Every pid with a state; what a process table says comes before single /proc files."""
    known: dict[str, Process] = {}
    tables = {r.path for r in scene.of_kind(Kind.PS)}
    for fact in scene.facts:
        pid = fact.entity.get("pid", "")
        if fact.name not in NAMES or not pid.isdigit():
            continue
        process = known.setdefault(pid, Process(pid))
        key = NAMES[fact.name]
        if not getattr(process, key) or fact.evidence.source in tables:
            setattr(process, key, plain(str(fact.value)))
        if not process.source or fact.evidence.source in tables:
            process.source, process.line = plain(fact.evidence.source), fact.evidence.line
    return {pid: p for pid, p in known.items() if p.state or p.ppid}


def note_ends(known: Mapping[str, Process], scene: Scene) -> None:
    """How a zombie died, and where a stuck process waits."""
    for event in scene.named("zombie.end"):
        for pid in (event.fields.get("pids") or event.fields.get("pid", "")).split():
            if pid in known and known[pid].mark == "zombie":
                known[pid].note = ended(event.fields)
    for process in known.values():
        if process.mark == "uninterruptible" and process.wchan:
            process.note = f"waits in {process.wchan}"


def ended(fields: Mapping[str, str]) -> str:
    reaper = f"; {fields['reaper']} has not collected it" if "reaper" in fields else ""
    if fields.get("end") == "signal":
        return plain(f"died by signal {fields.get('signal', '')}{reaper}")
    if fields.get("end") == "code":
        return plain(f"ended with status {fields.get('code', '')}{reaper}")
    return plain(
        f"how it ended is {'in its own log' if fields.get('end') in ('clean', 'asked') else 'not known'}{reaper}"
    )


def named(diagnosis: Diagnosis) -> set[str]:
    return {str(k.finding.entity["pid"]) for k in diagnosis.chain if "pid" in k.finding.entity}


def chosen(known: Mapping[str, Process], asked: set[str]) -> set[str]:
    """The pids to draw: all of a small machine; else those that matter with their ancestors, then the others by pid."""
    if len(known) <= MOST:
        return set(known)
    kept: set[str] = set()
    for pid in sorted((p for p in known if known[p].mark or p in asked), key=int)[:MOST]:
        while pid in known and pid not in kept:
            kept.add(pid)
            pid = known[pid].ppid
    for pid in sorted(known, key=int):
        if len(kept) >= MOST:
            break
        kept.add(pid)
    return kept


def drawn(known: Mapping[str, Process], kept: set[str]) -> Iterator[dict[str, Any]]:
    """The kept processes depth first, children by pid; a circle of parents is cut."""
    children: dict[str, list[str]] = {}
    for pid in sorted(kept, key=int):
        parent = known[pid].ppid
        children.setdefault(parent if parent in kept and parent != pid else "", []).append(pid)
    stack = [(pid, 0) for pid in reversed(children.get("", []))]
    seen: set[str] = set()
    while stack or seen != kept:
        if not stack:
            stack = [(min(kept - seen, key=int), 0)]
        pid, depth = stack.pop()
        if pid in seen:
            continue
        seen.add(pid)
        yield node(known[pid], depth)
        stack += [(child, depth + 1) for child in reversed(children.get(pid, [])) if child not in seen]


def node(process: Process, depth: int) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "ppid": process.ppid,
        "depth": depth,
        "name": process.comm,
        "state": process.state,
        "mark": process.mark,
        "note": process.note,
        "source": process.source,
        "line": process.line,
    }
