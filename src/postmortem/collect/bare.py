"""Where no agent can be run (no processes, no shell, no place for a spool): what files of the kernel's own say."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from postmortem import __version__
from postmortem.collect.manifest import utc
from postmortem.collect.options import CollectOptions
from postmortem.collect.stream import Member

# Only such as always answer: they are read by this process itself.
_FILES = {
    "host/uptime": "/proc/uptime",
    "host/meminfo": "/proc/meminfo",
    "host/vmstat": "/proc/vmstat",
    "host/loadavg": "/proc/loadavg",
    "host/pressure-memory": "/proc/pressure/memory",
    "identity/self-status": "/proc/self/status",
    "identity/self-limits": "/proc/self/limits",
    "disk/mounts": "/proc/self/mountinfo",
    "container/pid1-cgroup": "/proc/1/cgroup",
    "cgroup/self-cgroup": "/proc/self/cgroup",
}
_CGROUP = (
    "memory.max", "memory.current", "memory.peak", "memory.events", "memory.events.local", "pids.max", "pids.current",
    "memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.failcnt", "memory.oom_control", "pids.events",
)  # fmt: skip
_MOST = 2 << 20
SWEEP = "proc/sweep/stat"  # the process table, which the agent takes early


def bare_members(options: CollectOptions, there: set[str]) -> Iterator[Member]:
    """The members that are not there yet, as the agent would have named them, with their notes."""
    now, rows = int(time.time()), []
    if "START" not in there:
        start = f"schema: postmortem/capture/v1\nversion: {__version__}\nredacted: no\nstarted: {utc()}\n"
        yield Member("START", f"{start}deadline_s: {options.deadline}\n".encode(), now)
    for name, source, data, problem in _found():
        if name in there:
            continue
        state = "whole" if data else "denied" if "ermi" in problem else "missing"
        words = (name.replace("/", "."), state, "0.00", str(len(data)), name if data else "-", source, problem or "-")
        rows.append("\t".join(words))
        if data:
            yield Member(name, data, now)
    head = "# probe\tstate\tseconds\tbytes\tmember\tsource\treason"
    yield Member("notes/bare", "\n".join([head, *rows, ""]).encode(), now)


def _found() -> Iterator[tuple[str, str, bytes, str]]:
    for name, source in _FILES.items():
        yield name, source, *_read(source)
    yield SWEEP, "/proc", _sweep(), ""
    yield "kernel/kmsg", "/dev/kmsg", *_kmsg()
    for kind, folder in _own_groups():
        for file in _CGROUP:
            data, problem = _read(f"{folder}/{file}")
            if data:
                yield f"cgroup/self/{kind}/{file}", f"{folder}/{file}", data, problem


def _read(path: str) -> tuple[bytes, str]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return b"", error.strerror or ""
    try:
        return b"".join(iter(lambda: os.read(fd, 1 << 16), b""))[:_MOST], ""
    except OSError as error:
        return b"", error.strerror or ""
    finally:
        os.close(fd)


def _sweep() -> bytes:
    """Stat lines with head(1)'s separators, as the agent writes them."""
    out = bytearray()
    try:
        pids = sorted((name for name in os.listdir("/proc") if name.isdigit()), key=int)
    except OSError:
        return b""
    for pid in pids[:4000]:
        data, _ = _read(f"/proc/{pid}/stat")
        if data:
            out += f"==> /proc/{pid}/stat <==\n".encode() + data + b"\n"
    return bytes(out)


def _kmsg() -> tuple[bytes, str]:
    """Records until the log's end (EAGAIN); EPIPE says that some were overwritten meanwhile."""
    try:
        fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return b"", error.strerror or ""
    out, until = bytearray(), time.monotonic() + 0.5
    while len(out) < _MOST and time.monotonic() < until:
        try:
            out += os.read(fd, 8192)
        except BrokenPipeError:
            continue
        except OSError:
            break
    os.close(fd)
    return bytes(out), ""


def _own_groups() -> Iterator[tuple[str, str]]:
    """v2 at its usual place, and the v1 memory and pids hierarchies."""
    lines = _read("/proc/self/cgroup")[0].decode("utf-8", "replace").splitlines()
    for line in lines:
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        for kind in ["v2"] if not controllers else [c for c in controllers.split(",") if c in ("memory", "pids")]:
            root = "/sys/fs/cgroup" if kind == "v2" else f"/sys/fs/cgroup/{kind}"
            label = kind if kind == "v2" else f"v1/{kind}"
            yield label, next((f for f in (root + path.rstrip("/"), root) if os.path.isdir(f)), root)
