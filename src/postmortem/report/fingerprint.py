"""The stable id of a failure: the same fault elsewhere gets the same one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from postmortem.lines import split
from postmortem.model import Diagnosis, Finding, Place, Role
from postmortem.report.masks import masked

# Facts that name a fault's kind rather than its place, by class, else by its area. A fact that only some sources
# tell (a manager's exit status beside the program's own words) must not be here: it would split one failure in two.
TELLING: dict[str, tuple[str, ...]] = {
    "gpu": ("xid", "sxid"),
    "gpu.cuda-error": ("xid", "name", "code"),
    "gpu.launch-failed": ("xid", "name"),
    "gpu.no-device": ("xid", "reason"),
    "gpu.gsp-timeout": ("xid", "rpc"),
    "memory": (),
    "memory.alloc-failed": ("reason",),
    "memory.oom-kill-cgroup": ("victim", "limit_kb"),
    "memory.oom-kill-host": ("constraint",),
    "memory.oom-kill-userspace": ("killer",),
    "process": ("comm", "signal_name"),
    "process.zombie": ("comm", "parent"),
    "process.terminated": ("comm", "killer"),
    "script": ("script", "what", "token"),
    "runtime": ("library", "exception", "root_exception", "place"),
    "network.dns": ("rcode",),
    "network.http-error": ("status",),
    "network.tls": ("why",),
    "kernel": ("what",),
}
EXACT = frozenset({"xid", "sxid", "code", "status"})  # numbers that are names
SIZES = frozenset({"limit_kb"})  # KiB; two digits, since a limit may be some share of what a machine has
NAMES = frozenset({"script", "library", "place"})  # of which only the last part counts
# classes of many faults, which a program tells in words of its own
BY_WORDS = (
    "runtime.", "gpu.cuda-error", "comm.nccl-error", "limits.open-files", "network.port-in-use", "storage.corrupt-file",
)  # fmt: skip


def fingerprint(diagnosis: Diagnosis) -> str:
    """Twelve hex digits over root, its telling facts and what it led to; empty when no cause is named.

    A symptom is no cause: "exit status 1" heads failures that share nothing. In the chain symptoms are left out,
    because they say how a failure was noticed, and that depends on which logs were collected.
    """
    root = diagnosis.root
    if root is None or root.role is Role.SYMPTOM:
        return ""
    parts = [root.class_id, *(told(root) or words(root)), *consequences(diagnosis)]
    return hashlib.blake2b("\n".join(parts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def told(root: Finding) -> list[str]:
    """`key=value` of the facts that name the kind of this fault."""
    area = root.class_id.partition(".")[0]
    known = {**root.entity, **root.facts}
    return [
        f"{key}={shape(key, str(known[key]))}"
        for key in TELLING.get(root.class_id, TELLING.get(area, ()))
        if known.get(key) not in (None, "")
    ]


def shape(key: str, value: str) -> str:
    if key in EXACT:
        return value
    if key in SIZES:
        return f"{int(value) / (1 << 20):.2g} GiB" if value.isdigit() else ""
    return masked(value.rsplit("/", 1)[-1] if key in NAMES else value)


def words(root: Finding) -> Iterator[str]:
    """What the program said, for a class that holds many faults and had no fact to tell them apart."""
    if root.class_id.startswith(BY_WORDS):
        first = root.evidence[0]
        yield masked(split(first.text, first.line).message)


def consequences(diagnosis: Diagnosis) -> list[str]:
    """The classes that the root led to, each once: four ranks that die of one fault are one failure.

    A program's own exception is how it noticed, like a symptom: with another log of it there would be none.
    """
    return sorted(
        {
            k.finding.class_id
            for k in diagnosis.chain
            if k.place is Place.CONSEQUENCE
            and k.finding.role is not Role.SYMPTOM
            and not k.finding.class_id.startswith("runtime.")
        }
    )
