"""probes.txt -> what is taken, in order of volatility: probes by tier, logs, scripts, profiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pkgutil import get_data

from postmortem.errors import UsageError

TAIL_BYTES = 65536
_WHY = {  # of requests that steps make on their way
    "logs.std": "where processes write",
    "logs.glob": "a log that was asked for",
    "scripts.glob": "a script that was asked for",
    "scripts.running": "which process reads which script",
    "disk.mounts-far": "mounts of other machines",
    "gpu.nvidia-smi-again": "rates need two samples",
    "gpu.nvidia-smi-q-again": "rates need two samples",
    "sample2.host": "rates need two samples",
    "sample2.cgroup": "rates need two samples",
    "sample2.gpu": "rates need two samples",
    "sample2.blocked": "whether the blocked still wait",
    "sample2.times": "how far the samples are apart",
    "spool": "where the collector kept what it read",
    "agent": "what the collector could not do",
}
_UNITS = {"K": 1 << 10, "M": 1 << 20}


@dataclass(frozen=True, slots=True)
class Spec:
    """One probe as probes.txt states it; seconds until it is given up, most bytes of a member."""

    name: str
    tier: str
    why: str
    how: str  # file, text, run, each or step
    what: str  # that file or function
    member: str = ""
    seconds: float = 2.0
    bytes: int = TAIL_BYTES
    only: tuple[str, ...] = ()  # profiles or permissions that take it; none: all


@dataclass(slots=True)
class Profile:
    """What a kind of machine takes besides or instead: logs of its own, and only these tiers (none: all)."""

    tiers: list[str] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Plan:
    """What probes.txt says."""

    specs: list[Spec] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    profiles: dict[str, Profile] = field(default_factory=dict)

    def for_profile(self, name: str, allowed: tuple[str, ...] = ()) -> tuple[Spec, ...]:
        """The probes that a profile takes; "" is the ordinary one. Raises UsageError for one that is not there."""
        if name and name not in self.profiles:
            raise UsageError(f"no profile {name!r}; there are {', '.join(self.profiles)}")
        tiers = self.profiles[name].tiers if name else []
        wanted = {name or "ordinary", *allowed}
        return tuple(s for s in self.specs if wanted & {*(s.only or wanted)} and (not tiers or s.tier in tiers))

    def named(self, pattern: str) -> list[Spec]:
        """The probes that a name, a glob such as `gpu.*`, or the name of a tier means."""
        return [s for s in self.specs if fnmatchcase(s.name, pattern) or s.tier == pattern]

    def left_out(self, enabled: tuple[str, ...], disabled: tuple[str, ...]) -> set[str]:
        """The names of the probes that these patterns leave out."""
        kept = {s.name for pattern in enabled for s in self.named(pattern)} if enabled else {s.name for s in self.specs}
        kept -= {s.name for pattern in disabled for s in self.named(pattern)}
        return {s.name for s in self.specs} - kept

    def why(self, probe: str) -> str:
        """Why the probe of this name, as the agent's notes write it (`logs.tail:/var/log/x`), was taken."""
        name = probe.partition(":")[0]
        return next((spec.why for spec in self.specs if spec.name == name), _WHY.get(name, ""))


def source(name: str) -> str:
    """The text of a file of this folder."""
    return (get_data("postmortem.collect", name) or b"").decode("utf-8")


@cache
def load_plan() -> Plan:
    """The probes, logs, scripts and profiles of probes.txt, in its order."""
    plan = Plan()
    for heading, line in _lines(source("probes.txt")):
        if not heading.startswith("="):
            plan.specs.append(_spec(heading, line))
            continue
        what, _, name = heading[1:].strip().partition(" ")
        owner = plan.profiles.setdefault(name, Profile()) if name else plan
        getattr(owner, what).append(line)
    return plan


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Each line with the heading that it stands under."""
    heading = ""
    for line in text.splitlines():
        if line.startswith("["):
            heading = line.strip("[]")
        elif line and not line.startswith("#"):
            yield heading, line


def _spec(tier: str, line: str) -> Spec:
    name, member, how, what, seconds, size, only, why = line.split(None, 7)
    return Spec(
        name=name,
        tier=tier,
        why=why,
        how=how,
        what=what,
        member="" if member == "-" else member,
        seconds=2.0 if seconds == "-" else float(seconds),
        bytes=TAIL_BYTES if size == "-" else int(size[:-1]) * _UNITS[size[-1]],
        only=() if only == "-" else tuple(only.split(",")),
    )
