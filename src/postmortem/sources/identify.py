"""What a member is: its content first, its name second."""

from __future__ import annotations

from typing import NamedTuple

from postmortem.lines import dialect_of
from postmortem.model import Kind, State
from postmortem.sources.names import CGROUP_FILE, is_log_name, kind_of_name, without_compression
from postmortem.sources.refusals import access_error, is_missing, lost_tool
from postmortem.sources.shapes import is_binary, is_settings, shape_of

SAMPLE_BYTES = 64 << 10
SAMPLE_LINES = 400
HOLE = 64  # NUL bytes that are no accident
SMALL = 512  # bytes of a file that can be a single value

# Shapes that lines of a program's log can have by chance.
_WEAK = frozenset({Kind.LISTING, Kind.CONTAINER, Kind.CONFIG, Kind.HOST, Kind.PS, Kind.DISK})
# Kinds that one command or file stands for, so that an error can stand in their place.
_OUTPUTS = frozenset(
    {Kind.KERNEL, Kind.JOURNAL, Kind.CGROUP, Kind.PROC, Kind.HOST, Kind.PS, Kind.SMI, Kind.DISK, Kind.CONTAINER}
)


class Identity(NamedTuple):
    """What a member is, how its lines are written, and a state that its content tells (else None) with the reason."""

    kind: Kind
    dialect: str = ""
    state: State | None = None
    reason: str = ""


def identify(path: str, head: bytes) -> Identity:
    """The identity of a member by its path and first bytes, such as `foo.txt` with `[   12.345678] usb 1-2: new`."""
    path = without_compression(path)
    named = kind_of_name(path)
    if not head:
        return Identity(named)
    if named is Kind.PROBE:
        return Identity(Kind.PROBE)
    if is_binary(head):
        return Identity(Kind.BINARY)
    lines = sample(head)
    error = access_error(lines)
    if error and not is_log_name(path) and (lost := kind_of_name(f"{lost_tool(error)}.txt")) in _OUTPUTS:
        return Identity(lost, state=State.MISSING, reason=error)
    if error and (named in _OUTPUTS or named is Kind.LISTING) and shape_of(lines) is not Kind.SMI:
        state = State.MISSING if is_missing(error) else State.DENIED
        return Identity(named, state=state, reason=error)
    if any(line.strip() == "-- No entries --" for line in lines[:3]):
        return Identity(named, state=State.EMPTY, reason="-- No entries --")
    kind = Kind.LOG if _is_session(lines) and named not in _OUTPUTS else _kind(path, named, lines, len(head))
    dialect = dialect_of(lines) if kind in (Kind.KERNEL, Kind.JOURNAL, Kind.LOG, Kind.CONTAINER) else ""
    return Identity(kind, dialect, reason=hole(head))


def hole(head: bytes) -> str:
    """What a log that was cut under its writer begins with: its next write stands at the old offset."""
    zeros = len(head) - len(head.lstrip(b"\0"))
    return f"begins with {zeros} NUL bytes" if zeros >= HOLE else ""


def sample(head: bytes) -> list[str]:
    """The first lines, decoded."""
    return head.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")[:SAMPLE_LINES]


def _is_session(lines: list[str]) -> bool:
    """Whether a person typed at a prompt: `$ ls /proc/37/fd | wc -l` with its output below."""
    return lines[0].startswith(("$ ", "# $ ", "root@", "> $ "))


def _kind(path: str, named: Kind, lines: list[str], size: int) -> Kind:
    shape = shape_of(lines)
    if CGROUP_FILE.search(path) and shape not in (Kind.SCRIPT, Kind.KERNEL, Kind.JOURNAL) and size < 64 << 10:
        return Kind.CGROUP
    if shape is not None and not (shape in _WEAK and is_log_name(path)):
        return _by_folder(shape, named)
    if named is Kind.SCRIPT:
        return Kind.LOG if dialect_of(lines) else Kind.SCRIPT
    if named is Kind.KERNEL or named is Kind.JOURNAL:
        return named if dialect_of(lines) else Kind.LOG
    if is_log_name(path):
        return Kind.LOG
    settings = named is Kind.LOG and is_settings(lines) and not dialect_of(lines)
    return Kind.CONFIG if settings else named


def _by_folder(shape: Kind, named: Kind) -> Kind:
    """PSI of a group looks like the host's; its folder tells them apart."""
    return Kind.CGROUP if shape is Kind.HOST and named is Kind.CGROUP else shape
