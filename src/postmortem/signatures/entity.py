"""Whom a record is about, and whether two records are about the same one."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import basename

import regex

from postmortem.signatures.language import ENTITY_KEYS
from postmortem.signatures.truth import Value, both

ALIASES = {"comm": ("victim",), "cgroup": ("task_memcg", "oom_memcg")}  # fields of oom.kill that name an entity
OWN = ("own", "/")  # a cgroup seen from inside its container
_PCI = regex.compile(r"(?:pci:)?(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.\d)?")
_ID = regex.compile(r"[0-9a-f]{32,64}")


def gpu_name(text: str) -> str:
    """A PCI address in one form: `PCI:0000:9B:00`, `00000000:9b:00.0` -> `0000:9b:00`; other names as they are."""
    parts = _PCI.fullmatch(text.strip().lower())
    return f"{(parts[1] or '0000')[-4:]}:{parts[2]}:{parts[3]}" if parts else text.strip()


def entity_of(fields: Mapping[str, str]) -> dict[str, str]:
    """The entity keys among the fields of a record."""
    found = {}
    for key in ENTITY_KEYS:
        value = next((v for name in (key, *ALIASES.get(key, ())) if (v := fields.get(name))), "")
        if value and value not in ("?", "-", "unknown", "<unknown>"):
            found[key] = gpu_name(value) if key == "gpu" else value
    return found


def agree(key: str, a: str, b: str) -> Value:
    """Whether two values of a key name the same thing; unknown where they name it in different ways."""
    match key:
        case "comm":  # the kernel keeps 15 bytes
            return basename(a).encode()[:15] == basename(b).encode()[:15]
        case "script" | "file":
            return basename(a) == basename(b)
        case "gpu":
            return _same_gpu(gpu_name(a), gpu_name(b))
        case "cgroup":
            return _same_cgroup(a.rstrip("/") or "/", b.rstrip("/") or "/")
        case "container":
            return a.startswith(b) or b.startswith(a)  # docker's short ids
        case "host":
            return a == b or (("." not in a or "." not in b) and a.split(".")[0] == b.split(".")[0])
        case "unit":
            return a.removesuffix(".service") == b.removesuffix(".service")
        case _:
            return a == b


def _same_gpu(a: str, b: str) -> Value:
    """PCI address, index and UUID cannot be compared with each other."""
    return a == b if _gpu_form(a) == _gpu_form(b) else None


def _gpu_form(name: str) -> str:
    return "pci" if _PCI.fullmatch(name) else "index" if name.isdigit() else "other"


def _same_cgroup(a: str, b: str) -> Value:
    if a == b:
        return True
    if a in OWN or b in OWN:
        return None
    mine, theirs = _ID.findall(a), _ID.findall(b)
    if mine and theirs:
        return str(mine[-1]) == str(theirs[-1])
    return a.endswith(b) or b.endswith(a)


def join(a: Mapping[str, str], b: Mapping[str, str], same: tuple[str, ...] | None, one_pid_space: bool = True) -> Value:
    """Whether b may count as a's: the keys in `same` must agree; without `same` no key that both know may differ."""
    if same is None:
        return not any(_agree(k, a, b, one_pid_space) is False for k in a if k in b)
    return both(_agree(k, a, b, one_pid_space) if k in a and k in b else None for k in same)


def _agree(key: str, a: Mapping[str, str], b: Mapping[str, str], one_pid_space: bool) -> Value:
    value = agree(key, a[key], b[key])
    # The kernel prints the host's pids, a container its own: numbers that differ may be one process.
    return None if key == "pid" and value is False and not one_pid_space else value
