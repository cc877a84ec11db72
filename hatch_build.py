"""What a first diagnosis would have to make is made when the package is built (src/postmortem/prepare.py)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

READY = "src/postmortem/ready"


class CustomBuildHook(BuildHookInterface):
    """Fills `ready/` for wheels and for editable installs; without it the package works, and starts more slowly."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        src = str(Path(self.root) / "src")
        paths = [src, *filter(None, [os.environ.get("PYTHONPATH")])]  # pip's own for the build is in there
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}  # the same bytes each time
        done = subprocess.run(
            [sys.executable, "-B", "-m", "postmortem.prepare"], env=env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            self.app.display_warning(f"{READY} is not filled: {done.stderr.strip()[-500:]}")
        build_data["artifacts"].append(f"/{READY}/*-*")
