"""Runs a command and writes how it ended: `python timed.py RESULT.json COMMAND...`, at most 60 s."""

from __future__ import annotations

import json
import subprocess
import sys
import time

begin = time.monotonic()
try:
    done = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    told = {"code": done.returncode, "said": done.stderr.decode("utf-8", "replace")[-2000:]}
except subprocess.TimeoutExpired:
    told = {"code": 124, "said": "no end for 60 s"}
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({**told, "seconds": time.monotonic() - begin}, file)
