"""Whether a success proves that all is well: `healthy` is said only when nothing that was read speaks against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from postmortem.diagnose.entity import seconds_apart
from postmortem.diagnose.session import answers_a_person
from postmortem.diagnose.spans import last_stamp
from postmortem.diagnose.tries import an_earlier_try
from postmortem.diagnose.trouble import is_debris, is_told
from postmortem.lines import Line
from postmortem.model import Evidence, Finding, Kind, Role, Verdict
from postmortem.scene import Reading, Scene

LAST = 3  # lines that tell how a log ends
FAREWELL = 6  # lines that may follow the weakest success: a summary, a clean-up
LONG_FAREWELL = 25  # and a plain one
OLDER_S = 3600.0
UNIT = "outcome.unit-finished"


def doubt(success: Finding, findings: Sequence[Finding], scene: Scene) -> str:
    """Why a success does not prove that all is well, as a sentence; empty when it does."""
    item = success.evidence[-1]
    mild = success.verdict is Verdict.SUSPECTED or answers_a_person(success, scene)
    if why := too_little(success, scene, mild):
        return why
    for reading in newest_logs(scene):
        if older(reading, item, scene):
            continue
        line = ends_badly(reading, item, mild)
        if line is not None:
            return f"{reading.path} ends in trouble: {line.message.strip()[:120]}"
    return hidden(success, findings)


def too_little(success: Finding, scene: Scene, mild: bool) -> str:
    """Why a success is too little: its log goes on long after it, or it is of some unit that may not be the one."""
    item = success.evidence[-1]
    if mild and success.class_id == UNIT:
        return "some unit ended well, and nothing says that it is the one that matters"
    reading = scene.reading(item.source)
    if reading is None or reading.source.kind is not Kind.LOG or success.class_id == "outcome.service-working":
        return ""
    several = sum(e.source == item.source for e in success.evidence) > 1
    room = (0 if several else FAREWELL) if mild else LONG_FAREWELL
    if any(n >= room for n, _ in enumerate(after_it(reading, item))):
        return "the log goes on after it and tells no further end"
    return ""


def after_it(reading: Reading, item: Evidence) -> Iterator[Line]:
    """The lines below an evidence line that say something."""
    for number in range(item.line + 1, reading.source.text.count + 1):
        line = reading.line(number)
        if line is not None and any(c.isalnum() for c in line.message):
            yield line


def newest_logs(scene: Scene) -> list[Reading]:
    """The programs' logs, of a rotated one the newest part."""
    return [r for r in scene.of_kind(Kind.LOG) if scene.parts(r)[-1] is r]


def older(reading: Reading, item: Evidence, scene: Scene) -> bool:
    """Whether a log ended long before the success, or is of an earlier try: a story that was over by then."""
    if an_earlier_try(reading.path, item.source, scene):
        return True
    gap = seconds_apart(last_stamp(reading), item.when)
    return gap is not None and gap > OLDER_S


def ends_badly(reading: Reading, item: Evidence, mild: bool) -> Line | None:
    """The debris of a crash or, where it counts, the line of trouble among the last lines of a log.

    In the log of a success only what stands below it counts, unless it is a mild one (an exit status of 0). Trouble in
    other programs' logs counts against a mild success only: it may be no matter of this run.
    """
    own = reading.path == item.source
    first = item.line + 1 if own and not mild else 1
    said = [line for line in tail(reading, first) if any(c.isalnum() for c in line.message)][-LAST:]
    debris = next((line for line in said if is_debris(line)), None)
    words = own or mild
    return debris or next((line for line in said if words and is_told(line)), None)


def tail(reading: Reading, first: int) -> list[Line]:
    count = reading.source.text.count
    lines = (reading.line(n) for n in range(max(first, count - 4 * LAST), count + 1))
    return [line for line in lines if line is not None]


def hidden(success: Finding, findings: Sequence[Finding]) -> str:
    """A sentence when the log of the success also tells a fault and a lost exit status: the success may be a lie."""
    source = success.evidence[-1].source
    masks = [f for f in findings if f.class_id == "script.exit-code-masked" and f.verdict is Verdict.CONFIRMED]
    faults = [
        f
        for f in findings
        if f.role in (Role.ROOT, Role.MECHANISM) and f.verdict in (Verdict.CONFIRMED, Verdict.SUPPORTED)
    ]
    for fault in faults:
        told = {e.source for e in fault.evidence}
        if source in told and any(e.source in told for m in masks for e in m.evidence):
            return f"an exit status was lost in the same log, after: {fault.title.lower()}"
    return ""
