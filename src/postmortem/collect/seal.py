"""Members of a capture -> a redacted, hashed bundle with its manifest."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from postmortem import __version__
from postmortem.collect.agent import load_plan
from postmortem.collect.archive import Archive
from postmortem.collect.stream import Member, pairs
from postmortem.model import Probe, State

_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh", b"PK\x03\x04", b"7z\xbc\xaf")


class Redacts(Protocol):
    """What the sealer needs of a redactor."""

    def text(self, text: str) -> str: ...
    def data(self, data: bytes, name: str = "") -> tuple[bytes, dict[str, int]]: ...


@dataclass(frozen=True, slots=True)
class About:
    """What the manifest says of the collection as a whole."""

    host: str = ""
    incident: str = ""
    deadline: float = 0.0
    argv: tuple[str, ...] = ()
    transport: str = "local"


@dataclass(slots=True)
class _Kept:
    """What became of one member."""

    sha256: str = ""
    bytes: int = 0
    state: State | None = None  # where the sealer's word replaces the agent's
    reason: str = ""
    receipt: dict[str, int] = field(default_factory=dict)


class Sealer:
    """Takes members one by one, writes them redacted, remembers what the manifest must say."""

    def __init__(self, archive: Archive, about: About, redactor: Redacts | None = None) -> None:
        if redactor is None:
            from postmortem.redact import Redactor

            redactor = Redactor()
        self.archive = archive
        self.about = about
        self.end: dict[str, str] = {}
        self.start: dict[str, str] = {}
        self._redactor = redactor
        self._kept: dict[str, _Kept] = {}
        self._probes: list[Probe] = []
        self._opened = _utc()

    def take(self, member: Member) -> None:
        """One member of the stream; never raises, whatever is in it."""
        if member.name == "END":
            self.end = pairs(member.data)
            return
        if member.name == "START":
            self.start = pairs(member.data)
            data = member.data.replace(b"\nredacted: no\n", b"\nredacted: yes\n", 1)
            member = replace(member, data=data)
        elif member.name.startswith("notes/"):
            self._probes += _notes(member.data)
        self._store(member)

    def note(self, probe: Probe) -> None:
        """A probe of the driver's own."""
        self._probes.append(probe)

    def add(self, name: str, data: bytes, why: str) -> None:
        """A member of the driver's own, with its probe."""
        self._store(Member(name, data, int(time.time())))
        self._probes.append(Probe(name.replace("/", "."), State.WHOLE, 0.0, len(data), why, "", name))

    def finish(self, problem: str = "") -> tuple[str, bool]:
        """Writes the manifest and END; returns the file's name and whether the collection is complete."""
        complete = not problem and self.end.get("complete") == "yes"

        def last() -> list[tuple[str, bytes, int]]:
            whole = complete and not self.archive.full and self._all_kept()
            now = int(time.time())
            reason = problem or self.archive.full or self.end.get("reason", "")
            count = len(self.archive.names) + 2
            end = f"complete: {'yes' if whole else 'no'}\nreason: {self._safe(reason)}\nmembers: {count}\n"
            manifest = json.dumps(self._manifest(whole, reason), indent=1, ensure_ascii=False) + "\n"
            return [("manifest.json", manifest.encode("utf-8", "replace"), now), ("END", end.encode(), now)]

        name = self.archive.close(last)
        return name, complete and not self.archive.full and self._all_kept()

    def _all_kept(self) -> bool:
        return not any(kept.state is State.OVER_BUDGET for kept in self._kept.values())

    def _safe(self, text: str) -> str:
        try:
            return self._redactor.text(text)
        except Exception:
            return "(withheld)"

    def _store(self, member: Member) -> None:
        kept = self._kept[member.name] = _Kept()
        if member.name.startswith(("logs/", "scripts/", "extra/")) and member.data.startswith(_PACKED):
            kept.state, kept.reason = State.WITHHELD, "compressed: secrets in it cannot be seen"
            return
        try:
            data, kept.receipt = self._redactor.data(member.data, member.name)
            name = self._redactor.text(member.name)
        except Exception as error:  # fail closed, whatever the redactor met
            kept.state, kept.reason = State.WITHHELD, f"the redactor could not finish: {type(error).__name__}"
            return
        if refusal := self.archive.add(name, data, member.mtime):
            kept.state, kept.reason = State.OVER_BUDGET, refusal
            return
        kept.sha256, kept.bytes = hashlib.sha256(data).hexdigest(), len(data)

    def _manifest(self, complete: bool, reason: str) -> dict[str, Any]:
        about = self.about
        return {
            "schema": "postmortem/bundle/v1",
            "tool": {"name": "postmortem", "version": __version__},
            "host": self._safe(about.host or self.start.get("host", "")),
            "incident": self._safe(about.incident or self.start.get("incident", "")),
            "started": self.start.get("started") or self._opened,
            "ended": _utc(),
            "deadline": about.deadline or float(self.start.get("deadline_s") or 0),
            "complete": complete,
            "reason": self._safe(reason),
            "redacted": True,
            "argv": [self._safe(word) for word in about.argv] or self._safe(self.start.get("argv", "")).split(),
            "transport": self._safe(about.transport),
            "left_behind": self.end.get("left_behind", "").split(),
            "receipts": {self._safe(name): kept.receipt for name, kept in self._kept.items() if kept.receipt},
            "probes": [self._entry(probe) for probe in self._all_probes()],
        }

    def _all_probes(self) -> list[Probe]:
        """The agent's, then members that no note speaks of, then what the plan has and nobody reported."""
        plan = load_plan()
        told = {probe.member for probe in self._probes}
        silent = [
            Probe(name.replace("/", "."), State.WHOLE, member=name, reason="no note of the agent came")
            for name in self._kept
            if name not in told and not name.startswith(("notes/", "hangs/", "transport/")) and name != "START"
        ]
        seen = {probe.name.partition(":")[0] for probe in self._probes}
        steps = {"scripts", "sample2", "logs.full", "logs.tail", "disk.df-mount"}
        never = [
            Probe(spec.name, State.OVER_BUDGET, why=spec.why, member="", reason="the agent did not come so far")
            for spec in plan.specs
            if spec.name not in seen and not (spec.name in steps and self.end) and spec.member not in self._kept
        ]
        return [*self._probes, *silent, *never]

    def _entry(self, probe: Probe) -> dict[str, Any]:
        kept = self._kept.get(probe.member, _Kept())
        stored = bool(kept.sha256) and self._safe(probe.member) in self.archive.names
        gone = bool(kept.sha256) and not stored
        state = State.OVER_BUDGET if gone else kept.state or probe.state
        return {
            "name": self._safe(probe.name),
            "state": str(state),
            "seconds": probe.seconds,
            "bytes": kept.bytes if stored else 0,
            "sha256": kept.sha256 if stored else "",
            "why": probe.why or load_plan().why(probe.name),
            "reason": self._safe(self.archive.full if gone else kept.reason or probe.reason),
            "member": self._safe(probe.member) if stored else "",
        }


def _notes(data: bytes) -> list[Probe]:
    """Rows such as `gpu.smi<TAB>timeout<TAB>4.01<TAB>0<TAB>-<TAB>gpu/nvidia-smi<TAB>no answer for 4.0 s`."""
    found = []
    several = {spec.name for spec in load_plan().specs if spec.each}  # one probe, many members
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


def _utc() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
