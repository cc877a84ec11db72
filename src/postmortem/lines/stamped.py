"""Lines that begin with a stamp, bare or in brackets; what follows the stamp tells whose form it is."""

from __future__ import annotations

import re

from postmortem.lazy import lazy
from postmortem.lines import stamps, system, wrappers
from postmortem.lines.kernel import dmesg_ctime
from postmortem.lines.levels import level_of
from postmortem.lines.programs import tail
from postmortem.lines.types import Head, Stamp

_ENDS = frozenset(" \t,:;|])-")
_EPOCH = lazy(r"@?(\d{10,19})(?:\.(\d{1,9}))?(?=[ \t:]|$)")
_EPOCH_INSIDE = lazy(r"\[(\d{10})\.(\d{3,9})(?=\])")
_HEX = lazy(r"([0-9a-f]{8})(?:\.[0-9a-f]{8} 0x[0-9a-f]+)? (?=conn=|slapd |daemon: |@\(#\)|bdb_|mdb_|connection_)")
_ACCESS = lazy(r"(?:[\w.:-]+ )?[\d.:a-fA-F]{3,40} \S+ \S+ \[([^\]]{20,32})\] ")
_ELAPSED = lazy(
    r"\+(\d+(?:\.\d+)?)s[: ]|\[ *(\d+\.\d+)s\] |t=(\d+\.\d+)s?[: ]|(\d\d:\d\d:\d\d) elapsed"
    r"|\d+\.(\d\d)\.(\d{3})\.\d{3} [IWED] "
)
_NAMED_STAMP = lazy(r"\[([A-Za-z][\w./-]{0,40})\] (?=\d\d)")
_APACHE = lazy(r"\[[^\]]{20,40}\] \[(?:[\w.-]+:)?(\w+)\] ")
_INSIDE = lazy(r" +([A-Za-z]{3,8}) +([\w:./-]*)\] ?")
_AUDIT = lazy(r"type=\w+ (?:msg=)?audit\((\d{10})\.(\d{3}):\d+\): ")


def _take(head: Head, got: stamps.Read | None) -> bool:
    """Takes the stamp off the text, if there is one and it ends where a word ends."""
    if not got:
        return False
    stamp, end = got
    text = head.text
    if end < len(text) and text[end] not in _ENDS:
        return False
    head.stamps.append(stamp)
    head.text = text[end:]
    return True


def iso_line(head: Head, dialect: str) -> str:
    """A line that begins with an ISO stamp: of the kernel, syslog, a container runtime, a CI, or a program."""
    if not _take(head, stamps.iso(head.text)):
        return ""
    stamp, text = head.stamps[-1], head.text
    rest = text[1:] if text.startswith(" ") else text
    zone = stamp.text[-6:-2] if stamp.wall and stamp.wall.tzinfo else ""
    if "," in stamp.text and stamp.resolution_s < 2e-6 and zone and stamp.text[-3] == ":":
        head.text, head.kernel = rest, True
        return "dmesg-iso"
    if wrappers.cri(head):
        return "cri"
    numeric = ("+" in zone or "-" in zone) and stamp.resolution_s > 5e-7  # syslog and the journal print no ns
    head.text = rest
    if (numeric or dialect == "syslog-iso") and _may_have_host(rest) and system.tag(head):
        return "syslog-iso"
    if system.tag_if_dialect(head, False):
        return "syslog-iso"
    if stamp.text.endswith("Z") and 5e-8 < stamp.resolution_s < 5e-7:
        return "github"
    head.text = text
    return "iso!" if tail(head) else "iso"


def _may_have_host(text: str) -> bool:
    first = text[: text.find(" ")]
    return bool(first) and first[-1] not in ":]|" and not level_of(first.strip("[]"))


def digits(head: Head, dialect: str, weak: bool) -> str:
    """A line that begins with a digit."""
    text = head.text
    if text[4:5] == "-" and (name := iso_line(head, dialect)):
        return name
    if weak and (m := _ELAPSED.match(text)):
        return _elapsed(head, m)
    if _take(head, stamps.numeric(text)):
        return "numeric!" if tail(head) else "numeric"
    if not weak:
        return ""
    if text[2:3] == ":" and _take(head, stamps.clock_time(text)):
        return "clock!" if tail(head) else "clock"
    if _take(head, stamps.day_first(text)):
        return "day-first!" if tail(head) else "day-first"
    return _seconds(head, dialect)


def _seconds(head: Head, dialect: str) -> str:
    """Epoch seconds, slapd's hexadecimal seconds, and web server lines, whose stamp stands behind the client."""
    text = head.text
    m = _EPOCH.match(text)
    sure = m is not None and (m[2] is not None or text[0] == "@" or dialect == "epoch")
    if m and sure and (stamp := stamps.epoch(m[1], m[2] or "")):
        head.stamps.append(stamp)
        head.text = text[m.end() :]
        if head.text.startswith(" ") and system.surely_tagged(head.text[1:]):  # journalctl -o short-unix
            head.text = head.text[1:]
            system.tag(head)
            return "syslog-epoch"
        return "epoch!" if tail(head) else "epoch"
    if (m := _HEX.match(text)) and (stamp := stamps.epoch(str(int(m[1], 16)))):
        head.stamps.append(Stamp(m[1], "wall", stamp.wall))
        head.text = text[m.end() :]
        return "hex"
    if (m := _ACCESS.match(text)) and (got := stamps.day_first(m[1])):
        head.stamps.append(got[0])
        return "access!"
    return ""


def _elapsed(head: Head, m: re.Match[str]) -> str:
    """Seconds since the program started: `+0.123s`, `[12.34s]`, `t=12.3s`, `00:03:26 elapsed`, `0.21.003.117 I`."""
    seconds = m[1] or m[2] or m[3]
    if m[4]:
        hours, minutes, rest = m[4].split(":")
        value = int(hours) * 3600 + int(minutes) * 60 + float(rest)
    elif m[5]:
        value = int(m[0].split(".")[0]) * 60 + int(m[5]) + int(m[6]) / 1000
    else:
        value = float(seconds)
    head.stamps.append(Stamp(m[0].strip(), "start", None, value, 1.0 if m[4] else 0.01))
    head.text = head.text[m.end() - (2 if m[5] else 0) :]
    if m[5]:
        tail(head)
    return "elapsed!"


def elapsed(head: Head) -> str:
    m = _ELAPSED.match(head.text)
    return _elapsed(head, m) if m else ""


def named_line(head: Head, dialect: str) -> str:
    """A line that begins with a month's name: syslog, the journal, or slog's terminal form."""
    if not _take(head, stamps.named(head.text)):
        return ""
    text = head.text
    rest = text[1:] if text.startswith(" ") else text
    if _may_have_host(rest) or dialect == "syslog" or rest.partition(" ")[0].endswith(":"):
        head.text = rest
        if system.tag(head):
            return "syslog"
    head.text = text
    return "named!" if tail(head) else "named"


def weekday_line(head: Head) -> str:
    """A line that begins with a weekday: date, ctime, journalctl -o short-full and with-unit, OpenWrt's logread."""
    if not _take(head, stamps.weekday(head.text)):
        return ""
    text = head.text
    head.text = text[1:] if text.startswith(" ") else text
    full = head.stamps[-1].text[:4].isdigit()  # journalctl's short-full, whose stamp is an ISO one
    if head.text and (full or "." in head.text.partition(" ")[0]) and system.tag(head):
        return "syslog-full"
    head.text = text
    return "weekday!" if tail(head) else "weekday"


def bracketed(head: Head, weak: bool) -> str:
    """`[2026-05-01T12:00:00Z INFO  crate::mod] text` (env_logger), `[Jul 23 2024 07:53:55] text`, `[12:00:00] text`."""
    text = head.text
    if text[1:2].isdigit():
        got = stamps.iso(text, 1) or stamps.numeric(text, 1) or stamps.day_first(text, 1) or _seconds_inside(text)
        got = got or (stamps.clock_time(text, 1) if weak else None)
    else:
        got = stamps.named(text, 1) or stamps.weekday(text, 1)
    if got and text[got[1] : got[1] + 1] == "]":
        head.stamps.append(got[0])
        head.text = text[got[1] + 1 :]
        return "bracket!" if tail(head) else "bracket"
    if got and (m := _INSIDE.match(text, got[1])) and level_of(m[1]):
        head.stamps.append(got[0])
        head.level, head.program, head.text = level_of(m[1]), m[2] or head.program, text[m.end() :]
        return "env-logger!"
    if weak and (m := _NAMED_STAMP.match(text)):
        read = stamps.iso(text, m.end()) or stamps.numeric(text, m.end()) or stamps.clock_time(text, m.end())
        if read and _take(head, read):
            tail(head)
            head.program = head.program or m[1]
            return "named-bracket!"
    return ""


def _seconds_inside(text: str) -> stamps.Read | None:
    """`[1771260851.238718] [node1:70331:0] ib_md.c:293 UCX ERROR text` (UCX): seconds since 1970 in brackets."""
    m = _EPOCH_INSIDE.match(text)
    stamp = stamps.epoch(m[1], m[2]) if m else None
    return (stamp, m.end()) if m and stamp else None


def apache(head: Head) -> bool:
    """Whether this is Apache's `[Wed Oct 11 14:32:52 2000] [error] text`, which begins like dmesg -T."""
    m = _APACHE.match(head.text)
    return m is not None and level_of(m[1]) != ""


def ctime(head: Head) -> bool:
    return not apache(head) and dmesg_ctime(head)


def audit(head: Head) -> str:
    """`type=1701 audit(1714564800.123:456): …` (auditd); the message keeps its type."""
    m = _AUDIT.match(head.text)
    stamp = stamps.epoch(m[1], m[2]) if m else None
    if stamp is None:
        return ""
    head.stamps.append(stamp)
    return "audit!"
