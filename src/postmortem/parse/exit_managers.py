"""How Slurm, Go's runtime and supervisord say that a program ended: (needle, pattern, what it means)."""

from __future__ import annotations

import re

from postmortem.parse.ending import WORDS, by_signal, of_shell_status
from postmortem.parse.exit_rules import WORD, Fields, Make, signalled, status_of


def _go(match: re.Match[str]) -> Fields:
    """Go's `cmd.Run` and cargo name the signal in words: `signal: killed`."""
    word = match["signal"].capitalize()
    return by_signal(WORDS[word], bool(match["rest"])) | {"how": "wrapper"}


def _mpirun(match: re.Match[str]) -> Fields:
    """Open MPI knows the pid only where its own daemon is the parent; elsewhere it prints 0."""
    pid = {} if match["pid"] == "0" else {"pid": match["pid"]}
    return by_signal(int(match["signal"])) | {"rank": match["rank"], "host": match["host"], "how": "scheduler"} | pid


RULES: tuple[tuple[str, str, Make], ...] = (
    # `mpirun noticed that process rank 3 with PID 7712 on node c2 exited on signal 11 (Segmentation fault).`
    (
        r"exited on signal \d",
        r"process rank (?P<rank>\d+) with PID (?P<pid>\d+) on node (?P<host>\S+) exited on signal (?P<signal>\d+)",
        _mpirun,
    ),
    # Slurm: `srun: error: gpu04: task 0: Exited with exit code 3`, `... task 2: Killed`, `... Out Of Memory`
    (
        r"srun: error: .*task",
        r"srun: error: (?P<host>\S+): tasks? (?P<rank>[\d,\-]+): Exited with exit code (?P<status>\d+)",
        status_of("scheduler"),
    ),
    (
        r"srun: error: .*task",
        rf"srun: error: \S+: tasks? (?P<rank>[\d,\-]+): (?P<word>{WORD})(?P<core>\s*\(core dumped\))?$",
        lambda m: by_signal(WORDS[m["word"]], bool(m["core"])) | {"rank": m["rank"], "how": "scheduler"},
    ),
    (
        r"^signal: ",
        r"^signal: (?P<signal>killed|aborted|segmentation fault|terminated|interrupt)(?P<rest> \(core dumped\))?$",
        lambda m: _go(m),
    ),
    (
        r": signal: ",
        (
            r"(?:^|[\s/])(?P<comm>[\w./@+-]*\w): signal: "
            r"(?P<signal>killed|aborted|segmentation fault|terminated|interrupt)(?P<rest> \(core dumped\))?$"
        ),
        lambda m: _go(m) | {"comm": m["comm"].rsplit("/", 1)[-1]},
    ),
    (
        r"\bexited: .*(?:not expected)",
        r"\bexited: (?P<comm>[\w.:-]+) \(exit status (?P<status>\d+); not expected\)",
        lambda m: of_shell_status(int(m["status"])) | {"comm": m["comm"], "how": "wrapper"},
    ),
    (
        r"\bexited: .*(?:not expected)",
        r"\bexited: (?P<comm>[\w.:-]+) \(terminated by (?P<signal>SIG[A-Z0-9]+)(?: \(core dumped\))?; not expected\)",
        signalled("wrapper"),
    ),
)
