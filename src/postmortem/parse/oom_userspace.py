"""Killers outside the kernel, and what managers say of a kernel's kill."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.parse.kernel_line import NOT_QUOTED
from postmortem.parse.nearness import seconds_of, within
from postmortem.scene import Parser, Reading

SAME_KILL_S = 30.0  # a unit's manager repeats what the killer said
LONGEST = 8192  # characters of a line that are looked at
REASON_LINES = 6  # earlyoom says why just before it says whom


class Rule(NamedTuple):
    """One line form: the needle for the scanner, the event that it makes, the pattern and what is always so."""

    needle: str
    kind: str
    pattern: re.Pattern[str]
    fixed: dict[str, str]


def _rule(needle: str, kind: str, pattern: str, **fixed: str) -> Rule:
    return Rule(needle, kind, lazy(NOT_QUOTED + pattern), fixed)


RULES = (
    # earlyoom 1.0 to 1.8
    _rule(
        r"sending SIG(?:TERM|KILL) to process",
        "oom.userspace",
        r'sending (?P<signal>SIG\w+) to process (?P<pid>\d+)(?: uid (?P<uid>\d+))? "(?P<victim>[^"]*)"'
        r"(?:: (?:badness|oom_score) -?\d+.*?VmRSS (?P<rss_mib>\d+) MiB)?",
        killer="earlyoom",
    ),
    _rule(
        r"[Kk]illing process .{1,40} with signal \d+",
        "oom.userspace",
        r"""[Kk]illing process (?:(?P<pid>\d+) )?["'](?P<victim>[^"']+)["'] with signal (?P<signal>\d+)"""
        r"(?:, pid: (?P<pid2>\d+))?[:,] badness: ?\d+, VmRSS: ?(?P<rss_mib>\d+)|"
        r"""killing process (?P<pid3>\d+) "(?P<victim2>[^"]*)" with signal (?P<signal2>\d+): badness""",
        killer="earlyoom",
    ),
    # systemd-oomd 247 to 258, and the unit's manager
    _rule(
        r"due to memory (?:pressure for|used)",
        "oom.userspace",
        r"(?:Killed|Marked) (?P<cgroup>/\S+)(?: for killing)? due to (?P<reason>memory (?:pressure for|used) .+)",
        killer="systemd-oomd",
    ),
    _rule(
        r"systemd-oomd killed (?:\d+|some) process",
        "oom.userspace",
        r"(?:^|\s)(?P<unit>\S+): systemd-oomd killed (?:(?P<count>[1-9]\d*)|some) process",
        killer="systemd-oomd",
    ),
    _rule(r"oomd kill: ", "oom.userspace", r"oomd kill: [-\d. ]+(?P<cgroup>\S+) \d+ ruleset:", killer="oomd"),
    # kubelet: an eviction is its own; SystemOOM is the kernel's kill
    _rule(
        r"low on resource: memory",
        "oom.userspace",
        r"The node was low on resource: (?P<reason>memory)\b(?:.*?Container (?P<container>\S+) was using)?",
        killer="kubelet",
    ),
    _rule(
        r"must evict pod\(s\) to reclaim",
        "oom.userspace",
        r'must evict pod\(s\) to reclaim"? (?:resourceName=")?(?P<reason>memory)\b',
        killer="kubelet",
    ),
    _rule(
        r"System OOM encountered",
        "oom.kill",
        r"System OOM encountered, victim process: (?P<victim>.+?), pid: (?P<pid>\d+)",
        scope="host",
        told_by="kubelet",
    ),
    # schedulers: Slurm counts the kernel's kills in its step; the other forms are kills by the scheduler itself
    _rule(
        r"Detected \d+ oom[-_]kill event",
        "oom.kill",
        r"Detected (?P<count>[1-9]\d*) oom[-_]kill event(?:\(s\))? in "
        r"(?P<unit>StepId=\S+?|step \S+?)(?:\.? |\.$| cgroup)",
        scope="cgroup",
        told_by="slurm",
    ),
    _rule(
        r"exceeded memory limit \(",
        "oom.userspace",
        r"(?P<unit>(?:Job|Step|StepId=|JobId=)\S* ?\S*) exceeded (?P<reason>memory limit \(\d+ > \d+\)), being killed",
        killer="slurm",
    ),
    _rule(
        r"PBS: job killed: v?mem",
        "oom.userspace",
        r"PBS: job killed: (?P<reason>v?mem \w+ exceeded limit \w+)",
        killer="pbs",
    ),
    _rule(r"TERM_MEMLIMIT", "oom.userspace", r"(?P<reason>TERM_MEMLIMIT): job killed", killer="lsf"),
    _rule(
        r"running beyond (?:physical|virtual) memory",
        "oom.userspace",
        r"Container \[pid=(?P<pid>\d+),containerID=(?P<container>\S+?)\] is running (?:\d+B )?"
        r"(?P<reason>beyond (?:the '\w+' |physical |virtual )?memory limits?).*Killing container",
        killer="yarn",
    ),
    _rule(
        r"killed due to the node running low",
        "oom.userspace",
        r"(?P<reason>(?:Task|Actor|Worker).{0,60} killed due to the node running low on memory)",
        killer="ray",
    ),
    _rule(
        r"% memory budget",
        "oom.userspace",
        r"Worker (?P<victim>\S+) ?(?:\(pid=(?P<pid>\d+)\) )?exceeded (?P<reason>\d+% memory budget)\. Restarting",
        killer="dask",
    ),
    # "an OOM killer", but not which
    _rule(
        r"killed by the OOM killer",
        "oom.unit",
        r"(?:^|\s)(?P<unit>\S+): A process of this unit has been killed by the OOM killer",
        told_by="systemd",
        what="process",
    ),
    _rule(
        r"result:? '?oom-kill",
        "oom.unit",
        r"(?:(?P<unit>\S+): )?(?:Failed with result 'oom-kill'|Finished with result: oom-kill)",
        told_by="systemd",
        what="result",
    ),
    _rule(
        r"TaskOOM ?event",
        "oom.unit",
        r"TaskOOM ?event .*?[Cc]ontainer_?[Ii][Dd]\\?\"?:\\?\"?(?P<container>[0-9a-f]{12,64})",
        told_by="containerd",
        what="container",
    ),
    _rule(
        r"container oom [0-9a-f]{12}",
        "oom.unit",
        r"container oom (?P<container>[0-9a-f]{12,64})",
        told_by="docker",
        what="container",
    ),
)

_LOW_MEMORY = lazy(r"(low memory! .+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Told:
    kind: str
    names: frozenset[str]
    at_s: float | None


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Kills for memory by a daemon or scheduler, and a manager's word on a kernel kill.

    `sending SIGTERM to process 7378 uid 1000 "tail": oom_score 156, oom_score_adj 0, VmRSS 4962 MiB`, by earlyoom.
    """
    told: list[_Told] = []
    for number in reading.nominated:
        line = reading.line(number)
        if line is None:
            continue
        found = _match(line.message[:LONGEST])
        if found is None:
            continue
        rule, fields = found
        if fields.get("killer") == "earlyoom":
            fields |= _why(reading, number)
        if not _repeats(told, rule.kind, fields, seconds_of(reading, number)):
            yield reading.event(rule.kind, number, fields)


def _match(message: str) -> tuple[Rule, dict[str, str]] | None:
    for rule in RULES:
        found = rule.pattern.search(message)
        if found:
            named = {name.rstrip("23"): value for name, value in found.groupdict().items() if value}
            return rule, rule.fixed | _unit_of(named)
    return None


def _unit_of(fields: dict[str, str]) -> dict[str, str]:
    """The fields with the unit that a cgroup path ends in."""
    last = fields.get("cgroup", "").rsplit("/", 1)[-1]
    return fields | ({"unit": last} if re.search(r"\.(?:scope|service|slice)$", last) else {})


def _why(reading: Reading, number: int) -> dict[str, str]:
    for before in range(number - 1, max(number - 1 - REASON_LINES, 0), -1):
        found = _LOW_MEMORY.search(reading.raw(before) or "")
        if found:
            return {"reason": found.group(1)}
    return {}


def _repeats(told: list[_Told], kind: str, fields: dict[str, str], now_s: float | None) -> bool:
    """Whether the same unit or pid was told just before (systemd repeats systemd-oomd; SIGKILL follows SIGTERM)."""
    names = frozenset(value for key in ("unit", "pid") if (value := fields.get(key)))
    for past in told:
        if past.kind == kind and names & past.names and within(past.at_s, now_s, SAME_KILL_S):
            return True
    told.append(_Told(kind, names, now_s))
    return False


PARSER = Parser(
    name="oom-userspace",
    kinds=frozenset({Kind.JOURNAL, Kind.LOG, Kind.CONTAINER, Kind.LISTING, Kind.KERNEL}),
    read=read,
    needles=tuple(dict.fromkeys(rule.needle for rule in RULES)),
    before=REASON_LINES,
)
