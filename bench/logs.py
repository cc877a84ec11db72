"""Makes bundles to measure with: a daemon's log of a given size beside a small dmesg, cgroup files and a benchmark log.

python bench/logs.py OUT.tar.gz --mib 256 --hits 0.01 --seed 7       the same arguments give the same bytes
"""

from __future__ import annotations

import argparse
import io
import random
import tarfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

PART = 8192  # lines made at once
MODULES = ("core::engine", "core::pipeline", "prover::groth", "daemon::service", "h2::proto", "tonic::transport")
LEVELS = ("INFO",) * 80 + ("DEBUG",) * 15 + ("WARN",) * 4 + ("ERROR",)
ORDINARY = (
    "partition {} synthesis finished in {} ms, queue depth {}",
    "gpu worker {} picked up job {} after {} us wait",
    "budget acquire {} bytes ok, in use {} of {}",
    "rpc Prove id={} took {} ms attempt {}",
    "kernel {} launched grid={} block={}",
    "retrying fetch of params chunk {} status={} attempt={}",
    "proof {} verified in {} ms, total {}",
    "error budget {} of {} used, killed jobs: {}",
)
TELLING = (
    'Error: Prove RPC failed: status: Unavailable, message: "transport error" id={} {} {}',
    "cudaMalloc of {} bytes failed: out of memory (in use {} of {})",
    "cannot bind to 0.0.0.0:8080: address already in use ({} {} {})",
    "write of chunk {} failed: No space left on device ({} of {})",
)
DMESG = "\n".join(
    f"[{n:5d}.{n * 37 % 1000000:06d}] usb 1-{n % 9}: new high-speed USB device number {n}" for n in range(400)
)
KILL = (
    "\n[  900.000001] daemon invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0"
    "\n[  900.000002] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=a,mems_allowed=0,oom_memcg=/docker/a,"
    "task_memcg=/docker/a,task=daemon,pid=812,uid=0"
    "\n[  900.000003] Memory cgroup out of memory: Killed process 812 (daemon) total-vm:35555512kB, "
    "anon-rss:34603008kB, file-rss:8192kB, shmem-rss:1024kB, UID:0 pgtables:690000kB oom_score_adj:0\n"
)
RUN = "phase 2/3: timed batch\nbenchmark.sh: line 212:   812 Killed                  daemon --config daemon.toml\n"
SMALL = {
    "files/dmesg.txt": DMESG + KILL,
    "files/cgroup/memory.events": "low 0\nhigh 0\nmax 914\noom 1\noom_kill 1\noom_group_kill 0\n",
    "files/cgroup/memory.max": "36507222016\n",
    "files/cgroup/memory.peak": "36507222016\n",
    "files/benchmark.log": RUN,
}


def parts(size: int, hits: float, ansi: bool, seed: int) -> Iterator[bytes]:
    """A daemon's log in pieces, `size` bytes and at most one line more; `hits` is the share of telling lines."""
    rng = random.Random(seed)
    when, made = datetime(2026, 2, 11, 3, 4, 5), 0
    while made < size:
        lines = []
        for _ in range(PART):
            when += timedelta(microseconds=rng.randint(50, 5000))
            text = rng.choice(TELLING if rng.random() < hits else ORDINARY)
            level = rng.choice(LEVELS)
            level = f"\x1b[32m{level:>5}\x1b[0m" if ansi else f"{level:>5}"
            told = text.format(rng.randint(0, 1 << 30), rng.randint(0, 1 << 40), rng.randint(0, 1 << 20))
            lines.append(f"{when.isoformat(timespec='microseconds')}Z {level} {rng.choice(MODULES)}: {told}\n")
            made += len(lines[-1])
            if made >= size:
                break
        yield "".join(lines).encode()


class Stream(io.RawIOBase):
    """A file over pieces, so that a log of any size costs no memory."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, bytearray()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while len(self._rest) < size and (piece := next(self._pieces, b"")):
            self._rest += piece
        data = bytes(self._rest[:size])
        del self._rest[:size]
        return data.ljust(size, b"\n")  # the last line may end early


def write(out: Path, mib: int, hits: float = 0.0, ansi: bool = False, seed: int = 7, members: int = 0) -> None:
    """The bundle; `members` more small files stand beside the rest."""
    files = {
        **SMALL,
        **{
            f"files/proc/{n}/status": f"Name:\tworker-{n}\nState:\tS (sleeping)\nPid:\t{n}\n"
            for n in range(1, members + 1)
        },
    }
    with tarfile.open(out, "w:gz", compresslevel=6) as tar:
        if mib:
            info = tarfile.TarInfo("files/daemon.log")
            info.size = mib << 20
            tar.addfile(info, Stream(parts(info.size, hits, ansi, seed)))  # type: ignore[arg-type]
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--hits", type=float, default=0.0)
    parser.add_argument("--ansi", action="store_true")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--members", type=int, default=0)
    given = parser.parse_args()
    write(given.out, given.mib, given.hits, given.ansi, given.seed, given.members)


if __name__ == "__main__":
    main()
