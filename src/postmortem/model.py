"""The nouns that cross the seams: frozen values, no behaviour beyond what reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

NOTHING: Mapping[str, str] = MappingProxyType({})


def nothing() -> Mapping[str, str]:
    """The empty mapping, as a default."""
    return NOTHING


class State(StrEnum):
    """How a member or a probe ended; one closed set everywhere."""

    WHOLE = "whole"
    CUT = "cut"
    EMPTY = "empty"
    MISSING = "missing"
    DENIED = "denied"  # the system said no; the reason names the gate
    REFUSED = "refused"  # our own rule, such as a FIFO or an escaping link
    TIMEOUT = "timeout"
    HUNG = "hung"  # past its limit and in a wait that cannot be killed
    OVER_BUDGET = "over-budget"
    WITHHELD = "withheld"  # the redactor could not finish, so nothing was kept


READABLE = frozenset({State.WHOLE, State.CUT})


class Kind(StrEnum):
    """What a source is, judged by its content first and its name second."""

    KERNEL = "kernel"  # dmesg in any form, kmsg, kern.log: kernel lines only
    JOURNAL = "journal"  # syslog or journal: lines of many programs, kernel lines among them
    LOG = "log"  # what programs wrote: daemon logs, benchmark logs, terminal output
    SCRIPT = "script"  # shell source
    CGROUP = "cgroup"  # one cgroup file, or a sweep of them
    PROC = "proc"  # copies of /proc/PID files, or the collector's process sweep
    HOST = "host"  # /proc/meminfo, vmstat, free, uptime: machine-wide counters
    PS = "ps"  # a process table
    SMI = "nvidia-smi"  # the table, -q or -q -x (the parser tells them apart)
    DISK = "disk"  # df, df -i, mounts
    CONTAINER = "container"  # docker inspect, kubectl describe, pod state
    LISTING = "listing"  # output of some other command (ls, ss, ldd, du, lsmod)
    CONFIG = "config"  # JSON, YAML, TOML, ini
    PROBE = "probe"  # the collector's own notes
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class Instant:
    """A moment on the common time line: UTC ± seconds, and whether the zone was in the text."""

    utc: datetime
    plus_minus_s: float = 0.5
    zone_known: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """One line that a claim rests on; `line` counts from 1, 0 means the whole source."""

    source: str
    line: int
    text: str
    when: Instant | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that a source says happened: `kind` names its shape, `fields` its parts.

    A plain line matched by a signature has kind `line`; parsers and detectors name their own kinds.
    """

    kind: str
    source: str
    line: int
    text: str
    when: Instant | None = None
    fields: Mapping[str, str] = field(default_factory=nothing)
    more: tuple[Evidence, ...] = ()  # further lines of the same record

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return (Evidence(self.source, self.line, self.text, self.when), *self.more)


@dataclass(frozen=True, slots=True)
class Fact:
    """A named, typed value that a source states, of one entity: `{"pid": "412"}`, `{"cgroup": "/docker/a"}`."""

    name: str
    value: int | float | str | bool
    unit: str
    evidence: Evidence
    entity: Mapping[str, str] = field(default_factory=nothing)


@dataclass(frozen=True, slots=True)
class Damage:
    """Something about the input that a reader must know: a cut archive, a refused link."""

    path: str
    state: State
    reason: str


@dataclass(frozen=True, slots=True)
class Probe:
    """One line of the collector's manifest: what was asked for and how it ended."""

    name: str
    state: State
    seconds: float = 0.0
    bytes: int = 0
    why: str = ""
    reason: str = ""
    member: str = ""


class Role(StrEnum):
    """What a class may be in a diagnosis (CLASSES)."""

    ROOT = "root"
    MECHANISM = "mechanism"
    SYMPTOM = "symptom"
    CONTRIBUTING = "contributing"
    CONTEXT = "context"
    OUTCOME = "outcome"  # how the run ended; never a finding


class Verdict(StrEnum):
    """What for and against add up to."""

    CONFIRMED = "confirmed"
    SUPPORTED = "supported"
    POSSIBLE = "possible"
    SUSPECTED = "suspected"
    CONTESTED = "contested"
    REFUTED = "refuted"


CONFIDENCE = {Verdict.CONFIRMED: "high", Verdict.SUPPORTED: "medium", Verdict.POSSIBLE: "low"}


@dataclass(frozen=True, slots=True)
class Finding:
    """A class of fault that the evidence speaks for (or that it rules out), of one entity."""

    class_id: str
    title: str
    role: Role
    verdict: Verdict
    evidence: tuple[Evidence, ...]  # at least one
    summary: str = ""
    because: str = ""
    when: Instant | None = None
    entity: Mapping[str, str] = field(default_factory=nothing)  # join keys: pid, comm, cgroup, gpu, port …
    facts: Mapping[str, str | int | float | bool] = field(default_factory=nothing)
    against: tuple[tuple[str, Evidence], ...] = ()  # (sentence, evidence) of what speaks against it
    unknown: tuple[str, ...] = ()  # what could not be asked, as a person would ask for it
    advice: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    outcome: str = ""  # role OUTCOME only: "failed" or "healthy"

    def __post_init__(self) -> None:
        if not self.evidence:
            raise ValueError(f"a finding without evidence: {self.class_id}")


class Place(StrEnum):
    """Where a finding stands in the chain."""

    ROOT = "root"
    CONSEQUENCE = "consequence"
    SYMPTOM = "symptom"
    CONTRIBUTING = "contributing"
    CONTEXT = "context"


class Edge(StrEnum):
    """How well a link from cause to effect is known."""

    PROVEN = "proven"
    COMPATIBLE = "compatible"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A finding in its place; `because_of` is the finding that caused it."""

    finding: Finding
    place: Place
    because_of: Finding | None = None
    edge: Edge | None = None
    note: str = ""  # why it is only context


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that could not be known, what it leaves open, and what would close it."""

    source: str
    state: State
    reason: str
    leaves_open: tuple[str, ...] = ()
    ask: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What happened, as far as the evidence says."""

    status: str  # failed, healthy, undecided
    outcome: Finding | None = None
    root: Finding | None = None
    confidence: str = ""  # high, medium, low
    because: str = ""
    chain: tuple[ChainLink, ...] = ()
    findings: tuple[Finding, ...] = ()
    ruled_out: tuple[Finding, ...] = ()
    gaps: tuple[Gap, ...] = ()
    would_decide: tuple[str, ...] = ()
