"""Evidence off a machine: agent -> capture -> sealed bundle."""

from __future__ import annotations

from postmortem.collect.options import CollectOptions, CollectResult, Extra, split_label, with_config

__all__ = [
    "CollectOptions",
    "CollectResult",
    "Extra",
    "agent_script",
    "collect",
    "seal_file",
    "split_label",
    "with_config",
]


def collect(options: CollectOptions) -> CollectResult:
    """Collects as the options say; code 0 whenever a bundle was written. Raises UsageError for impossible options."""
    from postmortem.collect.start import start

    started = start(options)
    from postmortem.collect.run import collect as run  # while the agent is at work

    return run(started)


def agent_script(options: CollectOptions) -> str:
    """The agent as one self-contained POSIX sh script, for an image without Python. Raises UsageError as `collect`."""
    from postmortem.collect.agent import render

    return render(with_config(options))


def seal_file(capture_path: str, out_path: str) -> CollectResult:
    """A sealed bundle of a raw capture, gzipped or not. Raises CollectError where it cannot be read or is none."""
    from postmortem.collect.run import seal_file as run

    return run(capture_path, out_path)
