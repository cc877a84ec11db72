"""The command line: arguments in, exit statuses out, nothing else.

Every module of this folder adds its commands to the group; they are found by walking the folder.
"""

from __future__ import annotations

import atexit
import gc
import os
import pkgutil
import sys
import threading
from contextlib import suppress
from importlib import import_module

from postmortem.cli.group import cli

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")


def main() -> None:
    """The console script."""
    gc.set_threshold(200_000, 20, 20)  # a diagnosis makes many values and few circles
    try:
        cli(windows_expand_args=False)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            _leave(end.code or 0)
        raise  # with words that the interpreter prints, or with output that could not be written


def _leave(status: int) -> None:
    """Ends the process when all is written; to free every value first would take longer than a small diagnosis."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
