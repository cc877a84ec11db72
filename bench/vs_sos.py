"""Compares `postmortem collect` with `sos report --batch` on this machine, in this run: time, size, what is captured.

python bench/vs_sos.py [-n 3]        needs root and Debian's sosreport
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

# What a post-mortem wants -> a member of ours, a path of sos' archive.
WANTED = {
    "process table": (r"^proc/sweep/stat$", r"/ps$|ps_aux"),
    "wait status of zombies": (r"^proc/zombies$|^proc/sweep/stat$", r"$^"),
    "own cgroup's OOM counters": (
        r"^cgroup/self/.*(oom_control|memory\.events)$",
        r"cgroup.*(oom_control|memory\.events)$",
    ),
    "kernel log": (r"^kernel/(kmsg|dmesg|journal)$", r"dmesg"),
    "tails of logs": (r"^logs/tail/", r"/var/log/"),
    "scripts that ran": (r"^scripts/", r"$^"),
    "two samples of counters": (r"^sample2/", r"$^"),
    "GPU on the bus": (r"^gpu/|^notes/", r"lspci"),
    "why each thing is missing": (r"^manifest\.json$", r"manifest\.json$"),
}


def timed(words: list[str]) -> tuple[float, float]:
    """Wall seconds and CPU seconds with all children."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def names(path: Path) -> list[str]:
    with tarfile.open(path) as tar:
        return tar.getnames()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=3, help="runs of ours; the best counts, as for sos")
    count = parser.parse_args().n
    if shutil.which("sos") is None or os.geteuid():
        print("needs root and the sos program (Debian: sosreport)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "b.tar.gz", Path(folder) / "sos"
        theirs.mkdir()
        runs = [timed([sys.executable, "-m", "postmortem", "collect", "-o", str(ours)]) for _ in range(count)]
        sos = timed(["sos", "report", "--batch", "-q", "--tmp-dir", str(theirs)])
        (archive,) = theirs.glob("sosreport*.tar.xz")
        lists = names(ours), names(archive)
        wall, cpu = min(runs)
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs\n")
        print("| | postmortem | sos |\n|---|---|---|")
        print(f"| wall, s | {wall:.2f} | {sos[0]:.1f} |\n| CPU, s | {cpu:.2f} | {sos[1]:.1f} |")
        print(f"| size, KB | {ours.stat().st_size // 1000} | {archive.stat().st_size // 1000} |")
        print(f"| members | {len(lists[0])} | {len(lists[1])} |")
        for what, patterns in WANTED.items():
            found = (
                "yes" if any(map(re.compile(p).search, list_)) else "no"
                for p, list_ in zip(patterns, lists, strict=True)
            )
            print(f"| {what} | {' | '.join(found)} |")
        print(f"\nsos / postmortem: {sos[0] / wall:.1f}")
        return 0 if sos[0] >= 5 * wall else 1


if __name__ == "__main__":
    sys.exit(main())
