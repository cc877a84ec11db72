"""The first lines of a member -> the kind of source that has this shape, whatever its name is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from postmortem.lazy import lazy
from postmortem.lines import split
from postmortem.model import Kind

Lines = Sequence[str]
_SHELL = lazy(r"^#!\s*(?:/\S*/)?(?:env\s+(?:-\S+\s+)*)?(?:busybox\s+)?(?:ba|da|k|z|a)?sh\b")
_USER_SPACE = lazy(r"\bRun /\S+ as init process|\bFreeing unused kernel |\bsystemd\[1\]: |^\[ +OK +\] |^INIT: ")
CONSOLE_LINES = 3  # lines without a stamp; fewer may be a torn message of the kernel
_KERNEL_TIME = lazy(r"^(?:<\d+>)?\[ *\d+\.\d{6}\]")

# (kind, share of the lines that must match, pattern)
_RATIOS: tuple[tuple[Kind, float, re.Pattern[str]], ...] = (
    (Kind.PROC, 0.9, lazy(r"^\d+ \(.*\) [RSDZTtXxKWPI] -?\d+ \d+ ")),  # /proc/PID/stat
    (Kind.PROC, 0.9, lazy(r"^\d+:[\w,=.-]*:/")),  # /proc/PID/cgroup
    (Kind.DISK, 0.9, lazy(r"^\S+ on /.* type \S+ \(\S+\)$")),  # mount
    (Kind.DISK, 0.9, lazy(r"^\S+ /\S* \S+ (?:rw|ro)\b\S* \d \d$")),  # /proc/mounts
    (Kind.DISK, 0.9, lazy(r"^\d+ \d+ \d+:\d+ \S+ /\S* .* - \S+ \S+ \S+$")),  # mountinfo
    (Kind.CGROUP, 0.9, lazy(
        r"^(?:(?:low|high|max|oom|oom_kill|oom_group_kill|sock_throttled) \d+|(?:oom_kill_disable|under_oom) \d+)$"
    )),
    (Kind.HOST, 0.9, lazy(r"^(?:some|full) avg10=")),
    (Kind.HOST, 0.9, lazy(r"^(?:Mem|Swap|Low|High|Total|-/\+ buffers/cache|\s+total\s+used\s+free).*")),
    (Kind.HOST, 0.9, lazy(
        r"^(?:nr_|pg|ps|numa_|thp_|oom_kill|workingset_|compact_|kswapd|slabs_|allocstall|drop_|unevictable_"
        r"|balloon_|swap_|zone_|cow_|ksm)\w* ?\d+$"
    )),
    (Kind.LISTING, 0.9, lazy(r"^(?:total \d+|[-dlcbps][-rwxsStT]{9}[.+@]? .*|/?[^ ]*:|)$")),  # ls -l
    (Kind.LISTING, 0.9, lazy(
        r"^\s+(?:\S+ => .*|linux-vdso\.so\.\d.*|/\S*ld-linux\S*.*|statically linked|not a dynamic.*)$"
    )),
    (Kind.LISTING, 0.9, lazy(r"^[\d.]+[KMGTP]?\t\S")),  # du
    (Kind.LISTING, 0.9, lazy(r"^(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d \S")),  # lspci
    (Kind.LISTING, 0.9, lazy(r"^(?:kernel|vm|fs|net|user|dev|abi)\.[\w./-]+ = ")),  # sysctl
    (Kind.LISTING, 0.9, lazy(r"^\s*\d+  \S")),  # shell history
)  # fmt: skip

# (kind, pattern of one of the first lines)
_HEADS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (Kind.PS, lazy(
        r"^\s*(?:(?:F|S|USER|UID|RUSER|PID|PPID|STAT|LWP|TTY|STARTED)\s+)+.*\b(?:CMD|COMMAND|ARGS|COMM)\s*$"
    )),
    (Kind.PS, lazy(r"^top - \d\d:\d\d:\d\d up ")),
    (Kind.PROC, lazy(r"^Limit\s+Soft Limit\s+Hard Limit\s+Units")),
    (Kind.PROC, lazy(r"^Name:\t\S.*")),
    (Kind.HOST, lazy(r"^MemTotal:\s+\d+ kB$|^procs -+memory-+|^\s+total\s+used\s+free\b")),
    (Kind.HOST, lazy(r"^\s?\d\d:\d\d:\d\d up .*load average:")),
    (Kind.DISK, lazy(r"^Filesystem\s.*\bMounted on$")),
    (Kind.CONTAINER, lazy(
        r"^CONTAINER ID\s|^NAME\s+(?:READY|IMAGE)\s.*STATUS|^(?:NAMESPACE\s+)?(?:NAME\s+READY|LAST SEEN)\s"
    )),
    (Kind.CONTAINER, lazy(r"^\s*(?:Last )?State:\s+(?:Terminated|Running|Waiting)\s*$|^\s*containerStatuses:")),
    (Kind.CONTAINER, lazy(r'^\s*"(?:HostConfig|OOMKilled|containerStatuses)":')),
    (Kind.LISTING, lazy(
        r"^(?:Netid\s+)?State\s+Recv-Q|^Proto\s+Recv-Q|^Active (?:Internet|UNIX)|^(?:ESTAB|LISTEN|UNCONN)\s+\d"
    )),
    (Kind.LISTING, lazy(
        r"^Module\s+Size\s+Used by|^Architecture:\s|^uid=\d+|^; <<>> DiG|^\s+File: |^NAME\s+MAJ:MIN"
    )),
    (Kind.LISTING, lazy(
        r"^core file size\s|^\s+Local time: |^[●○×*] \S+\.(?:service|scope|slice|mount|socket|timer)\b"
        r"|^COMMAND\s+PID\s"
    )),
    (Kind.LISTING, lazy(
        r"^\s*JobID\s+JobName|^qname\s|^Linux \S+ \d+\.\d+|^NVRM version:|^\d+: \w+\S*\s+(?:inet|<)|^smartctl "
        r"|^SMART "
    )),
)  # fmt: skip

_SMI = lazy(
    r"^\|\s+NVIDIA-SMI |NVSMI LOG|^NVIDIA-SMI has failed|^Failed to initialize NVML"
    r"|^Unable to determine the device handle"
    r"|^GPU \d+: .*\(UUID: (?:GPU|MIG)-|^No devices were found|ROCm System Management|<nvidia_smi_log>"
    r"|^#\s*(?:Date\s+Time\s+)?gpu\s+pwr"
)
_SMI_CSV = lazy(r"^(?:index|name|uuid|pci\.bus_id|timestamp|gpu_\w+|driver_version)(?:, [\w. ]+(?:\[\w+%?\]|\[%\])?)+$")
_SMI_BODY = lazy(r"^\s*(?:$|[|+=<#-]|.* +: |GPU |MIG |Unable|Failed|NVIDIA|[A-Z][a-z]{2} [A-Z][a-z]{2} |\s)")
_ENV = lazy(r"^(?:export )?[A-Za-z_][A-Za-z0-9_]*=|^#|^\[[\w .-]+\]$|^options \S+ |^$|^names of the others:|^==> ")


def is_binary(head: bytes) -> bool:
    """Whether the bytes are no text; a hole of zeros in a log does not count."""
    sample = head.strip(b"\0")
    if not sample:
        return bool(head)
    odd = sum(sample.count(bytes([byte])) for byte in (*range(7), *range(14, 27), *range(28, 32)))
    return odd * 20 > len(sample)


_DESCRIBED = lazy(r"Name:\s+\S+\s*$")  # the first line of kubectl describe
_DESCRIBED_PART = lazy(r"(?:Namespace|Node|Containers|Controlled By|QoS Class|Conditions|Events):")


def shape_of(lines: Lines) -> Kind | None:
    """The kind that the content shows, or None when it shows none."""
    told = [line for line in lines if line.strip()]
    if not told:
        return None
    for test in (_script, _smi, _sweep, _structured, _system_log, _table):
        kind = test(told)
        if kind is not None:
            return kind
    return None


def share(lines: Lines, test: Callable[[str], object]) -> float:
    return sum(1 for line in lines if test(line)) / len(lines)


def _script(lines: Lines) -> Kind | None:
    return Kind.SCRIPT if _SHELL.match(lines[0].lstrip("\ufeff")) else None


def _smi(lines: Lines) -> Kind | None:
    """A table or query of nvidia-smi that is the content, not a few lines inside a log."""
    if not any(_SMI.search(line) for line in lines[:6]) and not _SMI_CSV.match(lines[0]):
        return None
    if lines[0].startswith("#") or _SMI_CSV.match(lines[0]) or "<" in lines[0]:
        return Kind.SMI
    return Kind.SMI if share(lines, _SMI_BODY.match) >= 0.7 else None


def _sweep(lines: Lines) -> Kind | None:
    """Several files behind `head -n`'s own separators: `==> /proc/1/stat <==`."""
    if not lines[0].startswith("==> "):
        return None
    if "/environ" in lines[0]:
        return Kind.CONFIG
    if "cgroup/" in lines[0]:
        return Kind.CGROUP
    return Kind.PROC if re.match(r"==> /proc/(?:\d+|self)/", lines[0]) else None


def _structured(lines: Lines) -> Kind | None:
    first = lines[0].lstrip()
    if _DESCRIBED.match(first) and any(_DESCRIBED_PART.match(line) for line in lines[1:80]):
        return Kind.CONTAINER
    if first.startswith("<?xml"):
        return Kind.CONFIG
    if first[0] not in "{[" or (first.startswith("[") and len(first) > 1 and first[1] not in '{"]'):
        return None
    if len(lines) > 1 and share(lines, lambda line: line.startswith("{") and line.rstrip().endswith("}")) >= 0.9:
        return _json_log(lines)
    if len(lines) == 1 and first.startswith('{"log":'):
        return Kind.LOG
    if len(lines) > 1 and _is_object(lines[0]):  # a program's JSON lines, and plain ones between them
        return Kind.LOG
    text = "\n".join(lines[:400])
    if '"HostConfig"' in text or '"containerStatuses"' in text or '"OOMKilled"' in text:
        return Kind.CONTAINER
    return Kind.CONFIG if re.match(r'\s*(?:\{\s*(?:"|\}|$)|\[\s*(?:[\[{"\d\]]|$))', text) else None


def _is_object(line: str) -> bool:
    """Whether the line is a whole JSON object, not the first line of one."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _json_log(lines: Lines) -> Kind:
    """One JSON value a line: journalctl -o json names the fields of the journal, anything else is a program's log."""
    try:
        records = [json.loads(line) for line in lines[:50]]
    except ValueError:
        return Kind.LOG
    if not all("__REALTIME_TIMESTAMP" in record for record in records):
        return Kind.LOG
    return Kind.KERNEL if all(record.get("_TRANSPORT") == "kernel" for record in records) else Kind.JOURNAL


def written_by_programs_too(lines: Lines) -> bool:
    """Whether a system log that seemed to be the kernel's alone has lines of others."""
    return _system_log(lines) is Kind.JOURNAL


def _system_log(lines: Lines) -> Kind | None:
    """KERNEL when all who write are the kernel, JOURNAL when programs write beside it."""
    parts, system = [], []
    for line in lines:
        part = split(line)
        parts.append(part)
        if part.stamp and (part.channel == "kernel" or (part.host and part.program)):
            system.append(part)
        elif (len(parts) - len(system)) * 2 > len(lines):
            return None  # fewer than half of the lines are left
    if any(part.channel != "kernel" for part in system):
        return Kind.JOURNAL
    named = any(part.host for part in system)
    if not named and _is_console(lines, [part.stamp is None for part in parts]):
        return Kind.JOURNAL
    return Kind.KERNEL if named or _looks_like_kernel(lines) else None


def _is_console(lines: Lines, unstamped: Sequence[bool]) -> bool:
    """Whether programs write without stamps between the kernel's lines, as on a serial console after init has begun."""
    begun = next((i for i, line in enumerate(lines) if _USER_SPACE.search(line)), None)
    if begun is None:
        return False
    told = [line for line, bare in zip(lines[begun:], unstamped[begun:], strict=True) if bare and not line[0].isspace()]
    return len(told) >= CONSOLE_LINES


def _looks_like_kernel(lines: Lines) -> bool:
    """A boot stamp with microseconds, or another form of dmesg; three decimals are some program's."""
    boot = [line for line in lines if line.startswith("[")]
    plain = [line for line in boot if re.match(r"^\[ *\d+\.\d+\]", line)]
    return not plain or share(plain, _KERNEL_TIME.match) > 0.9


def _table(lines: Lines) -> Kind | None:
    for kind, least, pattern in _RATIOS:
        if share(lines, pattern.match) >= least:
            return kind
    head = lines[:8]
    return next((kind for kind, pattern in _HEADS if any(pattern.search(line) for line in head)), None)


def is_settings(lines: Lines) -> bool:
    """Whether nearly all lines are `NAME=value`, comments or `[sections]`; a log that repeats a name is none."""
    told = [line for line in lines if line.strip()]
    names = [line.partition("=")[0] for line in told if "=" in line and line[0] != "#"]
    return bool(names) and 2 * len(set(names)) > len(names) and share(told, _ENV.match) >= 0.9
