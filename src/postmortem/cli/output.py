"""Where text goes: a file or standard output, with colours or without."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from postmortem.errors import PostmortemError

PIECE = 1 << 20  # characters that are encoded at once


def wants_colour() -> bool:
    """Whether standard output takes colours: NO_COLOR and FORCE_COLOR first, then whether it is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def write(text: str, output: Path | None) -> None:
    """The text to the file, or to standard output as UTF-8 whatever the locale."""
    pieces = (text[at : at + PIECE].encode("utf-8", "replace") for at in range(0, len(text), PIECE))
    try:
        if output is None:
            for piece in pieces:  # not `writelines`, which passes by a stream that copies what it is given
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            return
        with output.open("wb") as file:
            file.writelines(pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        if output is None:
            forget_output()
        where = output or "to standard output"
        raise PostmortemError(f"cannot write {where}: {error.strerror}; give another file with -o") from error


def forget_output() -> None:
    """Nothing more is written to standard output, not even what waits in its buffer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
