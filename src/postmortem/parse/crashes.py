"""Crashes and uncaught errors as records of several lines: Python, Java, Node, Go, Rust, C++, glibc."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from postmortem.model import Event, Fact, Kind
from postmortem.parse import crash_native, crash_python, crash_vm
from postmortem.parse.crash_block import Block, Crash
from postmortem.scene import Parser, Reading

_READERS: tuple[Callable[[Block], Crash | None], ...] = (
    crash_python.read,
    crash_native.rust_panic,
    crash_native.rust_error,
    crash_native.go,
    crash_native.cpp,
    crash_native.glibc,
    crash_vm.java,
    crash_vm.node,
)


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Crash records, such as Rust's `thread 'main' (12047) panicked at src/main.rs:4:10:` and the message below it."""
    done = 0
    for number in reading.nominated:
        if number <= done:
            continue
        line = reading.line(number)
        if line is None or line.channel == "kernel":
            continue
        block = Block(reading, number)
        crash = next((found for reader in _READERS if (found := reader(block)) is not None), None)
        if crash is not None:
            done = crash.end
            more = tuple(n for n in crash.lines if n != crash.start)[:12]
            yield reading.event(crash.kind, crash.start, crash.fields(), more)


PARSER = Parser(
    name="crashes",
    kinds=frozenset({Kind.LOG, Kind.JOURNAL, Kind.CONTAINER}),
    read=read,
    needles=(*crash_python.NEEDLES, *crash_native.NEEDLES, *crash_vm.NEEDLES),
    before=6,
    after=100,
)
