"""A run that nothing explains and whose log ends in trouble failed, whatever the cause is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from postmortem.diagnose.gaps import ASK
from postmortem.diagnose.trouble import is_debris, is_trouble
from postmortem.model import Diagnosis, Evidence, Finding, Kind, Role, Verdict
from postmortem.news.news import News
from postmortem.scene import Reading, Scene

LAST = 3  # lines of a log that tell how it ended


def judged(diagnosis: Diagnosis, scene: Scene, news: Sequence[News] | None) -> Diagnosis:
    """The diagnosis, failed where it was undecided and a program's log ends in trouble.

    With a healthy run at hand (`news` is what differs from it) a run failed also when it stops short of that one's
    end, or counts 0 where that one never does.
    """
    if diagnosis.status != "undecided":
        return diagnosis
    newest = (r for r in scene.of_kind(Kind.LOG) if scene.parts(r)[-1] is r)
    found = next(filter(None, map(ends_in_trouble, newest)), None)
    item, said = (found[0].evidence(found[1]) if found else None), "The log ends in trouble that no signature knows."
    if news is not None:
        differs = found or any(n.what in ("missing", "number") for n in news)
        item = next((n.evidence for n in news), None) if differs else None
        said = "The run differs from the healthy one."
    asked = replace(diagnosis, would_decide=diagnosis.would_decide or next_time(scene))
    return failed(asked, item, said) if item else asked


def failed(diagnosis: Diagnosis, item: Evidence, said: str) -> Diagnosis:
    end = Finding(
        "outcome.unknown", said.rstrip("."), Role.OUTCOME, Verdict.POSSIBLE, (item,), said, when=item.when,
        outcome="failed",
    )  # fmt: skip
    return replace(diagnosis, status="failed", outcome=end)


def next_time(scene: Scene) -> tuple[str, ...]:
    """What to collect next time: the sources that most failures are decided by and that are not here."""
    return tuple(ASK[kind] for kind in (Kind.KERNEL, Kind.CGROUP, Kind.PS) if not scene.of_kind(kind))


def ends_in_trouble(reading: Reading) -> tuple[Reading, int] | None:
    """The first line of trouble, or of what a dying program leaves, among the last lines of a log."""
    count = reading.source.text.count
    lines = (reading.line(n) for n in range(max(1, count - LAST + 1), count + 1))
    return next(
        ((reading, line.number) for line in lines if line is not None and (is_trouble(line) or is_debris(line))), None
    )
