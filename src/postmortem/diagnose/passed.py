"""Whether a fault was passed: the program that told it went on working afterwards, to the end of its log."""

from __future__ import annotations

from postmortem.diagnose.trouble import is_told
from postmortem.lazy import lazy
from postmortem.lines import stamps_of
from postmortem.model import Evidence, Finding, Kind
from postmortem.scene import Reading, Scene

WENT_ON = 8  # ordinary lines after the fault; fewer can be the farewell of a dying program
BAD_LEVELS = frozenset({"error", "fatal", "critical", "panic"})
NOTES = frozenset({"trace", "debug", "info", "notice", "warn", "warning"})
LAST_LINES = 4
LONGEST_TRACE = 400
NEAR = 20
STAMPED = 0.9
CARRIERS = frozenset({"docker-json", "cri", "github"})  # dialects that put a stamp before every line, traces too

# what a virtual machine or a debugger finds when it looks at all threads
_DUMP = lazy(
    r"Found (?:one|\d+) (?:Java-level )?deadlocks?\b|\bfound \d+ deadlocked threads?\b|all goroutines are asleep"
    r"|^goroutine \d+ \[[\w. ]+, \d+ minutes"
)


def passed(fault: Finding, scene: Scene) -> bool:
    """Whether every log that tells of the fault goes on with ordinary lines well after it.

    The kernel, a process table, a counter or a dump of threads tells a state, which later lines of a log do not undo.
    """
    told = [(scene.reading(e.source), e) for e in fault.evidence]
    if any(_DUMP.search(e.text) for e in fault.evidence):
        return False
    return all(
        reading is not None and reading.source.kind is Kind.LOG and went_on(reading, item, scene)
        for reading, item in told
    )


def went_on(reading: Reading, item: Evidence, scene: Scene) -> bool:
    """Whether at least `WENT_ON` ordinary lines follow the line, and the log does not end in an error."""
    parts = scene.parts(reading)
    later = parts[parts.index(reading) + 1 :]
    text, own = reading.source.text, max(writers_stamp(reading, item.line), stamps_all(reading, item.line))
    ordinary = 0
    if not later and ends_in_words_of_trouble(reading):
        return False
    for number in range(max(item.line + 1, text.count - 400), text.count + 1):
        if is_ordinary(reading, number) and has_stamps(reading, number) >= own:
            ordinary += was_later(reading, number, item)
        elif not later and number > text.count - LAST_LINES and is_error(reading, number):
            return False
    for part in later:
        count = part.source.text.count
        ordinary += sum(is_ordinary(part, n) for n in range(max(1, count - 400), count + 1))
    if later and ends_in_error(later[-1], LAST_LINES):
        return False
    return ordinary >= WENT_ON


def ends_in_words_of_trouble(reading: Reading) -> bool:
    """Whether the last line that says something speaks of trouble, such as `error: creating server: Internal`."""
    count = reading.source.text.count
    lines = (reading.line(n) for n in range(count, max(0, count - LAST_LINES), -1))
    last = next((line for line in lines if line is not None and any(c.isalnum() for c in line.message)), None)
    return last is not None and is_told(last)


def was_later(reading: Reading, number: int, item: Evidence) -> bool:
    """Whether a line further down was really written later: a late flush puts old lines below new ones."""
    mine, later = reading.clock.order(item.line), reading.clock.order(number)
    return mine is None or later is None or later >= mine


def is_ordinary(reading: Reading, number: int) -> bool:
    """Whether the line stands on its own: a message at its own stamp that is no error."""
    line = reading.line(number)
    return (
        line is not None
        and bool(line.message.strip())
        and not line.message[0].isspace()
        and not is_error(reading, number)
    )


def is_error(reading: Reading, number: int) -> bool:
    line = reading.line(number)
    return line is not None and line.level in BAD_LEVELS


def ends_its_log(fault: Finding, scene: Scene) -> bool:
    """Whether the log that tells the fault ends with it: what follows has no stamp (a trace) or is short."""
    last = fault.evidence[-1]
    reading = scene.reading(last.source)
    if reading is None or reading.source.kind is not Kind.LOG:
        return False
    if scene.parts(reading)[-1] is not reading:
        return False
    rest = range(last.line + 1, reading.source.text.count + 1)
    if len(rest) < LAST_LINES:
        return True
    own = writers_stamp(reading, last.line) or 1
    stamped = last.when is not None and len(rest) <= LONGEST_TRACE
    return stamped and not any(has_stamps(reading, n) >= own for n in rest)


def has_stamps(reading: Reading, number: int) -> int:
    """How many stamps a line carries: its writer's own, and that of the runtime that read it from a pipe."""
    raw = reading.raw(number)
    return len(stamps_of(raw, reading.source.dialect)) if raw else 0


def writers_stamp(reading: Reading, number: int) -> int:
    """How many stamps a line that its writer stamped has there: 2 in a container's log, whose every line has one.

    0 where the writer stamps nothing, or where the log is its own.
    """
    if reading.source.dialect not in CARRIERS:
        return 0
    return 2 if any(has_stamps(reading, n) > 1 for n in range(max(1, number - NEAR), number + 1)) else 0


def stamps_all(reading: Reading, number: int) -> int:
    """1 where nearly all lines above have a stamp: a line without one is then the rest of a message, a table."""
    lines = [line for n in range(max(1, number - NEAR), number) if (line := reading.line(n)) and line.message.strip()]
    stamped = sum(line.stamp is not None for line in lines)
    return int(len(lines) >= WENT_ON and stamped >= STAMPED * len(lines))


def quiet_end(scene: Scene) -> bool:
    """Whether no program's log has an error among its last lines."""
    logs = (r for r in scene.of_kind(Kind.LOG) if scene.parts(r)[-1] is r)
    return not any(ends_in_error(reading) for reading in logs)


def ends_in_error(reading: Reading, lines: int = 5 * LAST_LINES) -> bool:
    count = reading.source.text.count
    return any(is_error(reading, n) for n in range(max(1, count - lines + 1), count + 1))


def mere_notes(fault: Finding, scene: Scene) -> bool:
    """Whether the writers of all lines that tell a fault gave them a level below an error.

    A journal gives its own level to all that a unit prints, and a trace of a shell (`+ read x`) is no judgement.
    """
    lines = [(r, r.line(e.line)) for e in fault.evidence if (r := scene.reading(e.source)) is not None and e.line]
    return bool(lines) and all(
        line is not None
        and reading.source.kind is Kind.LOG
        and line.channel == "program"
        and line.level in NOTES
        and not line.message.startswith("+")
        for reading, line in lines
    )
