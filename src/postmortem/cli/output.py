"""Where text goes: a file or standard output, with colours or without."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from postmortem.errors import PostmortemError


def wants_colour() -> bool:
    """Whether standard output takes colours: NO_COLOR and FORCE_COLOR first, then whether it is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def write(text: str, output: Path | None) -> None:
    """The text to the file, or to standard output as UTF-8 whatever the locale."""
    data = text.encode("utf-8", "replace")
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        raise PostmortemError(f"cannot write {output}: {error.strerror}; give another file with -o") from error
