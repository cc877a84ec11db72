"""Deaths and hangs that the kernel, the audit system or the core dump handler wrote down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from postmortem.lazy import lazy
from postmortem.model import Event, Fact
from postmortem.parse.ending import signal_number
from postmortem.parse.kernel_line import KERNEL_KINDS, LONGEST, NOT_QUOTED, bare_name, kernel_line
from postmortem.scene import Parser, Reading

NULL_PAGE = 0x1000
TRAP_SIGNALS = {
    "general protection fault": "11",
    "invalid opcode": "4",
    "divide error": "8",
    "int3": "5",
    "stack segment": "7",
    "alignment check": "7",
    "overflow": "11",
    "bounds": "11",
}

_TASK = r"(?P<comm>[^\[\]\n]{1,40}?)\[(?P<pid>\d+)\]"
_IN = r"(?:.*? in (?P<library>[^\[\s]+)\[(?:(?P<in_file>[0-9a-f]+),)?(?P<base>[0-9a-f]+)\+[0-9a-f]+\])?"
_SEGFAULT = lazy(
    NOT_QUOTED + rf"{_TASK}:? (?P<kernel_text>(?:segfault|bus error)(?: \((?P<number>\d+)\))? at (?P<address>[0-9a-f]+)"
    rf"(?: (?:r?ip|nip) (?P<ip>[0-9a-f]+))?(?:.*? error:? ?(?P<error>[0-9a-f]+))?{_IN}.*)"
)
_UNHANDLED = lazy(
    NOT_QUOTED + rf"{_TASK}: (?P<kernel_text>unhandled (?:signal (?P<number>\d+)|.*?\((?P<number2>\d+)\))"
    rf"(?: code \S+)? at (?:0x)?(?P<address>[0-9a-f]+){_IN}.*)"
)
_TRAP = lazy(
    NOT_QUOTED + rf"(?:traps: )?{_TASK}:? (?:trap )?(?P<trap>general protection(?: fault)?|[a-z0-9][a-z0-9 ]{{2,24}}?)"
    rf" (?:r?ip:|ip )(?P<ip>[0-9a-f]+){_IN}"
)
_HUNG = lazy(NOT_QUOTED + r"INFO: task (?P<comm>.{1,40}?):(?P<pid>\d+) blocked for more than (?P<seconds>\d+) seconds")
_AUDIT = lazy(
    r"(?:type=1701|ANOM_ABEND)\b.*?\bpid=(?P<pid>\d+) comm=(?:\"(?P<comm>[^\"]*)\"|(?P<hex>[0-9A-F]+))"
    r"(?:.*?exe=\"(?P<exe>[^\"]*)\")?.*?\bsig=(?P<signal>[1-9]\d*)"
)
_DUMPED = lazy(
    r"Process (?P<pid>\d+) \((?P<comm>.+?)\) of user (?P<uid>\d+) (?:dumped core|killed by (?P<name>SIG\w+)"
    r"|terminated abnormally with signal (?P<signal>\d+))"
)
_MEMORY = lazy(
    r"(?:Memory failure|MCE):? ?0x[0-9a-f]+: (?:Sending SIGBUS to|Killing) "
    r"(?P<comm>.+?):(?P<pid>\d+) due to hardware memory"
)
_FATAL = lazy(r"(?P<comm>[^\s/]+)/(?P<pid>\d+): potentially unexpected fatal signal (?P<signal>\d+)")

NEEDLES = (
    r"segfault ",
    r"bus error \(",
    r"\]: unhandled ",
    r"general protection",
    r"trap (?:invalid opcode|divide error|int3|stack segment|alignment check|overflow|bounds)",
    r"blocked for more than \d+ seconds",
    r"type=1701",
    r"ANOM_ABEND",
    r"Process \d+ \(.{1,40}\) of user \d+ ",
    r"due to hardware memory",
    r"potentially unexpected fatal signal",
)

Fields = dict[str, str]


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Events of faults of user programs and of hung tasks.

    `python3[4242]: segfault at 8 ip 00007f31c0de5f10 sp 00007ffd2ab31aa0 error 4 in libfoo.so[7f31c0dd4000+1b000]`, by
    the kernel.
    """
    hung: dict[str, tuple[list[int], Fields]] = {}
    for number in reading.nominated:
        line = kernel_line(reading, number)
        found = _of_kernel(line.message) if line else None
        if found is None and (any_line := reading.line(number)):
            found = _of_program(any_line.message[:LONGEST])
        if found is None:
            continue
        kind, fields = found
        if kind != "kernel.hung-task":
            yield reading.event(kind, number, fields)
            continue
        lines, known = hung.setdefault(fields["pid"], ([], fields))
        lines.append(number)
        known["seconds"] = str(max(int(known["seconds"]), int(fields["seconds"])))
    for lines, fields in hung.values():
        count = {"count": str(len(lines))} if len(lines) > 1 else {}
        yield reading.event("kernel.hung-task", lines[0], fields | count, (lines[-1],))


def _of_kernel(message: str) -> tuple[str, Fields] | None:
    for kind, form in _KERNEL_FORMS:
        fields = form(message)
        if fields is not None:
            return kind, {k: bare_name(v) if k == "comm" else v for k, v in fields.items() if v}
    return None


def _of_program(message: str) -> tuple[str, Fields] | None:
    """An audit record or a core dump handler's line, which a program writes."""
    if found := _AUDIT.search(message):
        comm = found["comm"] or bytes.fromhex(found["hex"][: len(found["hex"]) & ~1]).decode("utf-8", "replace")
        return "kernel.signal", _only(
            comm=comm, pid=found["pid"], signal=found["signal"], exe=found["exe"], how="audit"
        )
    if found := _DUMPED.search(message):
        number = found["signal"] or str(signal_number(found["name"]) or "" if found["name"] else "")
        fields = _only(comm=found["comm"], pid=found["pid"], uid=found["uid"], signal=number)
        return "kernel.signal", fields | {"how": "coredump"}
    return None


def _only(**fields: str | None) -> Fields:
    return {k: v for k, v in fields.items() if v}


def _segfault(message: str) -> Fields | None:
    found = _SEGFAULT.search(message) or _UNHANDLED.search(message)
    if found is None:
        return None
    groups = found.groupdict()
    number = groups.get("number") or groups.get("number2")
    signal = number or ("7" if "bus error" in groups["kernel_text"] else "11")
    fields = _only(**{k: groups.get(k) for k in ("comm", "pid", "address", "library", "error", "kernel_text")})
    fields |= {"signal": signal} | ({"null": "yes"} if int(groups["address"], 16) < NULL_PAGE else {})
    return fields | _access(groups.get("error")) | _offset(groups)


def _access(error: str | None) -> Fields:
    """What the x86 page-fault error bits say: 2 = write, 16 = instruction fetch."""
    if error is None:
        return {}
    bits = int(error, 16)
    return {"access": "execute" if bits & 16 else "write" if bits & 2 else "read"}


def _offset(groups: Mapping[str, str | None]) -> Fields:
    """Where in the library it was: equal for the same fault wherever the library was loaded (6.11 prints it itself)."""
    ip, base, in_file = groups.get("ip"), groups.get("base"), groups.get("in_file")
    if in_file:
        return {"offset": hex(int(in_file, 16))}
    if not ip or not base or int(ip, 16) < int(base, 16):
        return {}
    return {"offset": hex(int(ip, 16) - int(base, 16))}


def _trap(message: str) -> Fields | None:
    found = _TRAP.search(message)
    if found is None:
        return None
    trap = "general protection fault" if found["trap"].startswith("general protection") else found["trap"]
    if trap not in TRAP_SIGNALS:
        return None
    fields = _only(comm=found["comm"], pid=found["pid"], trap=trap, library=found["library"])
    return fields | {"signal": TRAP_SIGNALS[trap]} | _offset(found.groupdict())


def _hung(message: str) -> Fields | None:
    found = _HUNG.search(message)
    return found.groupdict() if found else None


def _memory(message: str) -> Fields | None:
    """A process that the kernel stops because its memory is broken."""
    found = _MEMORY.search(message)
    return found.groupdict() | {"signal": "7", "how": "hardware-memory"} if found else None


def _fatal(message: str) -> Fields | None:
    found = _FATAL.search(message)
    return found.groupdict() | {"how": "kernel"} if found else None


_KERNEL_FORMS: tuple[tuple[str, Callable[[str], Fields | None]], ...] = (
    ("kernel.segfault", _segfault),
    ("kernel.trap", _trap),
    ("kernel.hung-task", _hung),
    ("kernel.signal", _memory),
    ("kernel.signal", _fatal),
)

PARSER = Parser(name="kernel-faults", kinds=KERNEL_KINDS, read=read, needles=NEEDLES)
