"""Sentences of the report."""

from __future__ import annotations

import pytest

from postmortem.signatures.template import faults, fields_in, fill

KNOWN = {"comm": "java", "pid": 7, "share": 0.5, "own": True, "cgroup.memory.limit": 1024, "evil": "{pid} [x] \\", "limit_kb": 25165824,
         "longer": "javac", "sentence": "It timed out. ", "dots": "and so on...", "long": "x " * 150, "path": "/" + "x" * 300, "waited": 3600048, "empty": "", "ip": "10.0.0.1", "cgroup": "own"}  # fmt: skip
FILLED = {
    "plain": ("Nothing to fill", "Nothing to fill"),
    "fields": ("{comm} ({pid})", "java (7)"),
    "a float and a bool": ("{share} {own}", "0.5 yes"),
    "a fact": ("of {cgroup.memory.limit} bytes", "of 1024 bytes"),
    "unknown": ("by {exit_code}", "by unknown exit code"),
    "part that is known": ("died[ as {pid}]", "died as 7"),
    "part with an unknown": ("died[ as {pid} of {unit}]", "died"),
    "part in a part": ("[{comm}[:{line}] ]died", "java died"),
    "part in an unknown part": ("[{script}[:{pid}] ]died", "died"),
    "parts one after the other": ("[{a}][{pid}][{b}]x", "7x"),
    "brackets as text": (r"\[{pid}\] \{x\}", "[7] {x}"),
    "text of a log": ("{evil}", "{pid} [x] \\"),
    "other words": ("{script|The program} ended", "The program ended"),
    "other words not needed": ("{comm|The program} ended", "java ended"),
    "other words in a part": ("ended[ by {unit|someone}]", "ended by someone"),
    "KiB": ("of {limit_kb:kib}", "of 24.0 GiB"),
    "bytes": ("of {cgroup.memory.limit:bytes}", "of 1.0 KiB"),
    "few bytes": ("of {pid:bytes}", "of 7 bytes"),
    "no number": ("of {comm:kib}", "of java"),
    "milliseconds": ("{limit_kb:ms}, {pid:ms}", "6.99 h, 7 ms"),
    "minutes": ("waited {waited:ms}", "waited 60 min"),
    "a name is not cut": ("{path}!", f"/{'x' * 300}!"),
    "unknown size in a part": ("full[: {free:bytes}]", "full"),
    "the group of the job": ("the limit of {cgroup}", "the limit of the job's own group"),
    "told twice": ("{comm}[ ({comm})] ended", "java ended"),
    "told in a longer word": ("{longer}[ ({comm})] ended", "javac (java) ended"),
    "an address twice": ("{ip}[ or {ip}][ ({ip})]", "10.0.0.1 or 10.0.0.1"),
    "a number twice": ("line {pid}[ ({pid})]", "line 7 (7)"),
    "a full stop in the middle": ("{sentence} at {pid}", "It timed out at 7"),
    "three dots": ("{dots}", "and so on..."),
    "too long": ("{long}!", f"{'x ' * 100}...!"),
    "empty": ("died[ as {empty}]", "died"),
    "text of a log in a part": ("[{evil}]", "{pid} [x] \\"),
}


@pytest.mark.parametrize(("template", "sentence"), FILLED.values(), ids=FILLED)
def test_fill(template: str, sentence: str) -> None:
    assert faults(template) == ()
    assert fill(template, KNOWN) == sentence


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        ("[a", "a '[' without ']'"),
        ("a]", "a ']' without '['"),
        ("{a", "a single '{'"),
        ("a}", "a single '}'"),
        ("{a b}", "'{a b}' is no field name"),
        ("{1}", "'{1}' is no field name"),
        ("{a|}", "'{a|}' is no field name"),
        ("{a:mib}", "'{a:mib}' is no field name"),
    ],
)
def test_faults(template: str, fault: str) -> None:
    assert faults(template) == (fault,)


def test_fields() -> None:
    assert fields_in(r"{a}[ {b|it}\{c\}]{d:kib}") == ("a", "b", "d")
