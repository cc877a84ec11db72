"""What shells complain of: the table of forms, and what the shells of this machine really print."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from postmortem.model import Kind
from postmortem.parse.shell_errors import PARSER, complaint
from reading import events

LINES = {
    "bash-token": ("F.sh: line 3: syntax error near unexpected token `else'", "syntax", "else", "bash"),
    "bash-eof": ("F.sh: line 4: syntax error: unexpected end of file", "eof", None, "bash"),
    "bash-5.3-eof": (
        "F.sh: line 4: syntax error: unexpected end of file from `if' command on line 2",
        "eof",
        "if",
        "bash",
    ),
    "bash-quote": ("/opt/F.sh: line 2: unexpected EOF while looking for matching `\"'", "quote", '"', "bash"),
    "bash-unbound": ("F.sh: line 3: REGISTRY: unbound variable", "unbound", "REGISTRY", "bash"),
    "bash-unbound-arg": ("F.sh: line 3: $1: unbound variable", "unbound", "$1", "bash"),
    "bash-not-found": ("F.sh: line 2: fleetctl: command not found", "not-found", "fleetctl", "bash"),
    "bash-no-file": ("F.sh: line 2: /no/such: No such file or directory", "no-such-file", "/no/such", "bash"),
    "bash-permission": ("F.sh: line 2: ./x: Permission denied", "permission", "./x", "bash"),
    "bash-exec-format": (
        "F.sh: line 2: ./x: cannot execute binary file: Exec format error",
        "exec-format",
        "./x",
        "bash",
    ),
    "bash-interpreter": (
        "bash: ./x: /no/python: bad interpreter: No such file or directory",
        "bad-interpreter",
        "./x",
        "bash",
    ),
    "bash-required": ("F.sh: line 2: ./x: cannot execute: required file not found", "bad-interpreter", "./x", "bash"),
    "bash-arithmetic": (
        'F.sh: line 2: 1+: syntax error: operand expected (error token is "+")',
        "arithmetic",
        "1+",
        "bash",
    ),
    "bash-5.3-arithmetic": (
        'F.sh: line 2: 1+: arithmetic syntax error: operand expected (error token is "+")',
        "arithmetic",
        "1+",
        "bash",
    ),
    "bash-substitution": ("F.sh: line 2: ${a b}: bad substitution", "substitution", "${a b}", "bash"),
    "bash-redirect": ("F.sh: line 2: $LOG: ambiguous redirect", "redirect", "$LOG", "bash"),
    "bash-5.3-test": ("F.sh: line 2: [: abc: integer expected", "bad-test", "abc", "bash"),
    "bash-option": ("F.sh: line 2: mapfile: -q: invalid option", "bad-option", "-q", "bash"),
    "bash-c": ("bash: -c: line 1: syntax error near unexpected token `)'", "syntax", ")", "bash"),
    "ksh93": ("F.ksh: line 12: syntax error at line 19: `}' unexpected", "syntax", "}", "ksh"),
    "ksh93-unmatched": ("F.ksh: syntax error at line 30: `if' unmatched", "eof", "if", "ksh"),
    "bourne": ("/etc/init.d/F: syntax error at line 7: `fi' unexpected", "syntax", "fi", "ksh"),
    "aix": ("F.ksh[31]: 0403-057 Syntax error at line 33 : `done' is not expected.", "syntax", "done", "ksh"),
    "prompt": ("-bash: nvidia-smi: command not found", "not-found", "nvidia-smi", "bash"),
    "compose-prefix": (
        "app-1  | /entrypoint.sh: line 228: unexpected EOF while looking for matching `\"'",
        "quote",
        '"',
        "bash",
    ),
    "dash-token": ('F.sh: 3: Syntax error: "else" unexpected', "syntax", "else", "dash"),
    "dash-array": ('/entry.sh: 29: Syntax error: "(" unexpected (expecting "fi")', "syntax", "(", "dash"),
    "dash-eof": ('F.sh: 4: Syntax error: end of file unexpected (expecting "fi")', "eof", None, "dash"),
    "dash-quote": ("F.sh: 4: Syntax error: Unterminated quoted string", "quote", "Unterminated quoted string", "dash"),
    "dash-not-found": ("/usr/local/bin/F.sh: 4: nvidia-smi: not found", "not-found", "nvidia-smi", "dash"),
    "dash-unset": ("F.sh: 4: FOO: parameter not set", "unbound", "FOO", "dash"),
    "dash-option": ("F.sh: 1: set: Illegal option -o pipefail", "bad-option", "-o pipefail", "dash"),
    "dash-brackets": ("F.sh: 4: [[: not found", "not-found", "[[", "dash"),
    "zsh-token": ("F.sh:3: parse error near `else'", "syntax", "else", "zsh"),
    "zsh-not-found": ("F.sh:2: command not found: fleetctl", "not-found", "fleetctl", "zsh"),
    "zsh-quote": ('F.sh:4: unmatched "', "quote", '"', "zsh"),
    "mksh-token": ("E: F.sh[3]: syntax error: unexpected 'else'", "syntax", "else", "mksh"),
    "ksh-not-found": ("F.ksh[9]: fleetctl: not found", "not-found", "fleetctl", "mksh"),
    "mksh-not-found": ("F.sh[2]: fleetctl: inaccessible or not found", "not-found", "fleetctl", "mksh"),
    "ash-token": ('F.sh: line 3: syntax error: unexpected "else"', "syntax", "else", "ash"),
    "ash-not-found": ("F.sh: line 2: fleetctl: not found", "not-found", "fleetctl", "ash"),
    "crlf-command": ("F.sh: line 3: $'\\r': command not found", "crlf", "$'\\r'", "bash"),
    "crlf-interpreter": (
        "bash: ./F.sh: /bin/bash^M: bad interpreter: No such file or directory",
        "crlf",
        "/bin/bash",
        None,
    ),
    "crlf-env": ("env: ‘bash\\r’: No such file or directory", "crlf", "bash", None),
    "crlf-hidden": ("F.sh: line 1: set: pipefail: invalid option name", "crlf", "pipefail", "bash"),
    "crlf-token": ("F.sh: line 3: syntax error near unexpected token `$'do\\r''", "crlf", "$'do\\r'", "bash"),
}


@pytest.mark.parametrize(("line", "what", "token", "shell"), LINES.values(), ids=LINES)
def test_line(line: str, what: str, token: str | None, shell: str | None) -> None:
    (found,) = events(PARSER, line + "\n", Kind.LOG, "run.log")
    assert (found["kind"], found["what"], found.get("token"), found.get("shell")) == ("shell.error", what, token, shell)


NONE = {
    "a-tool's-own-complaint": "cp: cannot stat 'x': No such file or directory",
    "ls": "ls: cannot access '/x': No such file or directory",
    "trace": "+ echo 'x.sh: line 3: foo: command not found'",
    "quoted": "grep said 'x.sh: line 3: foo: command not found'",
    "python-syntax": "SyntaxError: invalid syntax",
    "clock-not-script": "10:00:00: 12: foo: not found",
    "log-level": "ERROR: 3: page: not found",
    "http": "GET /a: 404: page: not found",
    "sql": 'ERROR:  syntax error at or near "else" at character 12',
    "compiler": "main.c:3:5: error: expected ';'",
    "second-line": "F.sh: line 3: `else'",
}


@pytest.mark.parametrize("line", NONE.values(), ids=NONE)
def test_no_line(line: str) -> None:
    assert events(PARSER, line + "\n", Kind.LOG, "run.log") == []


def test_the_source_text_is_joined() -> None:
    text = "F.sh: line 15: syntax error near unexpected token `then'\nF.sh: line 15: `ts \"$m\"; then echo; fi'\n"
    (found,) = events(PARSER, text, Kind.LOG, "run.log")
    assert found["source_text"] == 'ts "$m"; then echo; fi'
    assert (found["script"], found["line"]) == ("F.sh", "15")


SHELLS = [name for name in ("bash", "dash", "busybox") if shutil.which(name)]
BROKEN = {
    "stray-else": ("echo hi\nif true; then\n  :\nfi\nelse\necho x\n", "syntax", "5"),
    "no-fi": ("if true; then\n echo\n", "eof", "3"),
    "quote": ('echo "abc\n', "quote", None),
    "unset": ("set -u\necho $FOO\n", "unbound", "2"),
    "missing": (":\nnosuchcommand --x\n", "not-found", "2"),
    "carriage-return": (":\n\r\n:\n", "crlf", "2"),
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("source", "what", "line"), BROKEN.values(), ids=BROKEN)
def test_what_a_real_shell_prints(tmp_path: Path, shell: str, source: str, what: str, line: str | None) -> None:
    script = tmp_path / "run.sh"
    script.write_bytes(source.encode())
    command = [shell, "ash"] if shell == "busybox" else [shell]
    said = subprocess.run([*command, str(script)], capture_output=True, check=False).stderr
    found = events(PARSER, said.decode(), Kind.LOG, "run.log")
    assert [e["what"] for e in found][:1] == [what]
    assert found[0]["script"] == str(script)
    assert line is None or found[0]["line"] == line


def test_a_script_run_by_the_wrong_shell(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("set -euo pipefail\na=(1 2)\n")
    said = subprocess.run(["dash", str(script)], capture_output=True, text=True, check=False).stderr
    found = complaint(said.splitlines()[0])
    assert found is not None
    assert (found["shell"], found["what"]) == ("dash", "bad-option")


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ('/etc/init.d/rcS: line 19: syntax error: unexpected ";;" (expecting "done")', True),
        ("/init: line 7: syntax error near unexpected token `fi'", True),
        ("overlayfs: failed to resolve './upper': -2", False),
        ("/etc/rc.local: line 3: modprobe: command not found", False),
    ],
    ids=["busybox at boot", "bash at boot", "the kernel's own", "no matter of reading a script"],
)
def test_early_scripts_write_among_the_kernels_lines(message: str, told: bool) -> None:
    found = events(PARSER, f"[    4.120000] {message}\n", Kind.KERNEL)
    assert bool([e for e in found if e["kind"] == "shell.error"]) is told
