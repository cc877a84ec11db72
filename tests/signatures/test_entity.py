"""Whom a record is about: names of one thing in several forms, and joins."""

from __future__ import annotations

import pytest

from postmortem.signatures.entity import agree, entity_of, join

A64, B64 = "a" * 64, "b" * 64
SAME = {
    "pci forms": ("gpu", "PCI:0000:9B:00", "00000000:9b:00.0", True),
    "other pci": ("gpu", "0000:9b:00", "0000:9c:00", False),
    "index and address": ("gpu", "0", "0000:9b:00", None),
    "indices": ("gpu", "0", "1", False),
    "comm of 15 bytes": ("comm", "cuzk-bench-daem", "cuzk-bench-daemon", True),
    "comm with a path": ("comm", "/usr/bin/python3", "python3", True),
    "shorter comm": ("comm", "python", "python3", False),
    "script by base name": ("script", "./bench.sh", "/opt/bench.sh", True),
    "other script": ("script", "bench.sh", "entry.sh", False),
    "container of v1 and v2": ("cgroup", f"/docker/{A64}", f"/system.slice/docker-{A64}.scope", True),
    "two containers": ("cgroup", f"/docker/{A64}", f"/docker/{B64}", False),
    "own group": ("cgroup", "own", f"/docker/{A64}", None),
    "short container id": ("container", A64[:12], A64, True),
    "short host name": ("host", "gpu7", "gpu7.example.net", True),
    "two host names": ("host", "gpu7.a", "gpu7.b", False),
    "unit": ("unit", "cuzk.service", "cuzk", True),
    "pid": ("pid", "12", "123", False),
}


@pytest.mark.parametrize(("key", "a", "b", "value"), SAME.values(), ids=SAME)
def test_values_of_a_key(key: str, a: str, b: str, value: bool | None) -> None:
    assert agree(key, a, b) is value
    assert agree(key, b, a) is value


PID, OTHER = {"pid": "1", "comm": "x"}, {"pid": "2", "comm": "x"}
JOINS = {
    "nothing said, nothing known": ({}, {}, None, True),
    "nothing said, nothing shared": ({"pid": "1"}, {"gpu": "0"}, None, True),
    "nothing said, same": (PID, PID, None, True),
    "nothing said, other pid": (PID, OTHER, None, False),
    "same pid wanted": (PID, PID, ("pid",), True),
    "same pid wanted, other": (PID, OTHER, ("pid",), False),
    "same pid wanted, unknown on one side": (PID, {"comm": "x"}, ("pid",), None),
    "same comm wanted, other pid": (PID, OTHER, ("comm",), True),
    "two keys wanted, one differs": (PID, {"pid": "1", "comm": "y"}, ("pid", "comm"), False),
    "no join wanted": (PID, OTHER, (), True),
}


@pytest.mark.parametrize(("a", "b", "same", "value"), JOINS.values(), ids=JOINS)
def test_joins(a: dict[str, str], b: dict[str, str], same: tuple[str, ...] | None, value: bool | None) -> None:
    assert join(a, b, same) is value


def test_a_pid_of_the_kernel_may_be_another_number_inside_a_container() -> None:
    assert join(PID, OTHER, None, one_pid_space=False) is True
    assert join(PID, OTHER, ("pid",), one_pid_space=False) is None
    assert join(PID, {"pid": "2", "comm": "y"}, None, one_pid_space=False) is False


def test_fields_that_name_an_entity_in_other_words() -> None:
    fields = {"victim": "java", "pid": "7", "task_memcg": "/a", "gpu": "PCI:0000:9B:00", "rank": "?", "order": "0"}
    assert entity_of(fields) == {"comm": "java", "pid": "7", "cgroup": "/a", "gpu": "0000:9b:00"}
