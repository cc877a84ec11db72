"""The command line: arguments in, exit statuses out, nothing else.

Every module of this folder adds its commands to the group; they are found by walking the folder.
"""

from __future__ import annotations

import gc
import os
import pkgutil
import sys
from importlib import import_module

from postmortem.cli.group import cli

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")


def main() -> None:
    """The console script."""
    gc.set_threshold(200_000, 20, 20)  # a diagnosis makes many values and few circles
    try:
        cli(windows_expand_args=False)
    except SystemExit as ended:
        if sys.argv[1:2] == ["analyze"] and "postmortem.analysis" in sys.modules and isinstance(ended.code, int | None):
            _leave(ended.code or 0)
        raise


def _leave(code: int) -> None:
    """Ends at once: to take apart what a diagnosis made takes longer than to say it."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    os._exit(code)
