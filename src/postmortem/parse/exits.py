"""Lines that say how a process ended: shells, systemd, containers, schedulers, wrappers, CI."""

from __future__ import annotations

from collections.abc import Iterator

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.parse import exit_managers, exit_rules
from postmortem.parse.exit_rules import Fields
from postmortem.scene import Parser, Reading

RULES = (*exit_managers.RULES, *exit_rules.RULES)
_COMPILED = tuple((lazy(needle), lazy(pattern), make) for needle, pattern, make in RULES)
# a line that lists what codes mean, asks for one, or is source text, tells of no end
_NOT = lazy(
    r"(?i)\bif (?:the |its )?exit|exit codes?:? (?:are|means?)|\bexpect(?:ed|s)? (?:exit|status)|#success|"
    r"--exit-code|\$\?|\$\{?rc|echo "
)


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Lines that end a process, such as bash's `run.sh: line 7:  1834 Killed                  ./prover --x`."""
    for number in reading.nominated:
        line = reading.line(number)
        if line is None or line.channel == "kernel" or _NOT.search(line.message):
            continue
        for fields in endings(line.message) or endings(line.raw):
            yield reading.event("exit", number, fields)


def endings(message: str) -> list[Fields]:
    """The fields of the first rule that fits, once for each place where it does."""
    for needle, pattern, make in _COMPILED:
        if needle.search(message):
            found = [named(fields) for match in pattern.finditer(message) if (fields := make(match)) is not None]
            if found:
                return found
    return []


def named(fields: Fields) -> Fields:
    """The same where a number stands for a name: `child 2663 exited`."""
    comm = fields.get("comm", "")
    if not comm.isdigit():
        return fields
    return {"pid": comm, **{key: value for key, value in fields.items() if key != "comm"}}


PARSER = Parser(
    name="exits",
    kinds=frozenset({Kind.LOG, Kind.JOURNAL, Kind.CONTAINER, Kind.LISTING, Kind.PROBE}),
    read=read,
    needles=tuple(dict.fromkeys(needle for needle, _, _ in RULES)),
)
