"""What triage costs: bundles a second by bundles, workers and mode, memory, and whether the groups are the true ones.

    python bench/triage.py CASES --bundles 500,2000 --jobs 1,2 --modes triage,resume,plain,dask
    python bench/triage.py CASES --bundles 20000 --jobs 2 --modes triage,resume    # 4.5 GB of disk, about 20 minutes

Every mode reads the same archive. "plain" is a ProcessPoolExecutor that analyses in its own workers, with no child
and no limits: what the isolation costs is the difference. Bundles are made beside the output (--keep FOLDER, else a
temporary one) at about 80 a second and take 0.2 MB each.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from math import comb
from pathlib import Path

from fleet import fleet

ENGINE = []


def start() -> None:
    from postmortem.analysis import engine

    ENGINE.append(engine())


def one(path: str) -> str:
    from postmortem.analysis import examine

    return str(examine(ENGINE[0], path)[0]["status"])


def plain_pool(archives: Path, jobs: int) -> float:
    begun = time.monotonic()
    paths = [str(p) for p in sorted(archives.rglob("*.tar.gz"))]
    with ProcessPoolExecutor(jobs, initializer=start) as pool:
        sum(1 for _ in pool.map(one, paths, chunksize=4))
    return time.monotonic() - begun


def triage(archives: Path, out: Path, *more: str) -> tuple[float, str]:
    """(seconds, the peak resident memory of the driver and of its largest child)."""
    begun = time.monotonic()
    code = (
        "import resource, sys; sys.argv[0] = 'postmortem'\nfrom postmortem.cli import cli\n"
        "try: cli()\nexcept SystemExit as end: assert not end.code, end.code\n"
        "who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)\n"
        "print(*(resource.getrusage(w).ru_maxrss >> 10 for w in who), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "triage", str(archives), "--out", str(out), "--format", "json", *more],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    driver, child = ran.stderr.split()[-2:]
    return time.monotonic() - begun, f"driver {driver} MiB, child {child} MiB"


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """A scheduler and workers of one thread each, as processes of their own."""
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/log", "w+b") as log:
        run = [sys.executable, "-m"]
        quiet = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
        started = [subprocess.Popen([*run, "distributed.cli.dask_scheduler", *quiet], stdout=log, stderr=log)]
        try:
            address = waited(Path(log.name))
            for number in range(workers):
                told = [
                    address,
                    "--nthreads",
                    "1",
                    "--no-nanny",
                    "--no-dashboard",
                    "--local-directory",
                    f"{folder}/{number}",
                ]
                started.append(subprocess.Popen([*run, "distributed.cli.dask_worker", *told], stdout=log, stderr=log))
            time.sleep(8)  # for the workers to register: starting a cluster is not what is measured
            yield address
        finally:
            for process in started:
                process.kill()
                process.wait()


def waited(log: Path) -> str:
    for _ in range(600):
        found = re.search(r"Scheduler at:\s+(tcp://[\d.:]+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.1)
    raise SystemExit(log.read_text())


def cpu_seconds() -> float:
    """Of all processes that this one started and waited for; other load changes it less than the clock does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rand_index(out: Path, truth: dict[str, str]) -> float:
    """The adjusted Rand index of the groups: 1 the same, 0 chance."""
    from postmortem.triage.frame import fleet_of
    from postmortem.triage.store import read_rows

    frame = fleet_of(read_rows(out)).frame
    found = dict(zip(frame["path"], frame["group"].where(frame["group"] != "", frame["status"]), strict=True))
    pairs = sum(comb(n, 2) for n in Counter((truth[p], found[p]) for p in truth).values())
    ours = sum(comb(n, 2) for n in Counter(found[p] for p in truth).values())
    theirs = sum(comb(n, 2) for n in Counter(truth.values()).values())
    expected = ours * theirs / comb(len(truth), 2)
    return (pairs - expected) / ((ours + theirs) / 2 - expected)


def measure(given: argparse.Namespace, bundles: int, top: Path) -> None:
    archives = top / f"in-{bundles}"
    needed, there = bundles * given.median_kb * 1024 * 1.3, shutil.disk_usage(top).free
    if needed > there:
        raise SystemExit(f"{bundles} bundles need {needed / 1e9:.1f} GB in {top}, where {there / 1e9:.1f} GB are free")
    truth = dict(fleet(given.cases, archives, bundles, given.median_kb))
    spent = cpu_seconds()
    size = sum(p.stat().st_size for p in archives.rglob("*.gz")) / bundles / 1024

    def told(mode: str, jobs: int, seconds: float, more: str = "") -> None:
        nonlocal spent
        before, spent = spent, cpu_seconds()
        rates = f"{bundles / seconds:.1f} | {1000 * (spent - before) / bundles:.0f}"
        print(f"| {bundles:,} | {size:.0f} | {mode} | {jobs} | {seconds:.1f} | {rates} | {more} |", flush=True)

    for jobs in given.jobs:
        out = top / f"out-{bundles}-{jobs}"
        if "triage" in given.modes:
            seconds, peak = triage(archives, out, "--jobs", str(jobs))
            told("triage", jobs, seconds, f"{peak}, ARI {rand_index(out, truth):.3f}")
        if "resume" in given.modes:
            seconds, peak = triage(archives, out, "--jobs", str(jobs), "--resume")
            told("triage --resume, nothing new", jobs, seconds, peak)
        if "plain" in given.modes:
            told("plain pool", jobs, plain_pool(archives, jobs))
    if "dask" in given.modes:
        with cluster(max(given.jobs)) as address:
            triage(archives / "0000", top / f"warm-{bundles}", "--scheduler", address)  # workers import and load once
            seconds, peak = triage(archives, top / f"dask-{bundles}", "--scheduler", address)
            told("triage on Dask", max(given.jobs), seconds, peak)


def main() -> None:
    def numbers(text: str) -> list[int]:
        return [int(n) for n in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--bundles", type=numbers, default=[500, 2000])
    parser.add_argument("--median-kb", type=int, default=200)
    parser.add_argument("--jobs", type=numbers, default=[1, 2])
    parser.add_argument("--modes", type=lambda text: text.split(","), default=["triage", "resume", "plain"])
    parser.add_argument("--keep", type=Path, help="work here, and keep it")
    given = parser.parse_args()
    print(f"# {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the start\n")
    print("| bundles | mean KiB | mode | workers | seconds | bundles/s | CPU ms each | |\n" + "|---" * 8 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for bundles in given.bundles:
            measure(given, bundles, given.keep or Path(folder))


if __name__ == "__main__":
    main()
