"""One fault after another around a real collection, and what is asked of each: survived, in time, nothing lost, no leak."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from collecting import Bundle, read
from sentinels import leaks, lines

from clocked import Stopwatch

HERE = Path(__file__).parent
ROWS = HERE.parent.parent / "build" / "faults"
LATE = 0.5  # seconds past the deadline
PRELUDE = """
set -u
exec 2>>"$D/shell.err"
hang() { "$PY" "$HANGER" "$@" >"$D/hang.out" & for _ in 1 2 3 4 5 6 7 8 9 10; do grep -q mounted "$D/hang.out" && break; sleep 0.1; done; }
timed() { "$PY" "$TIMED" "$D/result.json" "$@"; }
PM="$PY -m postmortem collect --deadline $DEADLINE --log $D/secrets.log --log $D/good.log"
"""


@dataclass(frozen=True)
class Fault:
    """`shell` is run as root in namespaces of its own; it calls `timed $PM -o FILE`, and leaves a bundle in $D/out."""

    name: str
    shell: str
    deadline: float = 6.0
    keeps: tuple[str, ...] = ("START", "manifest.json", "END", "logs/tail{good}")
    states: dict[str, str] = field(default_factory=dict)  # part of a probe's name -> its state
    complete: bool | None = None
    code: int = 0
    slow: bool = False


@dataclass(frozen=True)
class Outcome:
    """What was measured; an empty `wrong` is a survived fault."""

    name: str
    seconds: float
    deadline: float
    members: int
    leaks: tuple[str, ...]
    wrong: tuple[str, ...]
    note: str = ""

    def record(self) -> None:
        """Puts the row where the end of the test run finds it."""
        ROWS.mkdir(parents=True, exist_ok=True)
        name = "".join(c if c.isalnum() else "-" for c in self.name)
        text = json.dumps({**self.__dict__, "leaks": list(self.leaks), "wrong": list(self.wrong)})
        (ROWS / f"{name}.json").write_text(text, encoding="utf-8")


def possible() -> bool:
    """Whether this machine lets us make namespaces."""
    return os.geteuid() == 0 and shutil.which("unshare") is not None


def run(fault: Fault, folder: Path) -> Outcome:
    """Plants secrets, makes the fault, collects, measures."""
    folder.chmod(0o755)
    (folder / "out").mkdir(exist_ok=True)
    (folder / "bin").mkdir(exist_ok=True)
    good = folder / "good.log"
    good.write_text("".join(f"{n} all is well\n" for n in range(300)))
    (folder / "secrets.log").write_text(lines())
    env = {
        **os.environ,
        "D": str(folder),
        "PY": sys.executable,
        "HANGER": str(HERE.parent / "collect" / "hanger.py"),
        "TIMED": str(HERE / "timed.py"),
        "DEADLINE": f"{fault.deadline:g}",
        "PYTHONPATH": str(HERE.parent.parent / "src"),
        "XDG_STATE_HOME": str(folder / "state"),
    }
    words = ["unshare", "-m", "-p", "-f", "--mount-proc", "sh", "-c", PRELUDE + fault.shell]
    watch = Stopwatch()
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, timeout=110, check=False)
    assert (folder / "result.json").exists(), (done.stderr, (folder / "shell.err").read_text())
    return judge(fault, folder, good, watch.stood())


def judge(fault: Fault, folder: Path, good: Path, stood_s: float) -> Outcome:
    told = json.loads((folder / "result.json").read_text())
    told["seconds"] -= stood_s
    wrong = []
    if told["code"] != fault.code:
        wrong.append(f"exit status {told['code']}: {told['said'].strip()[-300:]}")
    if told["seconds"] > fault.deadline + LATE:
        wrong.append(f"{told['seconds']:.2f} s of {fault.deadline:g}")
    files = sorted((folder / "out").glob("*"))
    bundle = read(files[0]) if files else Bundle({})
    if not files:
        wrong.append("no bundle")
    keeps = [name.replace("{good}", str(good)) for name in fault.keeps]
    wrong += [f"{name} is missing" for name in keeps if name not in bundle.members]
    kept = bundle.members.get(f"logs/tail{good}")
    if kept is not None and kept != good.read_bytes():
        wrong.append("the good log is not whole")
    if "manifest.json" in bundle.members:
        wrong += _states(fault, bundle)
    found = leaks(b"".join(name.encode() + b"\0" + data for name, data in bundle.members.items()))
    wrong += [f"leak: {kind}" for kind in found]
    return Outcome(
        fault.name, told["seconds"], fault.deadline, len(bundle.members), tuple(found), tuple(wrong), _note(bundle)
    )


def _states(fault: Fault, bundle: Bundle) -> list[str]:
    manifest, wrong = bundle.manifest, []
    if fault.complete is not None and manifest["complete"] is not fault.complete:
        wrong.append(f"complete is {manifest['complete']}: {manifest['reason']}")
    for part, wanted in fault.states.items():
        states = {probe["state"] for probe in manifest["probes"] if part in probe["name"]}
        if not states & set(wanted.split("|")):
            wrong.append(f"{part} is {sorted(states) or 'not told'}, not {wanted}")
    there = set(bundle.members)
    wrong += [f"{p['member']} is told and not there" for p in manifest["probes"] if p["member"] and p["member"] not in there]
    return wrong


def _note(bundle: Bundle) -> str:
    if "manifest.json" not in bundle.members:
        return "cut; readable up to there" if bundle.members else ""
    manifest = bundle.manifest
    gaps = [p for p in manifest["probes"] if p["state"] in ("hung", "timeout")]
    return "complete" if manifest["complete"] and not gaps else "; ".join(
        filter(None, (manifest["reason"], f"{len(gaps)} abandoned" if gaps else ""))
    )
