"""The lines of a kernel OOM record, 2.6 to 6.x, each taken apart by itself."""

from __future__ import annotations

import re

from postmortem.lazy import lazy
from postmortem.parse.kernel_line import NOT_QUOTED, bare_name

UNLIMITED_KB = 1 << 50  # the kernel prints "no limit" as 9007199254740988kB or 18014398509481983kB

NEEDLES = (
    r"invoked oom-killer:",
    r"killed as a result of limit of",
    r"memory: usage \d+kB",
    r"uid +tgid +total_vm",
    r"oom-kill:constraint=",
    r"[Kk]ill process \d+",
    r"Killed process \d+",
    r"memory\.oom\.group",
    r"oom_reaper: reaped process",
    r"no killable process",
    r"OOM victim \d+",
    r"not syncing: (?:Out of memory|System is deadlocked)",
)

_COMM = r"\((?P<victim>[^\n]{1,64}?)\)"
_HEAD = r"(?P<head>(?:Memory cgroup )?[Oo]ut of [Mm]emory(?: \([\w ]+\))?)"

FORMS: dict[str, re.Pattern[str]] = {
    name: lazy(NOT_QUOTED + pattern)
    for name, pattern in {
        "header": r"(?P<invoker>\S[^\n]{0,40}?) invoked oom-killer: gfp_mask=(?P<gfp>0x[0-9a-f]+(?:\([A-Z_|0-9x]+\))?)"
        r"(?:.*?\border=(?P<order>-?\d+))?",
        "limit": r"Task in (?P<task_memcg>/\S*) killed as a result of limit of (?P<oom_memcg>/\S*)",
        "usage": r"memory: usage (?P<usage_kb>\d+)kB, limit (?P<limit_kb>\d+)kB, failcnt (?P<failcnt>\d+)",
        "table": r"\[ *pid *\] +uid +tgid +total_vm +rss ",
        "choice": r"oom-kill:constraint=CONSTRAINT_(?P<constraint>[A-Z_]+)(?:,.*?)?"
        r"(?:,oom_memcg=(?P<oom_memcg>[^,]*))?,task_memcg=(?P<task_memcg>[^,]*),"
        r"task=(?P<victim>.+),pid=(?P<pid>\d+),uid=(?P<uid>\d+)",
        "sharing": rf"Kill process (?P<pid>\d+) {_COMM} sharing same memory",
        "killed": rf"(?:{_HEAD}: |(?<!emory: )(?<!task\): ))Killed process (?P<pid>\d+)"
        rf"(?:, UID (?P<uid>\d+))?,? {_COMM}(?:,? ?UID (?P<uid2>\d+))?"
        r"(?:[,.]|(?= (?:total-vm|vsz):)|\s*$)(?P<tail>.*)",
        "kill": rf"{_HEAD}: [Kk]ill process (?P<pid>\d+) {_COMM} score (?P<score>\S+)(?: and| or)",
        "group": r"Tasks in (?P<oom_group>/\S*) are going to be killed due to memory\.oom\.group set",
        "reaped": rf"oom_reaper: reaped process (?P<pid>\d+) {_COMM}, now",
        "exiting": rf"OOM victim (?P<pid>\d+) {_COMM} is already exiting",
        "panic": r"(?<!end )Kernel panic - not syncing: (?P<reason>Out of memory|System is deadlocked on memory)",
        "no-victim": r"(?<!syncing: )(?P<reason>[Oo]ut of memory and no killable process)",
    }.items()
}

_TAIL = {
    "total_vm_kb": lazy(r"(?:total-vm|vsz):(\d+)kB"),
    "anon_rss_kb": lazy(r"anon-rss:(\d+)kB"),
    "file_rss_kb": lazy(r"file-rss:(\d+)kB"),
    "shmem_rss_kb": lazy(r"shmem-rss:(\d+)kB"),
    "uid": lazy(r"UID:(\d+)"),
    "oom_score_adj": lazy(r"oom_score_adj:(-?\d+)"),
}


def form_of(message: str) -> tuple[str, dict[str, str]] | None:
    """Which line of a record this is, with its fields; None for any other line."""
    for name, pattern in FORMS.items():
        found = pattern.search(message)
        if found is not None:
            return name, _fields(name, {k: v for k, v in found.groupdict().items() if v})
    return None


def _fields(name: str, fields: dict[str, str]) -> dict[str, str]:
    if name == "usage" and int(fields["limit_kb"]) >= UNLIMITED_KB:
        del fields["limit_kb"]
    if "invoker" in fields:
        fields["invoker"] = bare_name(fields["invoker"])
    head = fields.pop("head", "")
    if name == "limit" or head.startswith("Memory"):
        fields |= {"constraint": "MEMCG", "scope": "cgroup"}
    elif head:
        fields["scope"] = "host"
    elif name == "choice":
        fields["scope"] = "cgroup" if fields["constraint"] == "MEMCG" else "host"
    fields |= _tail(fields.pop("tail", ""))
    if "uid2" in fields:
        fields["uid"] = fields.pop("uid2")
    return fields


def _tail(text: str) -> dict[str, str]:
    found = {name: pattern.search(text) for name, pattern in _TAIL.items()}
    return {name: match.group(1) for name, match in found.items() if match}
