"""The order in which the layers of a line are tried, by its first character."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from postmortem.lines import kernel as ring
from postmortem.lines import leading, records, stamped, stamps, system, wrappers
from postmortem.lines.stamps import MONTHS
from postmortem.lines.types import Head, Line, Stamp

# Layers that only carry a line: what is inside stands as if nothing were around it.
_CARRIERS = frozenset(
    ["docker-json", "cri", "github", "compose", "pod", "rank", "actor", "priority", "facility", "netconsole"]
)
_WEEKDAYS = frozenset(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
_LEVEL_STARTS = frozenset({"INFO", "WARN", "ERRO", "DEBU", "TRAC"})
_DEPTH = 5
SHORT = 600  # characters of a line whose parts are remembered
REMEMBERED = 16_384  # lines: 10 MiB


def split(raw: str, number: int = 0, dialect: str = "", kernel: bool = False) -> Line:
    """The parts of a line in the given dialect ("" tries all); a line of no known form is all message."""
    return (_remembered if len(raw) <= SHORT else _split)(raw, number, dialect, kernel)


def _split(raw: str, number: int, dialect: str, kernel: bool) -> Line:
    head = _peeled(raw, dialect, kernel)[0]
    return Line(
        number, raw, head.text, best_stamp(head.stamps), head.host, head.program, head.pid, head.level,
        "kernel" if head.kernel else "program",
    )  # fmt: skip


_remembered = lru_cache(REMEMBERED)(_split)  # one line is looked at by many parsers and signatures


def stamps_of(raw: str, dialect: str = "", kernel: bool = False) -> tuple[Stamp, ...]:
    """Every stamp that a line carries, the outermost first; a kernel line in a syslog has two."""
    if dialect == "iso" and (got := stamps.iso(raw)) and raw[got[1] :].lstrip(" ")[:4] in _LEVEL_STARTS:
        return (got[0],)  # the common case by far, and nothing can be inside
    return tuple(_peeled(raw, dialect, kernel)[0].stamps)


def dialect_of(sample: list[str]) -> str:
    """The name of the dialect that most of the recognised lines of the sample are written in, or ""."""
    lines = [s for s in sample if s.strip()]
    names = Counter(name for s in lines if (name := _peeled(s, "", False)[1]))
    if not names:
        return ""
    name, count = names.most_common(1)[0]
    if name == "dmesg" and _same_host(lines):
        return "journal-monotonic"
    return name if count * 5 >= len(lines) else ""


def _same_host(lines: list[str]) -> bool:
    """Whether every `[ 12.345678] ` is followed by one and the same word and a tag, kernel among them."""
    rest = [s.partition("] ")[2].split(" ", 2) for s in lines if s.startswith("[")]
    hosts = Counter(r[0] for r in rest if len(r) > 1 and r[1].endswith(":"))
    return bool(hosts) and hosts.most_common(1)[0][1] * 10 >= len(rest) * 9 and any(r[1:2] == ["kernel:"] for r in rest)


def best_stamp(found: Sequence[Stamp]) -> Stamp | None:
    """The stamp nearest to the writer that has a date and a zone, else the outermost wall clock, else the outermost."""
    if len(found) < 2:
        return found[0] if found else None
    for s in reversed(found):
        if s.wall is not None and s.wall.tzinfo is not None and s.has_date:
            return s
    return next((s for s in found if s.clock == "wall"), found[0])


def _peeled(raw: str, dialect: str, kernel: bool) -> tuple[Head, str]:
    """What was taken off, layer by layer, and the name of the outermost layer."""
    head = Head(wrappers.plain(raw), kernel)
    outer, weak = "", True
    for depth in range(_DEPTH):
        if not head.text or (head.kernel and depth and head.stamps and head.stamps[-1].clock == "boot"):
            break
        name = _layer(head, "" if outer and outer not in _CARRIERS else dialect, weak)
        if not name:
            break
        outer = outer or name.rstrip("!")
        if name[-1] == "!":
            break
        weak = weak and name in _CARRIERS
    return head, outer


def _layer(head: Head, dialect: str, weak: bool) -> str:
    """Takes one layer off; its name, with `!` where nothing more is inside, or ""."""
    first = head.text[0]
    if first == "[":
        return _open_bracket(head, dialect, weak)
    if first.isdigit():
        if "," in head.text[:4] and ring.kmsg(head):
            return "kmsg!"
        if weak and "." in head.text[1:4] and wrappers.netconsole(head):
            return "netconsole"
        return stamped.digits(head, dialect, weak)
    if first.isalpha() or first == "_":
        return _word(head, dialect, weak)
    if first == "{":
        return _object(head)
    if first == "<":
        if system.rfc5424(head):
            return "rfc5424"
        return "priority" if weak and ring.priority(head) else ""
    if first == "(":
        return "actor" if weak and wrappers.actor(head) else ""
    if first == "@":
        return stamped.digits(head, dialect, weak)
    if first == "+" and weak:
        return _plus(head)
    return _indented(head) if first == " " and weak else ""


def _plus(head: Head) -> str:
    """`+0.123s text`; or a shell's `+ command` (set -x), which says what is about to run, not what happened."""
    if name := stamped.elapsed(head):
        return name
    if head.text.lstrip("+").startswith(" "):
        head.level = "trace"
        return "xtrace!"
    return ""


def _indented(head: Head) -> str:
    """` 20210804   11:29:43  …` (nvidia-smi dmon -o DT), ` 12:00:00 up 3 days` (uptime)."""
    inner = head.text.lstrip(" ")
    date = inner[:8].isdigit() and inner[8:9] == " "
    clock = inner[:2].isdigit() and inner[2:3] == ":" and inner[5:6] == ":"
    if not (date or clock):
        return ""
    whole, head.text = head.text, inner
    name = stamped.digits(head, "", True)
    if not name:
        head.text = whole
    return name


def _object(head: Head) -> str:
    if records.json_file(head):
        return "docker-json"
    return "json!" if records.json_record(head) else ""


def _open_bracket(head: Head, dialect: str, weak: bool) -> str:
    """Everything that begins with `[`."""
    second = head.text[1:2]
    if (second in (" ", "<") or second.isdigit()) and ring.dmesg(head):
        return _monotonic(head, dialect)
    if second in (" ", "<") or "<" in head.text[12:18]:
        if ring.dmesg_delta(head):
            return "dmesg-delta!"
    elif head.text[1:4] in MONTHS and ring.dmesg_delta(head):
        return "dmesg-delta!"
    if weak and stamped.ctime(head):
        return "dmesg-T!"
    if name := stamped.bracketed(head, weak):
        return name
    if leading.glog(head):
        return "glog!"
    if not weak:
        return ""
    if wrappers.rank(head):
        return "rank"
    if wrappers.pod(head):
        return "pod"
    if leading.named_level(head):
        return "tini!"
    if name := stamped.elapsed(head):
        return name
    return "level!" if leading.level_first(head) else ""


def _monotonic(head: Head, dialect: str) -> str:
    """Behind `[ 12.345678] `: the journal's host and tag, or a line of the kernel."""
    if dialect == "journal-monotonic" or " kernel: " in head.text[:80]:
        head.kernel = False
        if system.tag(head):
            return "dmesg"
        head.kernel = True
    return "dmesg!"


def _word(head: Head, dialect: str, weak: bool) -> str:
    """Everything that begins with a letter."""
    text = head.text
    three = text[:3]
    if three in MONTHS and weak and (name := stamped.named_line(head, dialect)):
        return name
    if three in _WEEKDAYS and weak and (name := stamped.weekday_line(head)):
        return name
    if text[1:4].isdigit() and leading.glog(head):
        return "glog!"
    if "=" in text[:25]:
        if records.logfmt(head):
            return "logfmt!"
        if text.startswith("type=") and (name := stamped.audit(head)):
            return name
        if (text.startswith("MESSAGE=") or text[0] == "_") and system.export(head):
            return "journal-export!"
        if weak and (name := stamped.elapsed(head)):
            return name
    if three.isupper() and leading.level_first(head):
        return "level!"
    return _other_word(head, dialect) if weak else ""


def _other_word(head: Head, dialect: str) -> str:
    text = head.text
    if ":" in text[:11] and ring.facility(head):
        return "facility"
    if "|" in text[:48] and wrappers.compose(head, dialect == "compose"):
        return "compose"
    if "NCCL" in text[:90] and wrappers.nccl(head):
        return "nccl!"
    if ") - " in text[:80] and leading.named_level(head):
        return "submitit!"
    if text[8:9] in (" ", ".") and text[:8].isalnum():
        return stamped.digits(head, dialect, True)
    return ""
