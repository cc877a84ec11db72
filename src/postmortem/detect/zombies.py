"""How each zombie died, and who fails to reap it: process table, /proc, exit lines and the daemon's own log joined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from postmortem.detect.looking import SMALL, base, tail
from postmortem.detect.uniform import lines_at
from postmortem.lazy import lazy
from postmortem.model import Event, Evidence, Fact, Kind
from postmortem.scene import Reading, Scene

_INITS = lazy(
    r"^(?:systemd|init|tini|tini-static|dumb-init|docker-init|catatonit|s6-svscan|runit|runsvdir|pid1|openrc-init|"
    r"my_init|pause)$"
)
_SHELL = lazy(r"^-?(?:ba|da|z|k|mk|a|fi|busybo)?(?:sh|x)$")
_CLEAN = lazy(
    r"(?i)\bshut ?down (?:complete|finished|done|ok)|\b(?:clean|graceful|orderly|normal) (?:shutdown|exit|stop)|"
    r"\b(?:shutdown|stopped|exit(?:ed|ing)?|terminated) (?:cleanly|gracefully|normally)|\b(?:server|daemon|"
    r"service|engine) stopped\b|"
    r"^(?:[\w-]+ )?stopped$|\bgoodbye\b|^bye\b|\bexiting normally"
)
_ASKED = lazy(
    r"(?i)(?:receiv|caught|got|handl)\w* (?:an? )?(?:signal:? ?)?(?P<a>SIG[A-Z]+|\b(?:signal )(?P<n>\d{1,2}))\b|"
    r"\bsignal(?: received)?[ =:]+(?:signal=)?(?P<b>SIG[A-Z]+)\b|\b(?P<c>SIG(?:TERM|INT|HUP|QUIT)) received\b"
)
_KILL = lazy(
    r"(?i)\bkill\((?:SIG)?(?P<a>[A-Z]+|\d+)\)|\b(?:send|sent|sending|with)\b.{0,20}?\bSIG(?P<b>[A-Z]+)|"
    r"\bkill -(?:SIG)?(?P<c>[A-Z0-9]+)\b|"
    r"\b(?P<plain>kill(?:ed|ing)?|stopping|terminating)\b"
)
_NUMBERS = {"KILL": "9", "TERM": "15", "INT": "2", "HUP": "1", "QUIT": "3", "ABRT": "6", "SEGV": "11"}


@dataclass(slots=True)
class Body:
    """A zombie with everything that is known of its death."""

    pid: str
    comm: str
    first: Event
    fields: dict[str, str] = field(default_factory=dict)
    more: list[Evidence] = field(default_factory=list)


def find(scene: Scene) -> Iterator[Event | Fact]:
    """`zombie.end` events: `end` is signal, code, clean, asked or unknown; `reaper` names who must wait."""
    bodies = _bodies(scene)
    siblings = Counter(body.fields.get("ppid", "") for body in bodies)
    names = _names(scene)
    told = _told(scene, {body.pid for body in bodies}) if len(bodies) <= 200 else {}
    for body in bodies:
        _reaper(body, names)
        body.fields["count"] = str(siblings[body.fields.get("ppid", "")])
        _death(scene, body, told.get(body.pid, []))
    for alike in _groups(bodies):
        one = alike[0].first
        pids = {"pids": " ".join(body.pid for body in alike[:20])} if len(alike) > 1 else {}
        more = tuple(dict.fromkeys(e for body in alike for e in (*body.first.evidence, *body.more)))
        rest = tuple(e for e in more if e != one.evidence[0])[:12]
        yield Event("zombie.end", one.source, one.line, one.text, one.when, alike[0].fields | pids, rest)


def _groups(bodies: list[Body]) -> list[list[Body]]:
    """Zombies of one parent that ended the same way, together."""
    found: dict[tuple[str, ...], list[Body]] = {}
    for body in bodies:
        key = tuple(body.fields.get(name, "") for name in ("ppid", "end", "signal", "code", "farewell"))
        found.setdefault(key, []).append(body)
    return list(found.values())


def _bodies(scene: Scene) -> list[Body]:
    """The zombies by pid and comm; what several sources say of one is put together."""
    found: dict[tuple[str, str], Body] = {}
    for event in scene.named("zombie"):
        pid, comm = event.fields.get("pid", ""), event.fields.get("comm", "")
        body = found.setdefault((pid, comm[:15]), Body(pid, comm, event, {"permitted": "unknown"}))
        fresh = {k: v for k, v in event.fields.items() if k not in body.fields or body.fields[k] == "unknown"}
        body.fields |= fresh
        if event is not body.first:
            body.more.extend(event.evidence[:1])
    return list(found.values())


def _names(scene: Scene) -> dict[str, tuple[str, Evidence]]:
    return {
        f.entity["pid"]: (str(f.value), f.evidence) for f in scene.facts if f.name == "proc.comm" and "pid" in f.entity
    }


def _reaper(body: Body, names: dict[str, tuple[str, Evidence]]) -> None:
    ppid = body.fields.get("ppid", "")
    known = names.get(ppid)
    parent = body.fields.get("parent") or (known[0] if known else "")
    if known is not None:
        body.more.append(known[1])
    if parent:
        body.fields["parent"] = parent
    if ppid == "1":
        kind = "" if not parent else "init" if _INITS.match(parent) else "not-init"
    else:
        kind = "" if not parent else "shell" if _SHELL.match(parent) else "program"
    if ppid:
        body.fields |= {
            "reaper": f"pid {ppid} ({parent})" if parent else f"pid {ppid}",
            "reaper_kind": kind or "unknown",
        }


def _death(scene: Scene, body: Body, told: list[tuple[Reading, int, str]]) -> None:
    """What ended it, by the best witness: wait status, exit line, its own log, who says that he killed it."""
    exits = [
        e for e in scene.named("exit") if e.fields.get("pid") == body.pid and _same(e.fields.get("comm", ""), body.comm)
    ]
    if "signal" in body.fields or "code" in body.fields:
        body.fields["end"] = "signal" if "signal" in body.fields else "code"
    elif exits:
        told_by = exits[-1]
        body.fields |= {k: v for k, v in told_by.fields.items() if k in ("signal", "signal_name", "code", "core")}
        body.fields["end"] = "signal" if "signal" in told_by.fields else "code"
        body.more.extend(told_by.evidence[:1])
    _own_log(scene, body)
    _killer(body, told)
    body.fields.setdefault("end", "unknown")


def _same(a: str, b: str) -> bool:
    return not a or a[:15].startswith(b[:15]) or b[:15].startswith(a[:15])


def _own_log(scene: Scene, body: Body) -> None:
    """The farewell in the daemon's own log: `signal received signal=SIGTERM, draining`, `shutdown complete`."""
    reading = next((r for r in scene.of_kind(Kind.LOG) if _is_log_of(r, body)), None)
    if reading is None:
        return
    for line in tail(reading, 12):
        if match := _ASKED.search(line.message):
            name = (match["a"] or match["b"] or match["c"] or "").upper()
            number = match["n"] or _NUMBERS.get(name.removeprefix("SIG"), "")
            body.fields |= {"asked": name or f"signal {number}", "asked_signal": number}
            body.fields.setdefault("end", "asked")
            body.more.append(reading.evidence(line.number))
        if _CLEAN.search(line.message):
            if body.fields.get("end") in (None, "asked"):
                body.fields["end"] = "clean"
            body.fields["farewell"] = "yes"
            body.more.append(reading.evidence(line.number))


def _is_log_of(reading: Reading, body: Body) -> bool:
    """Whether the log names this process as its writer: by pid in its first lines, or by its file's name."""
    head = [reading.raw(number) or "" for number in range(1, 6)]
    if any(re.search(rf"\bpid[=: ]+{body.pid}\b|\[{body.pid}\]", raw) for raw in head):
        return any(body.comm[:8] in raw for raw in head) or body.comm[:8] in base(reading.path)
    return base(reading.path).split(".")[0] == body.comm


def _told(scene: Scene, pids: set[str]) -> dict[str, list[tuple[Reading, int, str]]]:
    """Lines in logs that speak of a zombie's pid, by pid."""
    found: dict[str, list[tuple[Reading, int, str]]] = {}
    pattern = re.compile(r"\b(?:pid|process)[ =:#]*(?P<pid>\d+)\b|\bkill (?:-\S+ )?(?P<killed>\d+)\b")
    for reading in scene.of_kind(Kind.LOG, Kind.JOURNAL) if pids else ():
        text = reading.source.text
        if text.count > SMALL or not text.may_hold(*pids):
            continue
        named = [number for number, raw in text.kept() if any(pid in raw for pid in pids)]
        for line in lines_at(reading, named):
            for match in pattern.finditer(line.message):
                pid = match["pid"] or match["killed"]
                if pid in pids and line.channel == "program":
                    found.setdefault(pid, []).append((reading, line.number, line.message))
    return found


def _killer(body: Body, told: list[tuple[Reading, int, str]]) -> None:
    """Who says that he killed it: `close gw: kill(SIGKILL) to pid 58892`, `cleanup: stopping daemon (pid 4127)`."""
    for reading, number, message in told:
        match = _KILL.search(message)
        if match is None or re.match(r"^\$ ", message):
            continue
        name = (match["a"] or match["b"] or match["c"] or "").upper()
        signal = name if name.isdigit() else _NUMBERS.get(name, "")
        body.fields |= {"killer_line": f"{reading.path}:{number}", "killer_text": message.strip()[:160]}
        if signal:
            body.fields |= {"killer_signal": signal}
            if "end" not in body.fields:
                body.fields |= {"end": "signal", "signal": signal}
        body.fields.setdefault("end", "asked")
        body.more.append(reading.evidence(number))
        return


DETECTOR = find
