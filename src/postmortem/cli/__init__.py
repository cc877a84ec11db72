"""The command line: arguments in, exit statuses out, nothing else.

Every module of this folder adds its commands to the group; they are found by walking the folder.
"""

from __future__ import annotations

import gc
import pkgutil
from importlib import import_module

from postmortem.cli.group import cli

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")


def main() -> None:
    """The console script."""
    gc.set_threshold(200_000, 20, 20)  # a diagnosis makes many values and few circles
    cli(windows_expand_args=False)
