"""Which lines of a source the kernel can have written, and the spelling of a PCI address."""

from __future__ import annotations

from postmortem.lazy import lazy
from postmortem.lines import Line
from postmortem.model import Kind
from postmortem.scene import Reading

KERNEL_KINDS = frozenset({Kind.KERNEL, Kind.JOURNAL, Kind.LOG})

LONGEST = 4096  # the kernel cuts its own lines at 1 KiB; a longer one is not the kernel's

# A quotation of the kernel's words (a grep, a set -x trace, a message catalogue) has a quote or = right before them.
NOT_QUOTED = r"""(?<!["'`=])"""

_PCI = lazy(r"(?:PCI:)?(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.[0-7])?$")


def kernel_line(reading: Reading, number: int) -> Line | None:
    """The line, or None where it was not kept, is too long, or a named program of a journal wrote it."""
    line = reading.line(number)
    if (
        line is None
        or len(line.message) > LONGEST
        or (reading.source.kind is Kind.JOURNAL and line.channel != "kernel" and line.program)
    ):
        return None
    return line


def bare_name(text: str) -> str:
    """A process name without what a console or an unknown logger wrote before it: `login: [12.5] sh` -> `sh`."""
    return text.rsplit("] ", 1)[-1].rsplit(": ", 1)[-1].strip()


def pci_address(text: str) -> str:
    """`0000:9b:00` for any spelling (`PCI:0000:9B:00`, `00000000:9b:00.0`); another text comes back in lower case."""
    found = _PCI.match(text.strip().lower().replace("pci:", ""))
    if found is None:
        return text.strip().lower()
    domain, bus, device = found.groups()
    return f"{(domain or '0000')[-4:].rjust(4, '0')}:{bus}:{device}"
