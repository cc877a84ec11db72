"""Outputs that hold nothing but why there is no output: `dmesg: read kernel buffer failed: Operation not permitted`."""

from __future__ import annotations

from collections.abc import Sequence

from postmortem.lazy import lazy

Lines = Sequence[str]

_ACCESS = lazy(
    r"(?i)(?:permission denied|operation not permitted|access denied|insufficient permissions"
    r"|(command not found|not found|no such file or directory|no such process|no such device"
    r"|executable file not found.*))\W*$"
)
_NO_TOOL = lazy(r"(?:-?\w*sh: )?(?:\d+: )?([\w.-]+): (?:command )?not found$")


def access_error(lines: Lines) -> str:
    """The first line when all of them only say that something could not be read; else nothing."""
    told = [line for line in lines if line.strip()]
    if 0 < len(told) <= 4 and all(_ACCESS.search(line) and ":" in line for line in told):
        return told[0].strip()
    return ""


def lost_tool(error: str) -> str:
    """The command whose output an error stands in place of: `bash: nvidia-smi: command not found`, else nothing."""
    found = _NO_TOOL.match(error)
    return found[1] if found else ""


def is_missing(error: str) -> bool:
    """Whether an access error says that the thing is not there (and not that it may not be read)."""
    found = _ACCESS.search(error)
    return bool(found and found[1])
