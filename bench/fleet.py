"""Makes an archive of a fleet: bundles of labelled cases with other hosts, days, pids, cards and noise, and the truth.

python bench/fleet.py CASES OUT --bundles 2000 --median-kb 200
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import tarfile
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
ISO = re.compile(rb"\b(20\d\d)-(\d\d)-(\d\d)(?=[T ])")
STAMP = re.compile(rb"(?m)^(20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,]\d+)?(Z|[+-]\d\d:\d\d)?")
SYSLOG = re.compile(rb"\b(" + "|".join(MONTHS).encode() + rb") ([ \d]\d)(?= \d\d:\d\d:\d\d)")
PID = re.compile(rb"(?:\bpid[=: ]+|\w\[)(\d{4,7})\b", re.I)  # a shorter one may be a line of a script too
BUS = re.compile(rb"\b((?:[0-9a-f]{4}|[0-9a-f]{8}):)([0-9a-f]{2})(:[0-9a-f]{2})\b", re.I)
# a day in any other form: the case keeps its days, since shifting some of its clocks only would make another failure
OTHER_DAY = re.compile(
    rb"\b\d\d/\d\d(?:/\d\d(?:\d\d)?)? \d\d:\d\d|(?<![\d-])\d\d-\d\d \d\d:\d\d|\b[IWEF]\d{4} \d\d:\d\d"
    rb"|\b20\d{6}[T ]?\d\d"
    rb"|\b\d\d[-/ ](?:" + "|".join(MONTHS).encode() + rb")\b|(?<!\d)1[6-9]\d{8}(?!\d)|\b20\d\d/\d\d"
)
HOSTS, WEEKS = 40, 8
HEALTHY = re.compile(r"(?m)^  root_cause: healthy$")
LEMON, LEMON_CASES = "gpu-13", ("fell-off-bus", "ecc")  # this host gets three in four of these


def cases(folder: Path) -> list[Path]:
    return sorted(p.parent for p in folder.rglob("case.yaml"))


def varied(files: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    """The same failure of another machine on another day: days, pids and PCI buses are changed consistently."""
    text = b"\n".join(files.values())
    pids = {p: str(int(p) + rng.randrange(1, 900_000)).encode() for p in sorted(set(PID.findall(text)))}
    buses = {b.lower(): f"{rng.randrange(1, 250):02x}".encode() for b in sorted({m[1] for m in BUS.findall(text)})}
    weeks = timedelta(weeks=0 if OTHER_DAY.search(text) else rng.randrange(-WEEKS, 1))
    # not where it is part of a longer number, a name, a time or an address
    numbers = re.compile(rb"(?<![\w.:/-])(" + b"|".join(pids) + rb")(?![\w.:-])") if pids else None

    def change(data: bytes) -> bytes:
        data = ISO.sub(lambda m: iso(m, weeks), data)
        data = SYSLOG.sub(lambda m: syslog(m, weeks), data)
        data = BUS.sub(lambda m: m[1] + buses[m[2].lower()] + m[3], data)
        if not numbers:
            return data
        data = re.sub(rb"(?i)(\bpid[=: ]+|\w\[)(\d{4,7})\b", lambda m: m[1] + pids.get(m[2], m[2]), data)
        return numbers.sub(lambda m: pids[m[1]], data)

    return {name: change(data) for name, data in files.items()}


def iso(match: re.Match[bytes], shift: timedelta) -> bytes:
    try:
        return (date(*map(int, match.groups())) + shift).isoformat().encode()
    except ValueError:
        return match[0]


def syslog(match: re.Match[bytes], shift: timedelta) -> bytes:
    try:
        moved = date(2026, MONTHS.index(match[1].decode()) + 1, int(match[2])) + shift
    except ValueError:
        return match[0]
    return f"{MONTHS[moved.month - 1]} {moved.day:2d}".encode()


def last_moment(files: dict[str, bytes]) -> tuple[datetime, str] | None:
    """The latest time that a bundle's lines begin with, and its zone as written; None where none has that form."""
    stamps = sorted(stamp for data in files.values() for stamp in STAMP.findall(data))
    try:
        return datetime.fromisoformat(stamps[-1][0].decode()), stamps[-1][1].decode()
    except (IndexError, ValueError):
        return None


def noise(rng: random.Random, size: int, last: tuple[datetime, str] | None) -> bytes:
    """The log of a service that has nothing to do with it, up to then; random digests keep it from packing well.

    Where the bundle's own lines have no such stamp it has none either: another day would be another incident's.
    """
    lines, length, second = [], 0, -size // 95 * 5  # about 95 bytes a line, one each five seconds
    while length < size:
        second += rng.randrange(1, 9)
        stamp = f"{(last[0] + timedelta(seconds=second)).isoformat()}{last[1]} " if last else ""
        lines.append(
            f"{stamp}DEBUG mesh: peer {rng.randbytes(8).hex()} announced {rng.randbytes(20).hex()}, "
            f"queue {rng.randrange(99)}\n"
        )
        length += len(lines[-1])
    return "".join(lines).encode()


def bundle(file: Path, host: str, files: dict[str, bytes]) -> None:
    """A bundle as `collect` seals it: the manifest last."""
    manifest = {"schema": "postmortem/bundle/v1", "host": host, "complete": True, "redacted": True, "probes": []}
    with tarfile.open(file, "w:gz", compresslevel=1) as tar:
        for name, data in [*files.items(), ("manifest.json", json.dumps(manifest).encode())]:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def read(case: Path) -> dict[str, bytes]:
    top = case / "files"
    return {f"files/{p.relative_to(top)}": p.read_bytes() for p in sorted(top.rglob("*")) if p.is_file()}


def fleet(folder: Path, out: Path, bundles: int, median_kb: int, seed: int = 7) -> Iterator[tuple[str, str]]:
    """(name, case) of every bundle, as it is written; 200 in each folder."""
    rng = random.Random(seed)
    sources = {c.name: read(c) for c in cases(folder)}
    healthy = {c.name for c in cases(folder) if HEALTHY.search((c / "case.yaml").read_text())}
    names = sorted(sources)
    for number in range(bundles):
        case = rng.choice(names)
        host = f"gpu-{rng.randrange(HOSTS):02d}"
        if any(word in case for word in LEMON_CASES) and rng.random() < 0.75:
            host = LEMON
        files = varied(sources[case], rng)
        size = int(median_kb * 1024 * rng.lognormvariate(0, 0.5) * 2.36)  # the packer saves four sevenths of it
        if size:
            files["files/mesh.log"] = noise(rng, size, last_moment(files))
        name = f"{number // 200:04d}/{number:06d}.tar.gz"
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        bundle(out / name, host, files)
        yield name, "healthy" if case in healthy else case


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--bundles", type=int, default=2000)
    parser.add_argument("--median-kb", type=int, default=200)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    truth = dict(fleet(given.cases, given.out, given.bundles, given.median_kb))
    (given.out.parent / f"{given.out.name}.truth.json").write_text(json.dumps(truth))
    print(f"{len(truth)} bundles, {sum(p.stat().st_size for p in given.out.rglob('*.gz')) / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
