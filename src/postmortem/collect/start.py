"""Options -> a running agent, before anything heavy is imported: that costs the collection no time then."""

from __future__ import annotations

import fcntl
import os
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, replace

from postmortem.collect.agent import render
from postmortem.collect.options import CollectOptions, with_config
from postmortem.collect.transport import Transport, transport_for
from postmortem.errors import UsageError

RESERVE = 0.8  # seconds of the deadline that the agent leaves to us
_PIPE = 1 << 18  # that the whole script fits into


@dataclass(slots=True)
class Agent:
    """The transport's process, or why there is none; `unsent` is what its input would not take yet."""

    process: subprocess.Popen[bytes] | None
    problem: str = ""
    unsent: bytes = b""


@dataclass(frozen=True, slots=True)
class Started:
    """One collection under way; `collected` and `end` are moments of time.monotonic()."""

    options: CollectOptions
    transport: Transport
    targets: tuple[str, ...]
    agent: Agent
    collected: float  # when the collecting ends
    end: float  # when everything does


def start(options: CollectOptions) -> Started:
    """The agent as the options ask for it, running where the transport is local. Raises UsageError."""
    begin = time.monotonic() - options.spent
    options = _placed(_checked(with_config(options)))
    targets = _targets(options)
    end = begin + options.deadline
    collected = end - (min(10.0, options.deadline * 0.3) if targets else 0.0)
    transport = transport_for(options)
    script = b"" if transport.waits else script_for(options, transport, collected)
    return Started(options, transport, targets, _launch(transport, script), collected, end)


def script_for(options: CollectOptions, transport: Transport, until: float) -> bytes:
    """The agent for what is left until the moment of time.monotonic()."""
    left = max(0.5, until - time.monotonic() - RESERVE)
    clock = ""
    if transport.is_local:
        from postmortem.collect.kernel_clock import adjtimex

        clock = adjtimex()
    return render(options, follow=True, lingers=transport.waits, deadline=left, kernel_clock=clock).encode()


def feed(agent: Agent, closes: bool) -> None:
    """Gives the agent's input what it takes now; closes it behind the last byte where nothing more is to be said."""
    if agent.process is None or agent.process.stdin is None or not agent.unsent:
        return
    try:
        agent.unsent = agent.unsent[os.write(agent.process.stdin.fileno(), agent.unsent) :]
    except BlockingIOError:
        return
    except OSError:
        agent.unsent = b""
    if closes and not agent.unsent:
        with suppress(OSError):
            agent.process.stdin.close()


def _launch(transport: Transport, script: bytes) -> Agent:
    try:
        process = subprocess.Popen(
            transport.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Agent(None, f"{transport.argv[0]} cannot be run: {error.strerror}")
    agent = Agent(process, unsent=script)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
    if process.stdin is not None:
        with suppress(OSError):
            fcntl.fcntl(process.stdin.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)
    feed(agent, not transport.waits)
    return agent


def _checked(options: CollectOptions) -> CollectOptions:
    """Raises UsageError for outputs that would mislead or cannot be made."""
    for path in (options.output, *options.copies):
        if not options.redact and path and path != "-" and "unredacted" not in os.path.basename(path):
            raise UsageError(f"with --no-redact the file's name must say so: {path} holds no 'unredacted'")
    for text in options.encrypt_to:
        from postmortem.collect.places import recipient

        try:
            recipient(text)
        except ImportError as error:
            raise UsageError("--encrypt-to needs pyrage: pip install 'postmortem[age]'") from error
        except ValueError as error:
            raise UsageError(f"--encrypt-to {text}: {error}") from error
    return options


def _placed(options: CollectOptions) -> CollectOptions:
    """Paths of this machine are the caller's; those of another one are its own."""
    if options.ssh or options.docker or options.kubectl:
        return options
    here = os.getcwd()
    logs = tuple((os.path.join(here, glob), label) for glob, label in options.logs)
    return replace(options, logs=logs, scripts=tuple(os.path.join(here, path) for path in options.scripts))


def _targets(options: CollectOptions) -> tuple[str, ...]:
    if not options.ship:
        return ()
    from postmortem.collect.ship import target_of

    return tuple(target_of(text) for text in options.ship)
