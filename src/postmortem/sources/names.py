"""A member's path -> the kind of source that such names stand for; only a hint, the content decides first."""

from __future__ import annotations

import re

from postmortem.lazy import lazy
from postmortem.model import Kind

CGROUP_FILE = lazy(
    r"(?:^|[/_-])(?:memory|pids|cpu|cpuset|cpuacct|io|blkio|hugetlb|cgroup|devices|rdma|misc)"
    r"\.(?!(?:txt|log|json|ya?ml|sh|xml|conf)$)[a-z_]+(?:\.[a-z_]+)*(?:\.txt)?$"
)
_LOG_NAME = lazy(r"\.(?:log|out|err|stdout|stderr|nohup)(?:[.-]\d+)?(?:\.gz)?$|\.[oe]\d+$|(?:^|/)nohup\.out$")

# The collector's own notes, by their whole path.
_PROBE = lazy(
    r"^(?:START|END|manifest\.json|before-the-archive\.txt|notes/.*|hangs/.*|clock/.*|sample2/times|identity/.*|kernel/reason"
    r"|.*\.meta)$"
)
_NAMES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (Kind.SMI, lazy(r"(?i)(?:nvidia|rocm)[-_]?smi(?!.*\.log$)|(?:^|/)gpu/nvidia-smi")),
    (Kind.KERNEL, lazy(r"(?i)(?:^|[/_.-])(?:dmesg|kmsg|kern(?:el)?)(?:\.(?:log|txt))?(?:[._-][\w-]*)*$|dmesg")),
    (Kind.JOURNAL, lazy(r"(?i)(?:^|[/_.-])(?:journal(?:ctl)?|syslog|messages)(?:[._-][\w-]*)*$")),
    (Kind.CGROUP, CGROUP_FILE),
    (Kind.CGROUP, lazy(r"(?:^|/)cgroups?/")),
    (Kind.PROC, lazy(
        r"(?:^|/)proc/(?:\d+|self|sweep|zombies|dstate|cmdline|gpu-holders)(?:/|$)|(?:^|/)proc-\d+-\w+"
    )),
    (Kind.HOST, lazy(r"(?i)(?:^|[/_-])(?:host/\w+|meminfo|vmstat|free|uptime|loadavg|swaps)(?:[._-]\w+)*$")),
    (Kind.PS, lazy(r"(?i)(?:^|[/_-])(?:ps|top)(?:[._-]\w*)*$")),
    (Kind.DISK, lazy(r"(?i)(?:^|[/_-])(?:df|mounts?|mountinfo)(?:[._-]\w*)*$")),
    (Kind.CONTAINER, lazy(
        r"(?i)(?:^|[/_-])(?:docker|podman|crictl|kubectl|pod)[-_](?:inspect|ps|describe|state|get|events|stats)"
    )),
    (Kind.LISTING, lazy(
        r"(?i)(?:^|/)(?:net|gpu)/|(?:^|/)disk/shm$|(?:^|/)kernel/(?:flags|cmdline|modules)$|(?:^|[/_-])(?:ls|ss|netstat|ldd|lsmod|lsof|du|lscpu|lspci|lsblk|id|dig"
        r"|stat|uname|ip|env|ulimit|sysctl|last|fuser|history|systemctl|timedatectl|sacct|squeue|scontrol|qacct|quota"
        r"|modules)(?:[._-][\w-]*)*\.txt$"
    )),
    (Kind.SCRIPT, lazy(r"\.(?:sh|bash|ksh|zsh|dash)$")),
    (Kind.CONFIG, lazy(r"\.(?:json|ya?ml|toml|ini|conf|cfg|env|properties|service|xml)$|(?:^|/)env$")),
)  # fmt: skip


def without_compression(path: str) -> str:
    """`run.sh.gz` -> `run.sh`: the name that others know the file by; its bytes arrive unpacked."""
    return re.sub(r"(?<=[^/])\.(?:gz|xz|bz2|zst|lz4)$", "", path)


def rotation(path: str) -> tuple[str, int]:
    """The log that a file is a part of, and its age: `app.log` 0, `app.log.2.gz` 2, `app.log-20260501` by its date."""
    name = without_compression(path)
    if m := re.fullmatch(r"(.+)\.(\d{1,3})", name):
        return m[1], int(m[2])
    if m := re.fullmatch(r"(.+)-(20\d{6})(?:-\d+)?", name):
        return m[1], 99_999_999 - int(m[2])
    return name, 0


def is_log_name(path: str) -> bool:
    """Whether the name says that a program's output is in it (`train.log`, `slurm-812.out`, `job.e279`)."""
    return bool(_LOG_NAME.search(path))


def is_probe_name(path: str) -> bool:
    """Whether this is one of the collector's own notes."""
    return bool(_PROBE.match(path))


def kind_of_name(path: str) -> Kind:
    """The kind that the name stands for; LOG when it says nothing."""
    if is_probe_name(path):
        return Kind.PROBE
    return next((kind for kind, name in _NAMES if name.search(path)), Kind.LOG)
