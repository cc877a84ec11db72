"""The forms in which programs say how another one ended: (needle, pattern, what it means)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from postmortem.lazy import lazy
from postmortem.parse.ending import WORDS, by_signal, of_returncode, of_shell_status, signal_number

Fields = dict[str, str]
Make = Callable[[re.Match[str]], Fields | None]

WORD = "|".join(sorted((re.escape(word) for word in WORDS), key=len, reverse=True))


def _word(match: re.Match[str]) -> Fields:
    """bash's job line: it proves the signal, the pid (as the shell sees it) and the line of the script."""
    fields = by_signal(WORDS[match["word"]], core=bool(match["core"]))
    for key in ("script", "line", "pid"):
        fields[key] = match[key] or ""
    command = (match["cmd"] or "").strip()
    fields |= {"command": command, "comm": _comm(command), "how": "shell"}
    return _filled(fields)


def _bare(match: re.Match[str]) -> Fields:
    return by_signal(WORDS[match["word"]], core=bool(match["core"])) | {"how": "shell"}


def _comm(command: str) -> str:
    """The program of a command: `solve` of `LD_X=1 nice -n 10 /opt/solve -a`."""
    words = [word for word in command.split() if not re.match(r"^\w+=", word)]
    while len(words) > 1 and words[0].rsplit("/", 1)[-1] in _WRAPPERS:
        words = [word for n, word in enumerate(words[1:]) if n or not word.startswith("-")]
        words = words[1:] if re.fullmatch(r"[\d.]+[smhd]?", words[0]) else words
    return words[0].rsplit("/", 1)[-1].strip("\"'") if words else ""


_WRAPPERS = frozenset({"nice", "nohup", "exec", "time", "env", "setsid", "command", "stdbuf", "ionice", "catchsegv"})


def _filled(fields: Mapping[str, str]) -> Fields:
    return {key: value for key, value in fields.items() if value}


_BEFORE = lazy(
    r"(?:^|[:\])}>|'\"`,-] *|\b(?:job|process|worker|child|task|program|command|container|service|script|binary:) )$"
)


def _subject(match: re.Match[str]) -> str:
    """The name before the verb where it is the subject: `sweep` of `job sweep exited`, not `post` of `window post`."""
    if "comm" not in match.re.groupindex or match["comm"] is None:
        return ""
    return match["comm"] if match["comm"].endswith(".sh") or _BEFORE.search(match.string[: match.start("comm")]) else ""


def status_of(how: str) -> Make:
    """A wrapper's own words with a shell status (128 + n may be a signal)."""

    def make(match: re.Match[str]) -> Fields:
        named = match.groupdict()
        number = int(named["status"])
        fields = of_returncode(number) if number < 0 else of_shell_status(number)
        fields |= {key: named.get(key) or "" for key in ("script", "pid", "rank", "container", "unit")}
        fields["comm"] = _subject(match).rsplit("/", 1)[-1]
        if fields.get("comm", "").endswith((".sh", ".bash")) and not fields["script"]:
            fields["script"] = fields["comm"]
        return _filled(fields | {"how": how})

    return make


def _systemd(match: re.Match[str]) -> Fields | None:
    fields: Fields = {"unit": match["unit"] or "", "how": "systemd", "process": match["process"].lower()}
    number, name = match["number"], match["name"] or ""
    if match["code"] == "exited":
        fields |= {"status": number or "", "code": number or ""}
    else:
        signal = signal_number(number or name)
        if signal is None:
            return None
        fields |= by_signal(signal, core=match["code"] == "dumped")
    return _filled(fields)


def signalled(how: str) -> Make:
    def make(match: re.Match[str]) -> Fields | None:
        named = match.groupdict()
        signal = signal_number(named["signal"])
        if signal is None or signal == 0:
            return None
        kept = {key: named.get(key) or "" for key in ("comm", "pid", "rank", "container", "unit")}
        return _filled(by_signal(signal) | kept | {"how": how})

    return make


_NAME = r"(?P<comm>[\w./@+-]*\w)"
_PID = r"(?: \(?(?:(?i:pid)[ =:]?)(?P<pid>\d+)\)?)?"
RULES: tuple[tuple[str, str, Make], ...] = (
    # bash 4.2 to 5.3: `run.sh: line 7:  1834 Killed                  ./prover --x` (5.3 has a wider column)
    (
        rf": line \d+:\s+\d+ (?:{WORD})",
        (
            rf"(?P<script>[^\s:|]+): line (?P<line>\d+):\s+(?P<pid>\d+)"
            rf" (?P<word>{WORD})(?P<core>\s*\(core dumped\))?(?:\s+(?P<cmd>\S.*))?$"
        ),
        _word,
    ),
    # interactive bash, and bash run from another: `[1]+  Killed                  ./prover`
    (
        rf"\[\d+\][+-]?\s+(?:\d+ )?(?:{WORD})",
        (
            rf"^\[\d+\][+-]?\s+(?:(?P<pid>\d+) )?(?P<word>{WORD})(?P<core>\s*\(core dumped\))"
            rf"?\s+(?P<cmd>\S.*)(?P<script>)(?P<line>)$"
        ),
        _word,
    ),
    # dash, mksh, busybox, and any shell at a prompt: the bare word
    (rf"^(?:{WORD})", rf"^(?P<word>{WORD})(?P<core>\s*\(core dumped\))?\s*$", _bare),
    (
        r"(?i)\bprocess exited, code=|\bprocess terminated, code=",
        r"(?:(?P<unit>\S+\.(?:service|scope|socket|mount|swap)): )?(?P<process>[Mm]ain|[Cc]ontrol)"
        r" process (?:exited|terminated), "
        r"code=(?P<code>exited|killed|dumped),? status=(?P<number>\d+)?/?(?P<name>[A-Z/a-z]+)?",
        _systemd,
    ),
    (
        r"Main processes terminated with: code=",
        (
            r"(?P<unit>)(?P<process>Main) processes terminated with: code=(?P<code>exited|killed|"
            r"dumped)[/, ]+status=(?P<number>\d+)?/?(?P<name>[A-Z]+)?"
        ),
        _systemd,
    ),
    # systemctl status: `Process: 311 ExecStart=/opt/x (code=killed, signal=KILL)`, `Main PID: 77 (code=exited, ...`
    (
        r"\(code=(?:exited|killed|dumped), (?:status|signal)=",
        (
            r"(?P<process>Process|Main PID): \d+ .*\(code=(?P<code>exited|killed|dumped), (?:status|"
            r"signal)=(?P<number>\d+)?/?(?P<name>[A-Z]+)?(?P<unit>)"
        ),
        _systemd,
    ),
    (r"\bExited \(\d+\) ", r"^(?:(?P<container>[\w.-]+)\s.*)?\bExited \((?P<status>\d+)\) \S+", status_of("container")),
    (
        r"\bRestarting \(\d+\) ",
        r"^(?:(?P<container>[\w.-]+)\s.*)?\bRestarting \((?P<status>\d+)\) \S+",
        status_of("container"),
    ),
    (
        r"exec_die|container die ",
        r"\bcontainer (?:exec_)?die .*?\bexitCode=(?P<status>\d+)(?:.*?\bname=(?P<container>[\w.-]+))?",
        status_of("container"),
    ),
    # torch elastic: `failed (exitcode: -9) local_rank: 3 (pid: 6181) of binary: /opt/venv/bin/python`
    (
        r"\(exitcode: -?\d+\)",
        (
            r"\(exitcode: (?P<status>-?\d+)\) local_rank: (?P<rank>\d+) \(pid: (?P<pid>\d+)\)(?: of (?:fn|"
            r"binary): (?P<comm>\S+))?"
        ),
        status_of("python"),
    ),
    (r"\bexitcode\s+: ", r"\bexitcode\s+: (?P<status>-?\d+) \(pid: (?P<pid>\d+)\)", status_of("python")),
    # Python's subprocess: `Command '[...]' died with <Signals.SIGKILL: 9>.`
    (r"died with <Signals\.", r"died with <Signals\.(?P<signal>SIG\w+): \d+>", signalled("python")),
    (r"returned non-zero exit status ", r"returned non-zero exit status (?P<status>\d+)", status_of("python")),
    (
        r"is killed by signal: ",
        r"worker \(pid (?P<pid>\d+)\) is killed by signal: (?P<words>[\w ]+?)\.",
        lambda m: _filled(
            (by_signal(WORDS[m["words"]]) if m["words"] in WORDS else {}) | {"pid": m["pid"], "how": "python"}
        ),
    ),
    # GitHub Actions, GitLab, Jenkins
    (r"Process completed with exit code \d", r"Process completed with exit code (?P<status>\d+)", status_of("wrapper")),
    (r"ERROR: Job failed: ", r"Job failed: (?:exit (?:code|status)) (?P<status>\d+)", status_of("wrapper")),
    (r"script returned exit code ", r"script returned exit code (?P<status>\d+)", status_of("wrapper")),
    (
        r"did not complete successfully: exit code",
        r'process "(?P<command>[^"]*)" did not complete successfully: exit code: (?P<status>\d+)',
        status_of("container"),
    ),
    (r"make(?:\[\d+\])?: \*\*\* ", r"^make(?:\[\d+\])?: \*\*\* \[.*\] Error (?P<status>\d+)$", status_of("wrapper")),
    # `wait` wrappers and supervisors: `rank 3 exited with 1`, `worker (pid 77) exited with status 134`
    (
        r"\b[Ee]xit(?:ed)?,? (?:with |on )?(?:non-zero |error |return )*(?:exit )?(?:code|status|signal)",
        (
            rf"(?:^|[\s\"'`:\]])(?:rank (?P<rank>\d+)|{_NAME}){_PID} (?:has |was )?[Ee]xited,? with (?:non-zero |"
            rf"error |return )*(?:exit )?(?:code|status)[ =:]+(?P<status>-?\d+)\b"
        ),
        status_of("wrapper"),
    ),
    (
        r"\b[Ee]xited with (?:signal )?-?\d",
        (
            rf"(?:^|[\s\"'`:\]])(?:rank (?P<rank>\d+)|{_NAME}){_PID} (?:has )"
            rf"?exited with (?P<status>-?\d+)\b(?! *(?:warn|error|iss|prob))"
        ),
        status_of("wrapper"),
    ),
    (
        r"\bexited, code ",
        rf"{_NAME}(?: (?P<rank>\d+))?{_PID} exited, code (?P<status>-?\d+)\b",
        status_of("wrapper"),
    ),
    (
        r"(?:ended|finished|failed|stopped|died) with (?:exit )?(?:status|code)",
        (
            rf"(?:^|[\s\"'`:\]]){_NAME}{_PID} (?:ended|finished|failed|stopped|died) with (?:exit )?(?:status|"
            rf"code)[ =:]+(?P<status>-?\d+)\b"
        ),
        status_of("wrapper"),
    ),
    (
        r"\bexit (?:code|status)[ =:]+-?\d",
        (
            rf"(?:^|[\s\"'`:\]])(?:worker (?P<rank>\d+)|{_NAME}){_PID}:? (?:done, |failed, |failed with |failed |"
            rf"with )?exit (?:code|status)[ =:]+(?P<status>-?\d+)\b"
        ),
        status_of("wrapper"),
    ),
    (r"\bexit (?:code|status)[ =:]+-?\d", r"^exit (?:code|status)[ =:]+(?P<status>-?\d+)\s*$", status_of("wrapper")),
    (r"exit status of the last run: \d", r"exit status of the last run: (?P<status>\d+)", status_of("wrapper")),
    (r"\bexit \d+,? [\w.]+ exit \d|\bexit \d+$", rf"{_NAME} exit (?P<status>\d+)(?=,|$)", status_of("wrapper")),
    (
        r"\b(?:EXIT_CODE|EXITCODE|EXIT_STATUS)=",
        r"\b(?:EXIT_CODE|EXITCODE|EXIT_STATUS)=(?P<status>-?\d+)\b",
        status_of("wrapper"),
    ),
    (
        r"\b(?:killed by|terminated by|on|received|with) signal:? ",
        (
            rf"{_NAME}{_PID} (?:was |has been |exited |got )?(?:killed by|terminated by|terminated with|exited on|"
            rf"exited with|killed with) signal:? (?P<signal>SIG[A-Z0-9]+|\d{{1,2}})\b"
        ),
        signalled("wrapper"),
    ),
    (
        r"traceback : Signal ",
        r"traceback : Signal (?P<signal>\d+) \(SIG\w+\) received by PID (?P<pid>\d+)",
        signalled("python"),
    ),
    (r"\(signal: \d+, SIG", r"\(signal: \d+, (?P<signal>SIG\w+): [^)]*\)", signalled("wrapper")),
)
