"""Errors that are the program's own mistake are said with confidence, where no other cause stands beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from postmortem.analysis import analyze

PYTHON = 'epoch 1\nTraceback (most recent call last):\n  File "/srv/t.py", line 4, in <module>\n    main()\n'
GO = "{0}\n\ngoroutine 1 [running]:\nmain.load(0x1)\n\t/src/app/load.go:31 +0x1d\nexit status 2\n"
JAVA = 'Exception in thread "main" {0}\n\tat com.acme.Load.run(Load.java:31)\n\tat com.acme.Main.main(Main.java:9)\n'
RUST = "thread 'main' panicked at src/load.rs:31:9:\n{0}\nnote: run with `RUST_BACKTRACE=1`\n"
DISK = "2026-03-01 10:00:00 ERROR write /data/a: no space left on device\n"

STORIES = {
    "python, a key": (PYTHON + "KeyError: 'lr'\n", "runtime.python-exception", "high"),
    "go, a nil pointer": (GO.format("panic: runtime error: invalid memory address or nil pointer dereference"), "runtime.go-panic", "high"),
    "go, an index": (GO.format("panic: runtime error: index out of range [3] with length 3"), "runtime.go-panic", "high"),
    "java, null": (JAVA.format('java.lang.NullPointerException: Cannot invoke "String.length()"'), "runtime.java-exception", "high"),
    "rust, an index": (RUST.format("index out of bounds: the len is 3 but the index is 3"), "runtime.rust-panic", "high"),
    "go, its own words": (GO.format("panic: could not reach the registry"), "runtime.go-panic", "low"),
    "rust, a result": (RUST.format('called `Result::unwrap()` on an `Err` value: ParseIntError'), "runtime.rust-panic", "low"),
    "python, an error of the outside": (PYTHON + "RuntimeError: the worker is gone\n", "runtime.python-exception", "low"),
}  # fmt: skip


@pytest.mark.parametrize(("log", "root", "sure"), STORIES.values(), ids=STORIES)
def test_alone(tmp_path: Path, log: str, root: str, sure: str) -> None:
    (tmp_path / "app.log").write_text(log)
    said = analyze(str(tmp_path))["root_cause"]
    assert said["class"] == root
    assert (said["confidence"] == "high") is (sure == "high")


def test_not_beside_another_cause(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(PYTHON + "KeyError: 'lr'\n")
    (tmp_path / "store.log").write_text(DISK)
    said = analyze(str(tmp_path))["root_cause"]
    assert (said["class"], said["confidence"]) != ("runtime.python-exception", "high")
