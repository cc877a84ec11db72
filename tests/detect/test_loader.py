"""A program that is there and was not found."""

from __future__ import annotations

import pytest
from scene_texts import seen

from postmortem.detect import loader
from postmortem.model import Kind

BUSYBOX = "/usr/local/bin/start.sh: line 3: /opt/x/edgectl: not found\n"
BASH = "./run.sh: line 2: /opt/x/edgectl: No such file or directory\n"
ELF = "/opt/x/edgectl: ELF 64-bit LSB pie executable, x86-64, dynamically linked, interpreter /lib64/ld-linux.so.2, stripped\n"
STATIC = "/opt/x/edgectl: ELF 64-bit LSB executable, x86-64, version 1 (SYSV), statically linked, stripped\n"
OTHER = "/opt/x/other: ELF 64-bit LSB executable, x86-64, dynamically linked, interpreter /lib64/ld-linux.so.2\n"


@pytest.mark.parametrize(
    ("log", "shown", "interpreter"),
    [
        (BUSYBOX, ELF, "/lib64/ld-linux.so.2"),
        (BASH, ELF, "/lib64/ld-linux.so.2"),
        (BUSYBOX, STATIC, None),
        (BUSYBOX, OTHER, None),
        ("run.sh: line 3: edgectl: command not found\n", ELF, None),
        ("edgectl: not found: image 4\n", ELF, None),
    ],
    ids=["busybox", "bash", "it needs no loader", "another program", "looked for on the PATH", "no shell's word"],
)
def test_loader(log: str, shown: str, interpreter: str | None) -> None:
    events, _ = seen(loader.DETECTOR, {"app.log": (Kind.LOG, log), "file.txt": (Kind.LISTING, shown)})
    assert [e.fields["interpreter"] for e in events] == ([interpreter] if interpreter else [])
