"""Compares the reports of two states of the program: python bench/same.py OLD_SRC NEW_SRC PATH..."""

from __future__ import annotations

import json
import os
import subprocess
import sys

CODE = """
import sys, json
sys.path.insert(0, sys.argv[1])
from postmortem.analysis import analyze
for path in json.load(sys.stdin):
    try:
        told = {**analyze(path), "tool": None}
    except Exception as error:
        told = repr(error)
    print(json.dumps([path, json.dumps(told, sort_keys=True, default=str)]))
"""


def reports(source: str, paths: list[str]) -> dict[str, str]:
    run = [sys.executable, "-c", CODE, source]
    done = subprocess.run(
        run, input=json.dumps(paths), stdout=subprocess.PIPE, text=True, check=True, env=dict(os.environ)
    )
    return dict(json.loads(line) for line in done.stdout.splitlines())


def main(old: str, new: str, *paths: str) -> int:
    before, after = reports(old, list(paths)), reports(new, list(paths))
    other = [path for path in paths if before[path] != after[path]]
    for path in other:
        a, b = before[path], after[path]
        at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        print(f"{path}\n  old ...{a[max(0, at - 80) : at + 120]}\n  new ...{b[max(0, at - 80) : at + 120]}")
    print(f"{len(paths)} reports compared, {len(other)} differ")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
