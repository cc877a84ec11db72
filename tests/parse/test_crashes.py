"""Crash records of several lines: where they end, what their root is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from postmortem.model import Kind
from postmortem.parse.crashes import PARSER
from reading import events

PYTHON = """\
Traceback (most recent call last):
  File "/opt/ingest.py", line 9, in load
    return json.loads(text)
           ^^^^^^^^^^^^^^^^
json.decoder.JSONDecodeError: Expecting value: line 6 column 36 (char 144)

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/opt/ingest.py", line 30, in <module>
    main()
AttributeError: 'Store' object has no attribute '_conn'
"""
RECORDS = {
    "python-chain": (PYTHON, ("python", "AttributeError", "json.decoder.JSONDecodeError", "/opt/ingest.py:9")),
    "python-rank-prefix": (
        "".join(f"[rank0]: {line}\n" for line in PYTHON.splitlines()),
        ("python", "AttributeError", "json.decoder.JSONDecodeError", "/opt/ingest.py:9"),
    ),
    "python-stamped-by-ci": (
        "".join(f"2026-06-15T19:04:11.8255180Z {line}\n" for line in PYTHON.splitlines()),
        ("python", "AttributeError", "json.decoder.JSONDecodeError", "/opt/ingest.py:9"),
    ),
    "python-coloured": (
        'Traceback (most recent call last):\n  \x1b[35mFile "/a.py", line 3\x1b[0m, in f\n\x1b[31mKeyError\x1b[0m: 7\n',
        ("python", "KeyError", "KeyError", None),
    ),
    "python-syntax": (
        '  File "/opt/run.py", line 3\n    else:\n    ^^^^\nSyntaxError: invalid syntax\n',
        ("python", "SyntaxError", "SyntaxError", "/opt/run.py:3"),
    ),
    "faulthandler": (
        (
            'Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n  File "x'
            '.py", line 3 in f\n'
        ),
        ("python", "Fatal Python error", "Fatal Python error", None),
    ),
    "rust": (
        (
            "thread 'main' panicked at src/main.rs:4:10:\nindex out of bounds: the len is 3 but the index is 7\nnot"
            "e: run with `RUST_BACKTRACE=1`\n"
        ),
        ("rust", "panic", "panic", "src/main.rs:4:10"),
    ),
    "rust-with-thread-number": (
        "\nthread 'batcher' (88) panicked at src/b.rs:2:7:\nboom\nnote: run with\n",
        ("rust", "panic", "panic", "src/b.rs:2:7"),
    ),
    "rust-before-1.73": (
        "thread 'main' panicked at 'boom', src/main.rs:2:5\n",
        ("rust", "panic", "panic", "src/main.rs:2:5"),
    ),
    "anyhow": (
        (
            "Error: failed to bind listener\n\nCaused by:\n    0: transport error\n    1: Address already in use (o"
            "s error 98)\n"
        ),
        ("rust", "Error", "Error", None),
    ),
    "go-panic": (
        (
            "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.f(...)\n\t/"
            "build/main.go:12 +0x1d\n"
        ),
        ("go", "panic", "panic", "/build/main.go:12"),
    ),
    "go-fatal": (
        "fatal error: concurrent map writes\n\ngoroutine 7 [running]:\nruntime.throw()\n\t/usr/lib/go/src/runti"
        "me/panic.go:7 +0x1\n"
        "main.g()\n\t/build/m.go:36 +0x9\n",
        ("go", "fatal error", "fatal error", "/build/m.go:36"),
    ),
    "java": (
        'Exception in thread "main" a.b.WrappedException: load failed\n\tat a.b.C.m(C.java:12)\n'
        "Caused by: java.io.IOException: broken\n\tat a.b.D.n(D.java:7)\n\t... 1 more\n"
        "Caused by: java.net.SocketException: Connection reset\n\tat a.b.E.o(E.java:3)\n",
        ("java", "a.b.WrappedException", "java.net.SocketException", "E.java:3"),
    ),
    "node": (
        "/app/x.js:3\n  y.z()\n    ^\n\nTypeError: Cannot read properties of undefined\n    at f (/app/x.js:3:5"
        ")\n    at node:internal/main:9:1\n\n"
        "Node.js v20.11.0\n",
        ("node", "TypeError", "TypeError", "/app/x.js:3:5"),
    ),
    "c++": (
        "terminate called after throwing an instance of 'std::runtime_error'\n  what():  no device\n",
        ("c++", "std::runtime_error", "std::runtime_error", None),
    ),
    "glibc": ("malloc(): corrupted top size\n", ("c", "heap corruption", "heap corruption", None)),
    "glibc-old": (
        "*** Error in `./p': double free or corruption (fasttop): 0x00f ***\n",
        ("c", "heap corruption", "heap corruption", None),
    ),
    "stack-guard": ("*** stack smashing detected ***: terminated\n", ("c", "guard", "guard", None)),
    "assert": ("p: feeder.c:6: push: Assertion `x <= y' failed.\n", ("c", "assertion", "assertion", "feeder.c:6")),
    "assert-in-a-torn-line": (
        "05-18 13:02:54p: feeder.c:6: push: Assertion `x <= y' failed.\n",
        ("c", "assertion", "assertion", "feeder.c:6"),
    ),
}


@pytest.mark.parametrize(("text", "wanted"), RECORDS.values(), ids=RECORDS)
def test_record(text: str, wanted: tuple[str, str, str, str | None]) -> None:
    (found,) = events(PARSER, text, Kind.LOG, "run.log")
    got = (found["language"], found["exception"], found["root_exception"], found.get("place"))
    assert got[:3] == wanted[:3]
    assert wanted[3] is None or got[3] == wanted[3]


MESSAGES = {
    "anyhow-root": (RECORDS["anyhow"][0], "failed to bind listener", "Address already in use (os error 98)"),
    "rust-message": (RECORDS["rust"][0], "index out of bounds: the len is 3 but the index is 7", None),
    "java-root": (RECORDS["java"][0], "load failed", "Connection reset"),
    "c++-what": (RECORDS["c++"][0], "no device", None),
}


@pytest.mark.parametrize(("text", "message", "root"), MESSAGES.values(), ids=MESSAGES)
def test_messages(text: str, message: str, root: str | None) -> None:
    (found,) = events(PARSER, text, Kind.LOG, "run.log")
    assert (found["message"], found["root_message"]) == (message, root or message)


NONE = {
    "java-class-in-a-sentence": "java.lang.OutOfMemoryError is what this option catches\nnext line\n",
    "go-panic-in-words": "panic: do not panic, all is well\nnext\nnext\n",
    "config": 'panic = "abort"\n',
    "join-error": 'ERROR start failed error=task 42 panicked with message "x"\n',
    "ignored": (
        'Exception ignored in: <function f at 0x1>\nTraceback (most recent call last):\n  File "a.py", line 1, in f'
        "\nKeyError: 1\n"
    ),
    "node-error-without-frames": "Error: could not reach the mirror, will retry\nretrying\n",
    "caused-by-without-error": "Caused by:\n    nothing that has a head\n",
    "assertion-in-docs": "the text `Assertion failed` means a bug\n",
    "kernel-oom": "Killed process 77 (x) total-vm:1kB\n",
}


@pytest.mark.parametrize("text", NONE.values(), ids=NONE)
def test_no_record(text: str) -> None:
    assert events(PARSER, text, Kind.LOG, "run.log") == []


def test_another_writers_line_in_a_traceback() -> None:
    lines = PYTHON.splitlines()
    lines.insert(2, "2026-01-01 10:00:00,000 INFO other: still here")
    (found,) = events(PARSER, "\n".join(lines) + "\n", Kind.LOG, "run.log")
    assert found["root_exception"] == "json.decoder.JSONDecodeError"


def test_a_later_panic_may_be_an_echo() -> None:
    text = (
        "thread 'a' panicked at src/a.rs:1:1:\nboom\nnote: run\nthread 'b' panicked at src/b.rs:2:2:\n"
        "called `Result::unwrap()` on an `Err` value: PoisonError { .. }\nnote: run\n"
    )
    first, second = events(PARSER, text, Kind.LOG, "run.log")
    assert ("echo" in first, second["echo"]) == (False, "yes")


CHAIN = "try:\n    {}['a']\nexcept KeyError as e:\n    raise RuntimeError('no plan') from e\n"


def test_what_this_python_really_prints(tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_text(CHAIN)
    said = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False).stderr
    (found,) = events(PARSER, said, Kind.LOG, "run.log")
    assert (found["exception"], found["message"], found["root_exception"]) == ("RuntimeError", "no plan", "KeyError")
    assert found["place"] == f"{script}:2"
