"""Measures the analysis beside other tools in the same run, and writes docs/performance.md.

python bench/speed.py [--quick] [--folder FOLDER] [--out docs/performance.md]      peers that are not there are left out
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import logs

HERE = Path(__file__).resolve().parent
PM = str(Path(sys.executable).parent / "postmortem")
TEXT = HERE / "performance.md"  # what the page says around the tables


def seconds(command: str, cwd: Path, cache: str | None = None) -> tuple[float, int]:
    """(wall seconds, peak RSS in KiB) of one shell command."""
    env = {**os.environ, **({"XDG_CACHE_HOME": cache} if cache else {})}
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, shell=True, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, used = os.wait4(process.pid, 0)
    return time.perf_counter() - begin, used.ru_maxrss


def medians(commands: dict[str, str], cwd: Path, runs: int) -> dict[str, tuple[float, int]]:
    """Median seconds and greatest RSS of each command; they take turns."""
    taken: dict[str, list[tuple[float, int]]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            taken[name].append(seconds(command, cwd))
    return {name: (statistics.median(s for s, _ in each), max(r for _, r in each)) for name, each in taken.items()}


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def pattern_file(folder: Path) -> Path:
    """The catalogue's patterns as far as the other tools can read them, one a line."""
    from postmortem.scan import needle_of
    from postmortem.signatures import load

    wanted = [needle_of(pattern) for pattern in load().patterns]
    lines = {needle.literals[0].decode() for needle in wanted if needle.selective and needle.literals[0].isascii()}
    file = folder / "patterns"
    file.write_text(
        "\n".join(sorted("".join(f"\\{c}" if c in r".[]()*+?{}|^$\\" else c for c in line) for line in lines)) + "\n"
    )
    return file


def made(folder: Path, mib: int, hits: float = 0.0, ansi: bool = False) -> str:
    name = f"log-{mib}-{hits}{'-ansi' if ansi else ''}.tar.gz"
    if not (folder / name).exists():
        logs.write(folder / name, mib, hits, ansi)
    return name


def peers(folder: Path, mib: int, runs: int) -> str:
    """Ours and the others over one bundle."""
    bundle, patterns = made(folder, mib), pattern_file(folder)
    count = len(patterns.read_text().splitlines())
    shell = {
        "postmortem analyze (all of it)": f"{PM} analyze {bundle}",
        "gzip -dc, wc -c": f"gzip -dc {bundle} | wc -c",
    }
    if shutil.which("rg"):
        shell[f"rg -z -c -f, {count} literals"] = f"rg -z -a -c -f {patterns} {bundle}"
    shell["gzip -dc, grep -c -E -f, the same"] = f"gzip -dc {bundle} | LC_ALL=C grep -a -c -E -f {patterns}"
    results = medians(shell, folder, runs)
    if shutil.which("lnav"):
        results["lnav -n, headless"] = seconds(f"lnav -n {bundle}", folder)
    small = made(folder, 2)
    naive = seconds(f"{sys.executable} {HERE / 'naive.py'} {patterns} {small}", folder)
    results[f"naive Python, 30 lines ({mib} MiB from 2 MiB)"] = (naive[0] * mib / 2, naive[1])
    base = results["gzip -dc, wc -c"][0]
    rows = [(n, f"{s:.2f} s", f"{s / base:.2f}", f"{mib / s:.0f} MiB/s") for n, (s, _) in results.items()]
    return table((f"{mib} MiB of log in a tar.gz", "wall", "of gzip", "speed"), rows)


def sizes(folder: Path, mibs: tuple[int, ...], runs: int) -> str:
    rows = []
    for mib in mibs:
        wall, rss = medians({"": f"{PM} analyze {made(folder, mib)}"}, folder, runs)[""]
        rows.append((f"{mib} MiB", f"{wall:.2f} s", f"{1000 * wall / mib:.2f} ms", f"{rss >> 10} MiB"))
    return table(("size", "wall", "per MiB", "RSS"), rows)


def hit_rates(folder: Path, mib: int, runs: int) -> str:
    rows = []
    for hits in (0.0, 0.01, 0.1):
        for ansi in (False, True):
            wall, rss = medians({"": f"{PM} analyze {made(folder, mib, hits, ansi)}"}, folder, runs)[""]
            rows.append((f"{hits:.0%}", "yes" if ansi else "no", f"{wall:.2f} s", f"{rss >> 10} MiB"))
    return table(("telling lines", "colours", "wall", "RSS"), rows)


def latency(folder: Path, runs: int) -> str:
    """A bundle of 1 MB and 60 members: cold is an empty cache."""
    if not (folder / "small.tar.gz").exists():
        logs.write(folder / "small.tar.gz", 1, 0.001, members=55)
    rows = []
    for name, cache in (("cold (no cache)", True), ("warm", False)):
        walls = []
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as empty:
                walls.append(seconds(f"{PM} analyze small.tar.gz", folder, empty if cache else None)[0])
        rows.append((name, f"{statistics.median(walls):.2f} s"))
    rows.append(("--help", f"{medians({'': f'{PM} --help'}, folder, runs)[''][0]:.2f} s"))
    return table(("1 MB, 60 members", "wall"), rows)


def by_patterns(folder: Path, mib: int) -> str:
    """Seconds of the scan alone by the number of patterns; a thousand and more are the catalogue with other digits."""
    from postmortem.scan import build
    from postmortem.signatures import load

    patterns = list(load().patterns)
    many = patterns + [f"{pattern}(?:)" for pattern in patterns]
    data = b"".join(logs.parts(mib << 20, 0.0, False, 7))
    blocks = [data[i : i + (256 << 10)] for i in range(0, len(data), 256 << 10)]
    rows = []
    for count in (50, 100, 300, 1000):
        step = max(1, len(many) // count)
        scanner = build(many[::step][:count])
        rows.append((str(count), f"{mib / best(lambda s=scanner: [s.search(b) for b in blocks]):.0f} MiB/s"))  # type: ignore[misc]
    return table(("patterns", "scan, one thread"), rows)


def best(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(3):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    load = os.getloadavg()[0]
    return (
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} processors of a virtual machine, {memory} GiB "
        f"of memory, Python {platform.python_version()}; one-minute load before the run {load:.1f}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="16 MiB instead of 256, one run instead of five")
    parser.add_argument(
        "--folder", type=Path, help="where the inputs are made and kept; default: a folder that is removed"
    )
    parser.add_argument("--runs", type=int, default=5, help="of which the median counts")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    runs, mib, mibs = (1, 16, (1, 16)) if given.quick else (given.runs, 256, (1, 64, 256, 1024))
    told = machine()
    with tempfile.TemporaryDirectory() as spare:
        folder = given.folder or Path(spare)
        folder.mkdir(parents=True, exist_ok=True)
        seconds(f"{PM} analyze {made(folder, 1)}", folder)  # fills the cache
        filled = {"machine": told, "peers": peers(folder, mib, runs), "latency": latency(folder, runs)}
        filled |= {"sizes": sizes(folder, mibs, min(3, runs)), "hits": hit_rates(folder, mib, min(3, runs))}
        filled["patterns"] = by_patterns(folder, min(64, mib))
    text = TEXT.read_text(encoding="utf-8").format(**filled, runs=runs)
    print(text)
    if given.out:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
