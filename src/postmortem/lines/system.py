"""Syslog and journal lines: stamp, host, tag."""

from __future__ import annotations

from postmortem.lazy import lazy
from postmortem.lines.levels import BY_NUMBER, level_of
from postmortem.lines.stamps import epoch, iso
from postmortem.lines.types import Head

_SEVERITY = r"[a-z0-9]{2,9}\.(?P<sev>emerg|alert|crit|err|warn|notice|info|debug) "
_TAG = rf"(?:{_SEVERITY})?(?P<tag>\([^)\s]+\)|[^\s:\[\]]{{1,128}}(?:@[^\s\[\]]{{1,64}})?)"
_HOST_TAG = lazy(rf"(?P<host>[^\s:\[\]]{{1,255}}) {_TAG}(?:\[(?P<pid>\d+)\])?: ?")
_TAG_ONLY = lazy(rf"{_TAG}(?:\[(?P<pid>\d+)\])?: ?")
_NO_HOST = lazy(rf"[^\s\[\]]*: |\S+\[\d+\]: |{_SEVERITY}")
_SURE = lazy(r"[\w.-]+ (?:\([^)\s]+\)|[^\s:\[\]]+)\[\d+\]: |[\w.-]+ kernel: ")
_RFC5424 = lazy(r"<(\d{1,3})>1 (\S+) (\S+) (\S+) (\S+) (\S+) (?:-|(?:\[(?:[^\]\\]|\\.)*\])+)(?: \ufeff?|$)")
_NO_TAG = lazy(r"(\S+) (?=last message repeated|message repeated|-- MARK --)")


def tag(head: Head) -> bool:
    """`host unit[123]: text` behind a stamp: takes off host, program and pid."""
    text = head.text
    m = _TAG_ONLY.match(text) if _NO_HOST.match(text) else _HOST_TAG.match(text)
    if not m:
        if n := _NO_TAG.match(text):
            head.host, head.text = n[1], text[n.end() :]
            return True
        return False
    groups = m.groupdict()
    head.host = groups.get("host") or head.host
    head.program = word[1:-1] if (word := groups["tag"])[0] == "(" else word
    head.pid = groups["pid"] or ""
    head.level = level_of(groups["sev"]) if groups["sev"] else head.level
    head.kernel = head.program == "kernel"
    head.text = text[m.end() :]
    return True


def surely_tagged(text: str) -> bool:
    """Whether the text starts with `host name[pid]: ` or `host kernel: `, which no program's own log does."""
    return _SURE.match(text) is not None


def tag_if_dialect(head: Head, known: bool) -> bool:
    """Host and tag, where the dialect says that they stand there or the text leaves no doubt."""
    return (known or surely_tagged(head.text)) and tag(head)


def rfc5424(head: Head) -> bool:
    """`<34>1 2026-05-01T12:00:00.003Z host app 123 ID47 - text` (RFC 5424)."""
    m = _RFC5424.match(head.text)
    if not m or int(m[1]) > 191:
        return False
    head.level = BY_NUMBER[int(m[1]) & 7]
    if got := iso(m[2]):
        head.stamps.append(got[0])
    host, program, pid = (v if v != "-" else "" for v in (m[3], m[4], m[5]))
    head.host, head.program, head.pid = host, program, pid
    head.kernel = program == "kernel"
    head.text = head.text[m.end() :]
    return True


def export(head: Head) -> bool:
    """`__REALTIME_TIMESTAMP=1714564800123456`, `MESSAGE=text` (journalctl -o export, one field a line)."""
    name, equals, value = head.text.partition("=")
    if not equals:
        return False
    if name in ("__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP") and (stamp := epoch(value)):
        head.stamps.append(stamp)
        return True
    if name != "MESSAGE":
        return False
    head.text = value
    return True
