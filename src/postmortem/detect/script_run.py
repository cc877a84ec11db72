"""Whether a script's file was written between the start of its run and the shell's complaint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from postmortem.detect.looking import matching
from postmortem.lazy import lazy
from postmortem.model import Event, Evidence, Fact, Instant, Kind
from postmortem.scene import Reading, Scene

NEAR_START = 30  # lines of a log in which its wrapper says when it began
_START = lazy(r"(?i)\bstart(?:ing|ed)?\b|\bbegin\b|\blaunch(?:ing|ed)?\b|\bCMD \(")
_ISO = lazy(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)")
_END = lazy(r"(?i)\b(?:end(?:ed)?|finish(?:ed)?|exit(?:ed)?|done|stopp?ed)\b")
_WRITES = lazy(
    r"(?i)\b(?:scp|sftp|rsync|install|cp|deploy\w*|ansible\w*|docker cp|kubectl cp|upload\w*|push(?:ed|ing)?|"
    r"copied|copying|"
    r"overwr\w+|updated|wrote|writing|tee|puppet\w*|chef-client|salt\w*)\b"
)


def changed(scene: Scene, complaint: Event, name: str) -> Iterator[Fact]:
    """script.changed_during_run, and same_as_run when the shell still held another inode."""
    entity = {"script": name}
    ended = _ended(scene, complaint)
    began = _began(scene, complaint, name, ended)
    yield from _inodes(scene, name, entity)
    if began is None or ended is None:
        return
    written = [*_mtimes(scene, name), *_deploys(scene, name)]
    inside = [proof for when, proof in written if _within(began, when, ended)]
    if inside:
        yield Fact("script.changed_during_run", True, "", inside[0], entity)
    elif written and all(_seconds(when, began) >= 0 for when, _ in written):
        yield Fact("script.changed_during_run", False, "", written[0][1], entity)


def _within(began: Instant, when: Instant, ended: Instant) -> bool:
    return _seconds(began, when) > 1 and _seconds(when, ended) > -2


def _seconds(a: Instant, b: Instant) -> float:
    """b - a; a naive log is taken to be in the zone of the machine's own notes."""
    return (b.utc - a.utc).total_seconds()


def _ended(scene: Scene, complaint: Event) -> Instant | None:
    """The time of the complaint: its own, that of a wrapper's end line, or that of the nearest line before it."""
    reading = scene.reading(complaint.source)
    noted = _noted(reading, _END, complaint.line, complaint.line + 5) if reading is not None else None
    if noted is not None:
        return noted
    if complaint.when is not None:
        return complaint.when
    for number in range(complaint.line - 1, max(0, complaint.line - 200), -1):
        when = reading.when(number) if reading is not None else None
        if when is not None:
            return when
    return None


def _began(scene: Scene, complaint: Event, name: str, ended: Instant | None) -> Instant | None:
    """When the run began: the process's own start, else the last start line before the complaint, else the first."""
    for fact in scene.facts_of("script.run_start", script=name):
        return _instant(str(fact.value))
    reading = scene.reading(complaint.source)
    if reading is None or ended is None:
        return None
    noted = _noted(reading, _START, 1, min(complaint.line, NEAR_START))
    if noted is not None:
        return noted
    first: Instant | None = None
    started: Instant | None = None
    for line in matching(reading, r"\S"):
        if line.number >= complaint.line:
            break
        when = reading.when(line.number)
        if when is not None and line.stamp is not None:
            first = first or when
            started = when if _START.search(line.message) and not _later_phase(line.message) else started
    return started or first


def _noted(reading: Reading, word: re.Pattern[str], first: int, last: int) -> Instant | None:
    """A whole time with its zone inside a line: `-- run.sh started 2026-05-20T19:04:10Z by ci --`."""
    for number in range(first, last + 1):
        raw = reading.raw(number) or ""
        if word.search(raw) and (found := _ISO.search(raw)):
            return _instant(found[0].replace("Z", "+00:00"))
    return None


def _later_phase(message: str) -> bool:
    """`phase 2: start` begins a part, not the run."""
    return re.search(r"(?i)\b(?:phase|stage|step|batch|proof|task|job|daemon|worker|epoch)\b", message) is not None


def _instant(text: str) -> Instant | None:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return Instant(when.astimezone(UTC), 1.0)


def _mtimes(scene: Scene, name: str) -> list[tuple[Instant, Evidence]]:
    facts = [*scene.facts_of("script.mtime", script=name)]
    return [(when, fact.evidence) for fact in facts if (when := _instant(str(fact.value))) is not None]


def _deploys(scene: Scene, name: str) -> list[tuple[Instant, Evidence]]:
    """Lines of journals and logs that say that somebody wrote the script."""
    found: list[tuple[Instant, Evidence]] = []
    for reading in scene.of_kind(Kind.JOURNAL, Kind.LOG):
        for line in matching(reading, re.escape(name)):
            when = reading.when(line.number)
            if (
                when is not None
                and line.stamp is not None
                and _names(line.message, name)
                and _WRITES.search(line.message)
            ):
                found.append((when, reading.evidence(line.number)))
    return found


def _names(message: str, name: str) -> bool:
    """Whether the script is spoken of, not the one that speaks or fails."""
    return not re.search(rf"{re.escape(name)}(?:\[\d+\])?: (?:line )?\d*", message)


def _inodes(scene: Scene, name: str, entity: dict[str, str]) -> Iterator[Fact]:
    """The shell that runs it holds another inode than the path: it was replaced, and the old text runs on."""
    now = scene.facts_of("script.inode", script=name)
    held = scene.facts_of("script.run_inode", script=name)
    if now and held and str(now[0].value) != str(held[0].value):
        yield Fact("script.same_as_run", False, "", held[0].evidence, entity)
