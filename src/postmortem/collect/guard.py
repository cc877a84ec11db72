"""Evidence, then the destroy: a collection in a child that may fail in any way, and a command that runs after it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from types import FrameType

from postmortem.collect.options import CollectOptions
from postmortem.errors import UsageError

_LATE = 0.7  # seconds past its deadline after which the collection is left alone


def guarded(make: Callable[[], CollectOptions], deadline: float, command: tuple[str, ...], seconds: float) -> int:
    """The exit status of `command`, which runs for at most so many seconds once the collection has ended or is late.

    Raises UsageError before anything is destroyed when the options are wrong.
    """
    options = make()
    with _passed_on() as child:
        child.append(_collect(options))
        _await(child[0], deadline + _LATE)
        child.clear()
        return _destroy(command, seconds, child)


def hooks() -> dict[str, str]:
    """The recipes by name."""
    folder = files("postmortem.collect").joinpath("hooks")
    paths = sorted((path for path in folder.iterdir() if path.is_file()), key=lambda path: path.name)
    return {path.name.partition(".")[0]: path.read_text(encoding="utf-8") for path in paths}


def _collect(options: CollectOptions) -> int:
    """The pid of a child that collects; 0 when there can be none."""
    sys.stderr.flush()
    try:
        pid = os.fork()
    except OSError as error:
        print(f"postmortem: no collection: {error.strerror}", file=sys.stderr)
        return 0
    if pid:
        return pid
    code = 1
    try:
        from postmortem.collect import collect
        from postmortem.collect.footprint import be_humble

        be_humble()
        result = collect(options)
        code = result.code
        print(result.summary, file=sys.stderr, flush=True)
    except UsageError as error:
        print(f"postmortem: {error}", file=sys.stderr, flush=True)
    except BaseException as error:  # the destroy that follows must run, whatever this was
        print(f"postmortem: no collection: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def _await(pid: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    while pid and time.monotonic() < until:
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0]:
                return
        time.sleep(0.02)
    if pid:
        print("postmortem: the collection did not end in time; going on without it", file=sys.stderr)
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _destroy(command: tuple[str, ...], seconds: float, child: list[int]) -> int:
    try:
        process = subprocess.Popen(command)
    except OSError as error:
        print(f"postmortem: {command[0]} cannot be run: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126
    child.append(process.pid)
    until = time.monotonic() + seconds
    while process.poll() is None:
        if time.monotonic() > until:
            print(f"postmortem: {command[0]} did not end within {seconds:g} s", file=sys.stderr)
            process.kill()
            for _ in range(20):
                if process.poll() is not None:
                    break
                time.sleep(0.01)
            process.returncode = process.returncode or -9
            return 124
        time.sleep(0.02)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


@contextlib.contextmanager
def _passed_on() -> Iterator[list[int]]:
    """TERM, INT and HUP hurry the collection, and reach the command; they never keep it from being run."""
    child: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        for pid in child:
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    old = {number: signal.signal(number, pass_on) for number in numbers}
    try:
        yield child
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
