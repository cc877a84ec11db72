"""Terminal escapes and control characters out of a log: what the scanner searches and what a reader sees."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    rb"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC: titles, links
    rb"|[PX^_][^\x1b\n]*(?:\x1b\\)?"  # DCS, SOS, PM, APC
    rb"|[ -/]*[0-~])?"  # two-character sequences, or a lone ESC
)
_CONTROLS = {c: "\ufffd" for c in (*range(32), 127) if c != 9} | {13: "␍"}


def strip_escapes(data: bytes) -> bytes:
    """The bytes without terminal escape sequences; line ends stay where they are."""
    return _ESCAPE.sub(b"", data) if b"\x1b" in data else data


def printable(line: str) -> str:
    """The line with every control character but tab made visible."""
    return line if line.isprintable() else line.translate(_CONTROLS)
