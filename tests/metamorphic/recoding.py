"""System logs written in another form: dmesg, dmesg -T, /dev/kmsg, journal short and JSON, syslog with both clocks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from evidence import DoesNotApply, Files, joined, readings

from postmortem.clock import year_known
from postmortem.model import Kind
from postmortem.scene import Reading

UNKNOWN_YEAR = 2024  # a leap year, so that every day exists
BOOT = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)  # for a machine of which nothing says when it booted
UP_S = 5000.0  # uptime at the first line, for a log that has no uptime


@dataclass(frozen=True, slots=True)
class Record:
    """A line with both clocks and its writer."""

    when: datetime
    seconds: float
    host: str
    program: str
    pid: str
    kernel: bool
    message: str

    @property
    def tag(self) -> str:
        return f"{self.program or 'app'}[{self.pid}]" if self.pid else self.program or "app"


def dmesg(r: Record, n: int) -> str:
    return f"[{r.seconds:12.6f}] {r.message}"


def dmesg_ctime(r: Record, n: int) -> str:
    return f"[{r.when:%a %b} {r.when.day:2} {r.when:%H:%M:%S %Y}] {r.message}"


def kmsg(r: Record, n: int) -> str:
    return f"6,{n},{int(r.seconds * 1e6)},-;{r.message}"


def journal_short(r: Record, n: int) -> str:
    return f"{r.when:%b %d %H:%M:%S} {r.host} {'kernel' if r.kernel else r.tag}: {r.message}"


def journal_iso(r: Record, n: int) -> str:
    return f"{r.when:%Y-%m-%dT%H:%M:%S}+0000 {r.host} {'kernel' if r.kernel else r.tag}: {r.message}"


def journal_json(r: Record, n: int) -> str:
    record = {
        "__REALTIME_TIMESTAMP": str(int(r.when.timestamp() * 1e6)),
        "_TRANSPORT": "kernel" if r.kernel else "stdout",
        "_HOSTNAME": r.host,
        "SYSLOG_IDENTIFIER": "kernel" if r.kernel else r.program or "app",
        "PRIORITY": "5",
        "MESSAGE": r.message,
    }
    return json.dumps(record | ({"_PID": r.pid} if r.pid else {}))


def syslog(r: Record, n: int) -> str:
    head = f"{r.when:%b} {r.when.day:2} {r.when:%H:%M:%S} {r.host}"
    return f"{head} kernel: [{r.seconds:12.6f}] {r.message}" if r.kernel else f"{head} {r.tag}: {r.message}"


def rfc5424(r: Record, n: int) -> str:
    writer = ("kernel", "-") if r.kernel else (r.program or "app", r.pid or "-")
    return f"<{5 if r.kernel else 13}>1 {r.when:%Y-%m-%dT%H:%M:%S.%f}Z {r.host} {writer[0]} {writer[1]} - - {r.message}"


FORMS: Mapping[str, Callable[[Record, int], str]] = {
    "dmesg": dmesg, "dmesg-T": dmesg_ctime, "kmsg": kmsg, "journal-short": journal_short, "journal-iso": journal_iso,
    "journal-json": journal_json, "syslog": syslog, "rfc5424": rfc5424,
}  # fmt: skip
KERNEL_ONLY = frozenset({"dmesg", "dmesg-T", "kmsg"})


def recoded(given: Files, form: str) -> Files:
    """The kernel logs, and for forms that name the writer the journals too, written in this form.

    A kernel log whose place on the wall clock the case does not tell is left out where other files have wall times:
    putting it somewhere would add or contradict evidence.
    """
    seen = readings(given)
    wanted = {Kind.KERNEL} if form in KERNEL_ONLY else {Kind.KERNEL, Kind.JOURNAL}
    changed, boots = dict(given), set[datetime]()
    for path, reading in seen.items():
        if reading.source.kind in wanted and path in given and (boot := boot_of(reading, seen, form)):
            changed[path] = joined([FORMS[form](r, n) for n, r in enumerate(records(reading, boot), 100)] + [""])
            boots.add(boot)
    if changed == dict(given):
        raise DoesNotApply
    if form in ("dmesg", "kmsg") and len(boots) == 1:  # what dates such a log in a bundle
        changed["stat"] = (
            f"cpu  1 2 3 4 5 6 7 8 9 10\nctxt 7\nbtime {int(boots.pop().timestamp())}\nprocesses 9\n".encode()
        )
    return changed


def boot_of(reading: Reading, all_: Mapping[str, Reading], form: str) -> datetime | None:
    """When the machine of this log booted, as far as the case tells; invented where no other file could contradict."""
    numbers = [n for n, _ in reading.source.text.kept()]
    for n in numbers:
        line, when = reading.line(n), reading.when(n)
        if line and line.stamp and when:
            up = line.stamp.seconds if line.stamp.clock == "boot" and line.stamp.seconds is not None else UP_S
            return known_year(when.utc) - timedelta(seconds=up) if year_known(when) else None
    others = [r for p, r in all_.items() if p != reading.path and any(len(r.clock.numbers) for _ in "x")]
    stamped = any((line := reading.line(n)) and line.stamp for n in numbers)
    return BOOT if stamped and not others else None


def known_year(when: datetime) -> datetime:
    return when.replace(year=UNKNOWN_YEAR) if when.year < 1970 else when


def records(reading: Reading, boot: datetime) -> list[Record]:
    """The log's lines; one without a stamp takes the one before it."""
    found: list[Record] = []
    for n, raw in reading.source.text.kept():
        line, when = reading.line(n), reading.when(n)
        if line is None or not raw.strip():
            continue
        if line.stamp is None and found:
            last = found[-1]
            found.append(Record(last.when, last.seconds, last.host, last.program, last.pid, last.kernel, raw))
            continue
        boot_s = line.stamp.seconds if line.stamp and line.stamp.clock == "boot" else None
        at = known_year(when.utc) if when else boot + timedelta(seconds=boot_s or 0)
        seconds = boot_s if boot_s is not None else max(0.0, (at - boot).total_seconds())
        kernel = line.channel == "kernel" or reading.source.kind is Kind.KERNEL
        found.append(Record(at, seconds, line.host or "node-1", line.program, line.pid, kernel, line.message))
    return found
