"""Members of a capture -> a redacted, hashed bundle with its manifest."""

from __future__ import annotations

import hashlib
import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from types import FrameType
from typing import Protocol

from postmortem.collect.archive import Archive
from postmortem.collect.manifest import About, Kept, Record, notes, utc
from postmortem.collect.stream import Member, pairs
from postmortem.model import Probe, State

__all__ = ["About", "Redacts", "Sealed", "Sealer"]

_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh", b"PK\x03\x04", b"7z\xbc\xaf")


class Redacts(Protocol):
    """What the sealer needs of a redactor."""

    def text(self, text: str) -> str: ...
    def data(self, data: bytes, name: str = "") -> tuple[bytes, dict[str, int]]: ...


class TooLate(Exception):
    """The deadline came while a member was being redacted."""


class Nothing:
    """The redactor of a bundle that was asked for with its secrets."""

    def text(self, text: str) -> str:
        return text

    def data(self, data: bytes, name: str = "") -> tuple[bytes, dict[str, int]]:
        return data, {}


@dataclass(frozen=True, slots=True)
class Sealed:
    """How it ended: whether all of the collection is there, and where."""

    complete: bool
    path: str
    why: str


class Sealer:
    """Takes members one by one, writes them redacted, remembers what the manifest must say."""

    def __init__(
        self, archive: Archive, about: About, redactor: Redacts | None = None, until: float = float("inf")
    ) -> None:
        self.archive = archive
        self.end: dict[str, str] = {}
        self.start: dict[str, str] = {}
        self._about = about
        self._until = until  # a moment of time.monotonic() that no redaction may pass
        self._redactor = redactor or _redactor(about)
        self._kept: dict[str, Kept] = {}
        self._probes: list[Probe] = []
        self._opened = utc()

    @property
    def names(self) -> set[str]:
        """The members that came, by the agent's names."""
        return set(self._kept)

    def take(self, member: Member) -> None:
        """One member of the stream; never raises, whatever is in it."""
        if member.name == "END":
            self.end = pairs(member.data)
            return
        if member.name == "START":
            self.start = pairs(member.data)
            if self._about.redacted:
                data = member.data.replace(b"\nredacted: no\n", b"\nredacted: yes\n", 1)
                member = replace(member, data=data)
        elif member.name.startswith("notes/"):
            self._probes += notes(member.data)
        self._store(member)

    def add(self, name: str, data: bytes, why: str, probe: Probe | None = None) -> None:
        """A member of the driver's own, with its probe."""
        self._store(Member(name, data, int(time.time())))
        self._probes.append(probe or Probe(name.replace("/", "."), State.WHOLE, 0.0, len(data), why, "", name))

    def note(self, probe: Probe) -> None:
        """A probe of the driver's own that left nothing."""
        self._probes.append(probe)

    def finish(self, problem: str = "") -> Sealed:
        """Writes the manifest and END to every sink."""
        self.archive.close(lambda names, full: self.last(problem, names, full), self._until)
        why = self.why(problem)
        whole = [sink for sink in self.archive.sinks if self.archive.whole_in(sink)]
        some = [sink for sink in self.archive.sinks if sink.path or sink.held > 1]
        path = next((sink.path or sink.name for sink in whole or some), "")
        full = "" if whole else next((sink.full for sink in some), "")
        return Sealed(not why and bool(whole), path, why or full)

    def last(self, problem: str, names: tuple[str, ...], full: str) -> list[tuple[str, bytes, int]]:
        """manifest.json and END of a file that holds these members; END has the manifest's hash."""
        now = int(time.time())
        why = full or self.why(problem)
        manifest = self._record().manifest(names, not why, why or self.end.get("reason", ""), full)
        data = (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        end = (
            f"complete: {'no' if why else 'yes'}\nreason: {manifest['reason']}\nmembers: {len(names) + 2}\n"
            f"manifest_sha256: {hashlib.sha256(data).hexdigest()}\n"
        )
        return [("manifest.json", data, now), ("END", end.encode("utf-8", "replace"), now)]

    def why(self, problem: str) -> str:
        """Why the collection is not complete, or ""."""
        if problem or self.end.get("complete") != "yes":
            told = self.end.get("reason", "the agent did not reach its end")
            return problem or ("a probe had no time" if told == "end of the plan" else told)
        late = [kept.reason for kept in self._kept.values() if kept.state is State.OVER_BUDGET]
        return late[0] if late else ""

    def _record(self) -> Record:
        return Record(self._about, self._kept, self._probes, self.start, self.end, self._opened, self._safe)

    def _safe(self, text: str) -> str:
        try:
            return self._redactor.text(text)
        except Exception:  # fail closed: a name that could not be redacted is not told
            return "(withheld)"

    def _store(self, member: Member) -> None:
        kept = self._kept[member.name] = Kept()
        packed = member.data.startswith(_PACKED) and member.name.startswith(("logs/", "scripts/", "extra/", "attach/"))
        if packed and self._about.redacted:
            kept.state, kept.reason = State.WITHHELD, "compressed: secrets in it cannot be seen"
            return
        try:
            with _no_later_than(self._until):
                data, kept.receipt = self._redactor.data(member.data, member.name)
                kept.name = self._redactor.text(member.name)
        except Exception as error:  # fail closed, whatever the redactor met
            kept.state, kept.reason = State.WITHHELD, f"the redactor could not finish: {type(error).__name__}"
            return
        if refusal := self.archive.add(kept.name, data, member.mtime, self._until):
            kept.state, kept.reason = State.OVER_BUDGET, refusal
            return
        kept.sha256, kept.bytes = hashlib.sha256(data).hexdigest(), len(data)


def _redactor(about: About) -> Redacts:
    if not about.redacted:
        return Nothing()
    from postmortem.redact import Redactor

    return Redactor()


@contextmanager
def _no_later_than(until: float) -> Iterator[None]:
    """Raises TooLate in the body when the moment comes, where a timer can be set."""
    left = until - time.monotonic()
    if left > 30:
        yield
        return

    def late(number: int, frame: FrameType | None) -> None:
        raise TooLate

    old = None
    with suppress(ValueError):  # not the main thread
        old = signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))
    try:
        yield
    finally:
        if old is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
