"""What a bundle says of itself: the manifest as JSON, and the probes as the agent's notes tell them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from postmortem import __version__
from postmortem.collect.plan import load_plan
from postmortem.model import Probe, State

_STEPS = {"scripts", "sample2", "logs.full", "logs.tail", "logs.std", "disk.df-mount"}
_OUR_OWN = ("notes/", "hangs/", "transport/")


@dataclass(frozen=True, slots=True)
class About:
    """What the manifest says of the collection as a whole."""

    host: str = ""
    incident: str = ""
    deadline: float = 0.0
    argv: tuple[str, ...] = ()
    transport: str = "local"
    redacted: bool = True


@dataclass(slots=True)
class Kept:
    """What became of one member."""

    name: str = ""  # in the bundle
    sha256: str = ""
    bytes: int = 0
    state: State | None = None  # where the sealer's word replaces the agent's
    reason: str = ""
    receipt: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Record:
    """All that is known when a bundle is closed; `kept` goes by the agent's member names, in stream order."""

    about: About
    kept: dict[str, Kept]
    probes: list[Probe]
    start: dict[str, str]
    end: dict[str, str]
    opened: str
    safe: Callable[[str], str]

    def manifest(self, names: tuple[str, ...], complete: bool, reason: str, full: str) -> dict[str, Any]:
        """The manifest of a file that holds the members `names`; `full` says why it holds no more."""
        about, safe, there = self.about, self.safe, set(names)
        kept = [one for one in self.kept.values() if one.sha256 and one.name in there]
        return {
            "schema": "postmortem/bundle/v1",
            "tool": {"name": "postmortem", "version": __version__},
            "host": safe(about.host or self.start.get("host", "")),
            "incident": safe(about.incident or self.start.get("incident", "")),
            "started": self.start.get("started") or self.opened,
            "ended": utc(),
            "deadline": about.deadline or float(self.start.get("deadline_s") or 0),
            "complete": complete,
            "reason": safe(reason),
            "redacted": about.redacted,
            "argv": [safe(word) for word in about.argv] or safe(self.start.get("argv", "")).split(),
            "transport": safe(about.transport),
            "left_behind": self.end.get("left_behind", "").split(),
            "receipts": {one.name: one.receipt for one in kept if one.receipt},
            "members": [{"name": one.name, "bytes": one.bytes, "sha256": one.sha256} for one in kept],
            "probes": [self._entry(probe, there, full) for probe in self._all_probes()],
        }

    def _all_probes(self) -> list[Probe]:
        """The agent's, then members that no note speaks of, then what the plan has and nobody reported."""
        told = {probe.member for probe in self.probes}
        silent = [
            Probe(name.replace("/", "."), State.WHOLE, member=name, reason="no note of the agent came")
            for name in self.kept
            if name not in told and not name.startswith(_OUR_OWN) and name != "START"
        ]
        seen = {probe.name.partition(":")[0] for probe in self.probes}
        never = [
            Probe(spec.name, State.OVER_BUDGET, why=spec.why, member="", reason="the agent did not come so far")
            for spec in load_plan().for_profile(self.start.get("profile", ""))
            if spec.name not in seen and not (spec.name in _STEPS and self.end) and spec.member not in self.kept
        ]
        return [*self.probes, *silent, *never]

    def _entry(self, probe: Probe, there: set[str], full: str) -> dict[str, Any]:
        kept = self.kept.get(probe.member, Kept())
        stored = bool(kept.sha256) and kept.name in there
        gone = bool(kept.sha256) and not stored
        state = State.OVER_BUDGET if gone else kept.state or probe.state
        return {
            "name": self.safe(probe.name),
            "state": str(state),
            "seconds": probe.seconds,
            "bytes": kept.bytes if stored else 0,
            "sha256": kept.sha256 if stored else "",
            "why": probe.why or load_plan().why(probe.name),
            "reason": self.safe(full if gone else kept.reason or probe.reason),
            "member": kept.name if stored else "",
        }


def notes(data: bytes) -> list[Probe]:
    """Rows such as `gpu.smi<TAB>timeout<TAB>4.01<TAB>0<TAB>-<TAB>gpu/nvidia-smi<TAB>no answer for 4.0 s`."""
    found = []
    several = {spec.name for spec in load_plan().specs if spec.how == "each"}  # one probe, many members
    for line in data.decode("utf-8", "replace").splitlines():
        parts = line.split("\t")
        if line.startswith("#") or len(parts) < 7:
            continue
        name, state, seconds, size, member, source, reason = (*parts[:6], " ".join(parts[6:]))
        try:
            probe = Probe(name, State(state), float(seconds), int(size))
        except ValueError:
            continue
        member, source, reason = ("" if part == "-" else part for part in (member, source, reason))
        if source and name in several:
            name = f"{name}:{source}"
        found.append(replace(probe, name=name, member=member, reason=reason))
    return found


def utc() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
