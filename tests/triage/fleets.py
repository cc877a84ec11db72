"""Small archives of known failures, and runs over them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

XID = "2026-06-{d:02d}T03:40:01Z {host} kernel: [ 9412.1] NVRM: Xid (PCI:0000:{bus}:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
PORT = "2026-06-{d:02d}T03:40:01Z ERROR app: bind 127.0.0.1:9820: Address already in use (os error 98)\n"
ODD = "2026-06-{d:02d}T03:40:00Z INFO frob: start {d}\n2026-06-{d:02d}T03:40:01Z ERROR frob: quux table {d} is inside out, giving up\n2026-06-{d:02d}T03:40:02Z ERROR bench: run failed: exit code 1\n"
GOOD = (
    "2026-06-{d:02d}T03:40:01Z INFO bench: benchmark completed successfully, throughput 12.5 proofs/s\nexit status 0\n"
)
KINDS = {"xid": ("kern.log", XID), "port": ("app.log", PORT), "odd": ("run.log", ODD), "good": ("bench.log", GOOD)}


def text(kind: str, day: int, host: str) -> str:
    return KINDS[kind][1].format(d=day, host=host, bus=f"{16 + day:02x}")


def bundle(file: Path, kind: str, day: int = 11, host: str = "gpu-1") -> Path:
    """A sealed bundle of one failure."""
    manifest = {"schema": "postmortem/bundle/v1", "host": host, "complete": True, "redacted": True, "probes": []}
    return tar(file, {f"files/{KINDS[kind][0]}": text(kind, day, host), "manifest.json": json.dumps(manifest)})


def tar(file: Path, members: dict[str, str | bytes]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:gz", compresslevel=1) as archive:
        for name, content in members.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file


def fleet(folder: Path, count: int = 12) -> Path:
    """`count` bundles of all kinds on three hosts, and one that is no archive."""
    for number in range(count):
        kind = list(KINDS)[number % len(KINDS)]
        bundle(folder / f"{number % 3}" / f"{number:03d}.tar.gz", kind, 1 + number % 28, f"gpu-{number % 3}")
    (folder / "broken.tar.gz").write_bytes(b"\x1f\x8b not an archive")
    return folder


def triage(*args: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "postmortem", "triage", *map(str, args)],
        capture_output=True, text=True, timeout=120, env={**os.environ, **env},
    )  # fmt: skip


def rows(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "rows.jsonl").read_text(encoding="utf-8").splitlines()]


def sorted_lines(out: Path) -> list[str]:
    return sorted((out / "rows.jsonl").read_text(encoding="utf-8").splitlines())


def last_run(out: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((out / "runs.jsonl").read_text().splitlines()[-1])
    return told
