"""explain: every class can be told in words, and a wrong name gets a hint."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from postmortem.signatures import Signature, load
from postmortem.signatures.explain import explain, filled

CATALOGUE = load()


@pytest.mark.parametrize("signature", CATALOGUE.signatures, ids=lambda s: s.id)
def test_every_class_says_what_it_is_and_how_it_shows(signature: Signature) -> None:
    text = explain(CATALOGUE, signature)
    assert text.startswith(f"{signature.id}\n{signature.title}.\n")
    assert "\nHow it shows\n" in text or "\nWhat proves it\n" in text or "\nRaises only a suspicion\n" in text
    assert not re.search(r"^  - \s*$", text, re.M), "an empty entry"


@pytest.mark.parametrize(
    ("class_id", "heading", "words"),
    [
        ("gpu.fell-off-bus", "What proves it", "Xid 79"),
        ("gpu.fell-off-bus", "Caused by", "gpu.pcie-error"),
        ("memory.oom-kill-cgroup", "What refutes it", "oom_kill of the victim's own cgroup is 0"),
        ("memory.oom-kill-cgroup", "Causes", "process.zombie: the killed process was not reaped"),
        ("script.syntax-error", "What to do", "bash -n"),
        ("gpu.fell-off-bus", "References", "https://"),
    ],
    ids=lambda v: v if isinstance(v, str) else None,
)
def test_sections(class_id: str, heading: str, words: str) -> None:
    text = explain(CATALOGUE, CATALOGUE.by_id[class_id])
    section = text.split(f"\n{heading}\n")[1].split("\n\n")[0]
    assert words in section


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("killed[: {comm}][ (pid {pid})] twice", "killed: COMM (pid PID) twice"),
        (r"a literal \[bracket\]", "a literal [bracket]"),
        ("nothing to fill", "nothing to fill"),
    ],
    ids=["fields", "escapes", "plain"],
)
def test_templates_without_values(template: str, text: str) -> None:
    assert filled(template) == text


@pytest.mark.parametrize(
    ("name", "status", "hint"),
    [("script.syntax-eror", 2, "script.syntax-error"), ("xyzzy", 2, "signatures list"), ("process.zombie", 0, "")],
    ids=["misspelt", "unknown", "known"],
)
def test_command(name: str, status: int, hint: str) -> None:
    done = subprocess.run([sys.executable, "-m", "postmortem", "explain", name], capture_output=True, timeout=60)
    assert done.returncode == status
    assert hint in done.stderr.decode()
