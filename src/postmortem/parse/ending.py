"""How a process ended, from the numbers that tell it: wait status words, shell statuses, signal names."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from postmortem.model import Instant

# Linux numbers on x86 and arm64; the names as `kill -l` prints them.
_NAMES = """
HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG
XCPU XFSZ VTALRM PROF WINCH IO PWR SYS
"""
SIGNALS = {number: f"SIG{name}" for number, name in enumerate(_NAMES.split(), 1)}
_NUMBERS = {name: number for number, name in SIGNALS.items()} | {"SIGIOT": 6, "SIGPOLL": 29, "SIGCLD": 17}

# The words of strsignal(3) as shells print them for a dead child.
WORDS = {
    "Hangup": 1,
    "Interrupt": 2,
    "Quit": 3,
    "Illegal instruction": 4,
    "Trace/breakpoint trap": 5,
    "Trace/BPT trap": 5,
    "Aborted": 6,
    "Abort": 6,
    "Bus error": 7,
    "Floating point exception": 8,
    "Floating exception": 8,
    "Arithmetic exception": 8,
    "Killed": 9,
    "User defined signal 1": 10,
    "Segmentation fault": 11,
    "Memory fault": 11,
    "User defined signal 2": 12,
    "Broken pipe": 13,
    "Alarm clock": 14,
    "Terminated": 15,
    "CPU time limit exceeded": 24,
    "Cputime limit exceeded": 24,
    "File size limit exceeded": 25,
    "Filesize limit exceeded": 25,
    "Bad system call": 31,
}


def signal_number(name: str) -> int | None:
    """The number of `KILL`, `SIGKILL` or `9`; None for anything else."""
    if re.fullmatch(r"\d{1,2}", name):
        return int(name)
    upper = name.upper()
    return _NUMBERS.get(upper if upper.startswith("SIG") else f"SIG{upper}")


def by_signal(number: int, core: bool = False) -> dict[str, str]:
    """The fields of an end by a signal."""
    fields = {"signal": str(number), "signal_name": SIGNALS.get(number, f"signal {number}")}
    return fields | {"core": "yes"} if core else fields


def of_wait_status(word: int) -> dict[str, str]:
    """The fields of a wait status word: low 7 bits the signal, bit 7 a core, the high byte the exit code."""
    if word & 0x7F:
        return by_signal(word & 0x7F, bool(word & 0x80))
    return {"code": str(word >> 8 & 0xFF)}


def of_shell_status(status: int) -> dict[str, str]:
    """The fields of a shell's status: 128 + n is consistent with signal n, and a program may say so itself."""
    fields = {"status": str(status), "code": str(status)}
    number = status - 128
    return fields | by_signal(number) if number in SIGNALS and number not in (17, 18, 19, 23, 28) else fields


def of_returncode(number: int) -> dict[str, str]:
    """The fields of a return code in Python's way: a negative number is a signal."""
    return {"status": str(number)} | by_signal(-number) if number < 0 else of_shell_status(number)


def finished_at(text: str) -> Instant | None:
    """`2023-05-08T06:09:51.744Z` of docker, `Thu, 12 Nov 2026 03:07:45 +0000` of kubectl."""
    if not text or text.startswith("0001-"):
        return None
    try:
        when = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
    except ValueError:
        try:
            when = parsedate_to_datetime(text)
        except ValueError:
            return None
    return Instant(when.astimezone(UTC), 1.0) if when.tzinfo else None
