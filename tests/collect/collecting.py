"""What the collector's tests share: running it as a process of its own, and reading what it left."""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clocked import Stopwatch
from postmortem.collect import CollectOptions

_RUN = """
import json, sys
from postmortem.collect import CollectOptions, Extra, collect
from postmortem.collect.options import Attach
asked = json.loads(sys.argv[1])
for key, value in asked.items():
    asked[key] = tuple(value) if isinstance(value, list) else value
for key in ("logs", "extras", "attach"):
    asked[key] = tuple(tuple(item) if isinstance(item, list) else item for item in asked[key])
asked["extras"] = tuple(Extra(**extra) for extra in asked["extras"])
asked["attach"] = tuple(Attach(**one) for one in asked["attach"])
result = collect(CollectOptions(**asked))
print(result.summary, file=sys.stderr)
sys.exit(result.code)
"""


@dataclass(frozen=True)
class Bundle:
    """A bundle as read: members by name in stream order, and its manifest."""

    members: dict[str, bytes]

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads(self.members["manifest.json"])

    def probe(self, name: str) -> dict[str, Any]:
        found = [probe for probe in self.manifest["probes"] if probe["name"] == name]
        assert found, f"no probe {name} among {sorted(probe['name'] for probe in self.manifest['probes'])}"
        return found[0]

    def text(self, member: str) -> str:
        return self.members[member].decode()


def command(options: CollectOptions) -> list[str]:
    return [sys.executable, "-c", _RUN, json.dumps(asdict(options))]


def start(options: CollectOptions, **env: str) -> subprocess.Popen[bytes]:
    """The collector in a process and session of its own."""
    return subprocess.Popen(command(options), stderr=subprocess.PIPE, start_new_session=True, env={**os.environ, **env})


def run(options: CollectOptions, **env: str) -> tuple[int, float]:
    """Exit status and seconds."""
    watch = Stopwatch()
    done = subprocess.run(command(options), capture_output=True, timeout=120, env={**os.environ, **env}, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.returncode, watch.seconds()


def read(path: Path) -> Bundle:
    """Whatever is readable of a bundle, whole or cut."""
    unpack, data = zlib.decompressobj(31), b""
    with contextlib.suppress(zlib.error):
        data = unpack.decompress(path.read_bytes())
    return read_tar(data)


def read_tar(data: bytes) -> Bundle:
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for info in tar:
                file = tar.extractfile(info)
                assert file is not None
                content = file.read()
                if len(content) == info.size:
                    members[info.name] = content
    except (tarfile.ReadError, EOFError):
        pass
    return Bundle(members)


def _spool() -> str:
    """A folder for the agents that this test process starts: other test processes run collectors, too."""
    folder = tempfile.mkdtemp(prefix="pm-tests-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    os.chmod(folder, 0o1777)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


SPOOL = os.environ["POSTMORTEM_SPOOL"] = _spool()


def our_processes() -> set[int]:
    """The agent's children that live now: their names are in their command lines, and the spool, here or elsewhere."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if b"pm-tests-" in line and SPOOL.encode() not in line:
            continue
        if (
            b"postmortem-guard" in line or b"postmortem-worker" in line or b"postmortem-follower" in line
        ) and state != "Z":
            found.add(int(folder.name))
    return found


def gone(before: set[int], seconds: float = 3.0) -> bool:
    """Whether the agent's children that came after `before` end within so many seconds."""
    until = time.monotonic() + seconds
    while our_processes() - before:
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
