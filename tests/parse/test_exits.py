"""Lines and records that say how a process ended."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from postmortem.model import Kind
from postmortem.parse import exit_tables, exits
from postmortem.parse.ending import of_returncode, of_shell_status, signal_number
from reading import events

LINES = {
    "bash-5.2": (
        "run.sh: line 7:  1834 Killed                  ./prover --x",
        {"signal": "9", "pid": "1834", "script": "run.sh", "line": "7", "comm": "prover", "how": "shell"},
    ),
    "bash-core": (
        "/opt/run.sh: line 12: 77 Segmentation fault      (core dumped) LD_X=1 /opt/bin/solve -n 4",
        {"signal": "11", "core": "yes", "comm": "solve", "line": "12"},
    ),
    "a number for a name": ("[pool www] child 2663800 exited on signal 11 (SIGSEGV)", {"signal": "11", "pid": "2663800"}),
    "a noun for a name": ("Command terminated by signal 9", {"signal": "9", "how": "wrapper"}),
    "a wrapper before the command": (
        "sim.sh: line 9:  4411 Killed                  MODE=a nice -n 10 /opt/sim/evolve -t 8",
        {"signal": "9", "pid": "4411", "comm": "evolve"},
    ),
    "a builtin": ('./run.sh: line 4: 30149 Killed                  eval "$CMD" start', {"signal": "9", "pid": "30149"}),
    "the shell's own words": ('go.sh: line 3:  812 Aborted                 "$@"', {"signal": "6", "pid": "812"}),
    "postgres": (
        "LOG:  server process (PID 40118) was terminated by signal 9: Killed",
        {"signal": "9", "pid": "40118"},
    ),
    "open mpi": (
        "mpirun noticed that process rank 3 with PID 7712 on node c2 exited on signal 11 (Segmentation fault).",
        {"signal": "11", "pid": "7712", "rank": "3", "host": "c2"},
    ),
    "open mpi of another node": (
        "prterun noticed that process rank 9 with PID 0 on node c4 exited on signal 9 (Killed).",
        {"signal": "9", "rank": "9", "host": "c4"},
    ),
    "bash-5.3-wider": ("a.sh: line 2: 1234 Aborted                    ./a", {"signal": "6", "pid": "1234"}),
    "job-control": ("[1]+  Killed                  ./prover", {"signal": "9", "comm": "prover"}),
    "bare-word-of-dash": ("Segmentation fault", {"signal": "11", "how": "shell"}),
    "bare-word-core": ("Illegal instruction (core dumped)", {"signal": "4", "core": "yes"}),
    "systemd-killed": (
        "Dec 14 17:13:12 ws systemd[1]: prover.service: Main process exited, code=killed, status=9/KILL",
        {"signal": "9", "unit": "prover.service", "how": "systemd", "process": "main"},
    ),
    "systemd-old": ("x.service: main process exited, code=dumped, status=6/ABRT", {"signal": "6", "core": "yes"}),
    "systemd-code": ("x.service: Main process exited, code=exited, status=203/EXEC", {"status": "203", "code": "203"}),
    "systemctl-status": ("  Main PID: 77 (code=exited, status=1/FAILURE)", {"code": "1"}),
    "systemctl-signal": ("  Process: 77 ExecStart=/opt/x (code=killed, signal=TERM)", {"signal": "15"}),
    "torch-elastic": (
        (
            "torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: -9) local_rank: 3 (pid: 6181)"
            " of binary: /opt/py"
        ),
        {"signal": "9", "pid": "6181", "rank": "3", "comm": "py", "how": "python"},
    ),
    "elastic-table": ("  exitcode  : -6 (pid: 808)", {"signal": "6", "pid": "808"}),
    "subprocess-died": (
        "subprocess.CalledProcessError: Command '['a']' died with <Signals.SIGKILL: 9>.",
        {"signal": "9"},
    ),
    "subprocess-status": (
        "subprocess.CalledProcessError: Command '['a']' returned non-zero exit status 3.",
        {"code": "3"},
    ),
    "dataloader": (
        "RuntimeError: DataLoader worker (pid 325) is killed by signal: Bus error. ",
        {"signal": "7", "pid": "325"},
    ),
    "wrapper-status": ("entrypoint: prover_worker (pid 27118) exited with status 134", {"signal": "6", "pid": "27118"}),
    "wrapper-code": ("front_app_1 exited with code 2", {"code": "2", "comm": "front_app_1"}),
    "rank": ("2026-10-25 20:15:35,402 launcher: rank 3 exited with 1", {"code": "1", "rank": "3"}),
    "script": ("fleet: pick-offer.sh exit code 141", {"signal": "13", "script": "pick-offer.sh"}),
    "bare-status": ("exit status 1", {"code": "1"}),
    "github": ("2026-06-15T19:04:11.8255180Z ##[error]Process completed with exit code 1.", {"code": "1"}),
    "buildkit": ('#12 ERROR: process "/bin/sh -c make" did not complete successfully: exit code: 137', {"signal": "9"}),
    "srun": ("srun: error: gpu04: task 0: Exited with exit code 3", {"code": "3", "rank": "0", "how": "scheduler"}),
    "srun-killed": ("srun: error: gpu04: tasks 0-3: Killed", {"signal": "9", "rank": "0-3"}),
    "docker-ps": (
        'web-1   nginx:1.27   "/entry"   14 minutes ago   Exited (137) 2 minutes ago',
        {"signal": "9", "container": "web-1", "how": "container"},
    ),
    "docker-event": ("2023-01-30T21:58:05Z container die (exitCode=139, image=a:1, name=notes)", {"signal": "11"}),
    "assignment": ("EXIT_CODE=137", {"signal": "9", "status": "137"}),
    "go-words": ("signal: killed", {"signal": "9"}),
    "go-tool": ("a.org/x: /usr/lib/go/pkg/tool/linux_arm64/link: signal: killed", {"signal": "9", "comm": "link"}),
    "supervisord": ("WARN exited: web (exit status 3; not expected)", {"code": "3", "comm": "web"}),
    "supervisord-signal": ("exited: web (terminated by SIGSEGV (core dumped); not expected)", {"signal": "11"}),
    "cargo": (
        "process didn't exit successfully: `target/x` (signal: 11, SIGSEGV: invalid memory reference)",
        {"signal": "11"},
    ),
    "jenkins": ("script returned exit code 2", {"code": "2"}),
    "zero": ("worker 0 exited, code 0", {"code": "0", "rank": "0"}),
}


@pytest.mark.parametrize(("line", "wanted"), LINES.values(), ids=LINES)
def test_line(line: str, wanted: dict[str, str]) -> None:
    (found,) = events(exits.PARSER, line + "\n", Kind.LOG, "run.log")
    assert found["kind"] == "exit"
    assert wanted.items() <= found.items()


UNNAMED = ("a noun for a name", "a builtin", "the shell's own words", "postgres", "open mpi")


@pytest.mark.parametrize("line", [LINES[name][0] for name in UNNAMED], ids=UNNAMED)
def test_a_word_of_the_sentence_is_no_name(line: str) -> None:
    (found,) = events(exits.PARSER, line + "\n", Kind.LOG, "run.log")
    assert "comm" not in found


def test_two_ends_in_one_line() -> None:
    found = events(exits.PARSER, "cams: cam_a exit 0, cam_b exit 134\n", Kind.LOG, "run.log")
    assert [(e["comm"], e["status"]) for e in found] == [("cam_a", "0"), ("cam_b", "134")]


NO_LINE = {
    "a-question": "if the exit code is 137, raise the limit",
    "source": 'echo "exited with status $?"',
    "oom-words": "Killed process 77 (prover) total-vm:1kB",
    "killed-in-a-sentence": "3 jobs were Killed by the user yesterday",
    "exited-with-errors": "the build exited with 3 errors fixed",
    "table": "exit codes: 0 ok, 137 killed",
    "not-a-job-line": "run.sh: line 7: Killed: command not found",
    "terminated-unit": "systemd[1]: Stopped target Terminated jobs.",
    "supervisord-fine": "INFO exited: web (exit status 0; expected)",
    "signal-handler": "installed handlers for signal: killed is not one",
    "ssh": "ssh: connect to host a port 22: Connection refused",
}


@pytest.mark.parametrize("line", NO_LINE.values(), ids=NO_LINE)
def test_no_line(line: str) -> None:
    assert events(exits.PARSER, line + "\n", Kind.LOG, "run.log") == []


def test_a_name_is_a_subject_or_nothing() -> None:
    (found,) = events(exits.PARSER, "wait to confirm the last post: exit code 0\n", Kind.LOG, "run.log")
    assert "comm" not in found


INSPECT = """\
[{{
    "Name": "/prover",
    "State": {{
      "Status": "{status}",
      "OOMKilled": {oom},
      "ExitCode": {code},
      "FinishedAt": "2026-05-08T06:09:51.744Z"
    }},
    "HostConfig": {{ "RestartPolicy": {{ "Name": "always" }} }}
}}]
"""
DESCRIBE = """\
Containers:
  api:
    State:          Running
      Started:      Thu, 25 Jul 2024 10:14:55 +0000
    Last State:     Terminated
      Reason:       {reason}
      Exit Code:    137
      Started:      Thu, 25 Jul 2024 08:40:01 +0000
      Finished:     Thu, 25 Jul 2024 10:14:55 +0000
    Restart Count:  4
"""
YAML = """\
    lastState:
      terminated:
        exitCode: 139
        finishedAt: "2024-07-25T10:14:55Z"
        reason: Error
    name: api
"""
SACCT = """\
       JobID    JobName  Partition    Account  AllocCPUS      State ExitCode     MaxRSS     ReqMem    Elapsed
------------ ---------- ---------- ---------- ---------- ---------- -------- ---------- ---------- ----------
20418.0          python                  chem          4     FAILED      1:0  13901244K              00:10:00
20418.batch       batch                  chem          4 OUT_OF_ME+    0:125  13901244K              00:10:00
20419            python        gpu       chem          4 CANCELLED+     0:15                16000M   00:10:00
20420            python        gpu       chem          4    RUNNING      0:0                16000M   00:10:00
"""


def test_docker_inspect() -> None:
    text = INSPECT.format(status="exited", oom="false", code=137)
    (found,) = events(exit_tables.PARSER, text, Kind.CONTAINER, "inspect.json")
    wanted = {"container": "prover", "signal": "9", "oomkilled": "no", "how": "container"}
    assert wanted.items() <= found.items()


def test_a_container_that_runs_has_no_end() -> None:
    text = INSPECT.format(status="running", oom="false", code=0)
    assert events(exit_tables.PARSER, text, Kind.CONTAINER, "inspect.json") == []


@pytest.mark.parametrize(("reason", "oom"), [("OOMKilled", "yes"), ("Error", "no")])
def test_kubectl_describe(reason: str, oom: str) -> None:
    (found,) = events(exit_tables.PARSER, DESCRIBE.format(reason=reason), Kind.CONTAINER, "describe.txt")
    assert (found["container"], found["signal"], found["oomkilled"], found["last"]) == ("api", "9", oom, "yes")


def test_kubectl_yaml() -> None:
    (found,) = events(exit_tables.PARSER, YAML, Kind.CONTAINER, "pod.yaml")
    assert (found["signal"], found["reason"], found["oomkilled"], found["last"]) == ("11", "Error", "no", "yes")


def test_docker_inspect_in_one_line() -> None:
    text = '{"State":{"Status":"exited","OOMKilled":true,"ExitCode":137,"Error":""}}\n'
    (found,) = events(exit_tables.PARSER, text, Kind.CONTAINER, "state.json")
    assert (found["signal"], found["oomkilled"]) == ("9", "yes")


def test_sacct() -> None:
    found = events(exit_tables.PARSER, SACCT, Kind.LISTING, "sacct.txt")
    assert [(e["job"], e.get("code"), e.get("signal"), e.get("oomkilled")) for e in found] == [
        ("20418.0", "1", None, None),
        ("20418.batch", None, None, "yes"),
        ("20419", None, "15", None),
    ]


NUMBERS = {
    "137": (of_shell_status(137), {"status": "137", "code": "137", "signal": "9", "signal_name": "SIGKILL"}),
    "1": (of_shell_status(1), {"status": "1", "code": "1"}),
    "128": (of_shell_status(128), {"status": "128", "code": "128"}),
    "255": (of_shell_status(255), {"status": "255", "code": "255"}),
    "minus-11": (of_returncode(-11), {"status": "-11", "signal": "11", "signal_name": "SIGSEGV"}),
}


@pytest.mark.parametrize(("got", "wanted"), NUMBERS.values(), ids=NUMBERS)
def test_numbers(got: dict[str, str], wanted: dict[str, str]) -> None:
    assert got == wanted


@pytest.mark.parametrize(("name", "number"), [("KILL", 9), ("SIGABRT", 6), ("15", 15), ("iot", 6), ("NONE", None)])
def test_signal_names(name: str, number: int | None) -> None:
    assert signal_number(name) == number


@pytest.mark.parametrize(("shell", "signal"), [("bash", "KILL"), ("bash", "ABRT"), ("bash", "SEGV"), ("dash", "KILL")])
def test_what_a_real_shell_prints_of_a_dead_child(tmp_path: Path, shell: str, signal: str) -> None:
    script = tmp_path / "run.sh"
    script.write_text(f"sh -c 'kill -{signal} $$'\necho next\n")
    said = subprocess.run([shell, str(script)], capture_output=True, text=True, check=False).stderr
    (found,) = events(exits.PARSER, said, Kind.LOG, "run.log")
    assert found["signal_name"] == f"SIG{signal}"
    if shell == "bash":
        assert (found["script"], found["line"], found["comm"]) == (str(script), "1", "sh")
