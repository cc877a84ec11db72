"""Is the collected script what the shell read: real scripts, one of them really overwritten while bash runs it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from scene_texts import Texts, seen

from postmortem.detect import masks, script_forensics
from postmortem.model import Kind


def forensics(texts: Texts) -> dict[str, object]:
    return {fact.name.removeprefix("script."): fact.value for fact in seen(script_forensics.DETECTOR, texts)[1]}


SOURCE = (
    'log() { echo "$*"; }\nlog start\nfor host in a b; do\n    if getent hosts "$host"; then log "$host ok"; fi\ndo'
    "ne\nlog end\n"
)
ERROR = "/opt/run.sh: line {}: syntax error near unexpected token `{}'\n/opt/run.sh: line {}: `{}'\n"

TABLE = {
    "the-token-is-there": (
        SOURCE.replace("done", "done\nelse"),
        ERROR.format(6, "else", 6, "else"),
        {"line_has_token": True, "same_as_run": True},
    ),
    "the-tail-of-a-word": (
        SOURCE,
        ERROR.format(6, "then", 6, 'ts "$host"; then log "$host ok"; fi'),
        {"line_has_token": False, "same_as_run": False, "command_is_line_fragment": True},
    ),
    "another-text-on-the-line": (
        SOURCE,
        ERROR.format(2, "fi", 2, "elif x; fi"),
        {"line_has_token": False, "same_as_run": False},
    ),
    "a-command-that-is-there": (
        SOURCE + "fleetctl go\n",
        "/opt/run.sh: line 7: fleetctl: command not found\n",
        {"line_has_token": True, "same_as_run": True},
    ),
    "a-command-that-is-half-a-word": (
        SOURCE,
        "/opt/run.sh: line 3: tent: command not found\n",
        {"line_has_token": False, "same_as_run": False, "command_is_line_fragment": True},
    ),
    "a-command-from-nowhere": (
        SOURCE,
        "/opt/run.sh: line 3: fleetctl: command not found\n",
        {"line_has_token": False, "same_as_run": False},
    ),
    "unset": (
        "set -u\necho $REGISTRY\n",
        "/opt/run.sh: line 2: REGISTRY: unbound variable\n",
        {"line_has_token": True, "same_as_run": True},
    ),
    "end-of-file-within-it": ("if true; then\n :\n", "/opt/run.sh: line 3: syntax error: unexpected end of file\n", {}),
    "end-of-file-past-it": (
        SOURCE,
        "/opt/run.sh: line 99: syntax error: unexpected end of file\n",
        {"same_as_run": False},
    ),
    "another-script": (SOURCE, "/opt/other.sh: line 2: syntax error near unexpected token `fi'\n", {}),
}


@pytest.mark.parametrize(("source", "said", "wanted"), TABLE.values(), ids=TABLE)
def test_compared(source: str, said: str, wanted: dict[str, bool]) -> None:
    assert forensics({"run.sh": (Kind.SCRIPT, source), "run.log": (Kind.LOG, said)}) == wanted


LOG = "2026-07-30 22:04:40 run.sh start\n2026-07-30 22:11:45 fetch ok\n" + ERROR.format(6, "then", 6, "x; then")
STAT = "  File: /opt/run.sh\n  Size: 9\nDevice: 252,1\tInode: 77\nModify: 2026-07-30 {} +0000\n"

WRITTEN = {
    "during-the-run": ("22:08:10.902114386", True),
    "before-the-run": ("21:00:00.000000000", False),
    "after-the-error": ("23:30:00.000000000", None),
}


@pytest.mark.parametrize(("when", "wanted"), WRITTEN.values(), ids=WRITTEN)
def test_changed_during_run(when: str, wanted: bool | None) -> None:
    texts = {"run.log": (Kind.LOG, LOG), "stat-run.txt": (Kind.LISTING, STAT.format(when))}
    assert forensics(texts).get("changed_during_run") is wanted


DEPLOYS = {
    "scp": ("Jul 30 22:07:58 h sshd-session[9]: scp -t /opt/run.sh\n", True),
    "rsync": ("2026-07-30 22:08:00 deploy: rsync --inplace run.sh to /opt\n", True),
    "the-script's-own-line": ("2026-07-30 22:08:00 run.sh: installing\n", None),
    "only-read": ("2026-07-30 22:08:00 cron: sha256 of run.sh is fine\n", None),
}


@pytest.mark.parametrize(("line", "wanted"), DEPLOYS.values(), ids=DEPLOYS)
def test_a_deploy_line_during_the_run(line: str, wanted: bool | None) -> None:
    line = line.replace("Jul 30 22:07:58 h", "2026-07-30T22:07:58+00:00 h")
    texts = {"run.log": (Kind.LOG, LOG), "journal.txt": (Kind.LOG, line)}
    assert forensics(texts).get("changed_during_run") is wanted


@pytest.mark.parametrize(
    ("modify", "wanted"),
    [("19:05:03", True), ("19:03:00", False), ("19:09:00", None)],
    ids=["inside", "before-the-start", "after-the-end"],
)
def test_a_wrapper_says_when_the_run_began_and_ended(modify: str, wanted: bool | None) -> None:
    stat = f"  File: /opt/roll.sh\nModify: 2026-05-20 {modify}.447110022 +0000\n"
    said = (
        "-- roll.sh started 2026-05-20T19:04:10Z by ci, pid 90122 --\n19:04:24 roll: pull\n"
        "/opt/roll.sh: 25: Syntax error: Unterminated quoted string\n-- roll.sh ended 2026-05-20T19:06:33Z status 2 --\n"
    )
    texts: Texts = {"stat.txt": (Kind.LISTING, stat), "run.log": (Kind.LOG, said)}
    assert forensics(texts).get("changed_during_run") is wanted


def test_the_shell_holds_another_inode() -> None:
    meta = "path: /opt/run.sh\ninode: 78\nmtime_epoch: 1785449290\nrun_by_inode: 77\n"
    assert forensics({"run.log": (Kind.LOG, LOG), "scripts/run.sh.meta": (Kind.PROBE, meta)})["same_as_run"] is False


def test_a_script_really_overwritten_while_bash_runs_it(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    old = "#!/bin/bash\nstamp() { date '+%Y-%m-%d %H:%M:%S'; }\necho \"$(stamp) start\"\nsleep 3\necho one\necho two\n"
    new = "#!/bin/bash\n# the text moves by some bytes, so that the old offset lies within a word of a sound line\n"
    new += old.split("\n", 1)[1].replace("echo one\n", "if grep -q one /etc/hostname; then echo one; fi\n")
    script.write_text(old)
    run = subprocess.Popen(["bash", str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    time.sleep(1.5)
    with script.open("r+") as file:
        file.write(new)
        file.truncate()
    said = run.communicate()[0]
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    stat = subprocess.run(["stat", str(script)], capture_output=True, text=True, check=True).stdout
    texts = {"run.sh": (Kind.SCRIPT, new), "run.log": (Kind.LOG, said), "stat.txt": (Kind.LISTING, stat)}
    if "not found" not in said and "syntax error" not in said:
        pytest.skip("the old offset met a whole line")
    got = forensics(texts)
    assert got["same_as_run"] is False
    assert got.get("changed_during_run") in (True, None)


MASKED = PIPE = (
    '#!/bin/bash\nset -o pipefail\nif ! run_batch warmup | tee -a log; then\n    rc=$?\n    warn "warmup batch '
    'failed (exit $rc)"\nfi\n'
)

REACHED = {
    "zero-of-a-failure": ("10:00:01 warmup batch failed (exit 0)\n", True),
    "the-branch-speaks": ("10:00:01 WARN: warmup batch failed (exit 7)\n", True),
    "a-child-dies-in-the-line": ("/opt/run.sh: line 3:  1834 Killed                  run_batch warmup\n", True),
    "not-found-in-the-line": ("/opt/run.sh: line 3: run_batch: command not found\n", True),
    "a-child-dies-elsewhere": ("/opt/run.sh: line 9:  1834 Killed                  run_batch warmup\n", False),
    "all-well": ("10:00:01 warmup batch done, 0 failed, exit 0\n", False),
    "no-errors-exit-0": ("finished: 0 errors, exit code 0\n", False),
}


@pytest.mark.parametrize(("said", "wanted"), REACHED.values(), ids=REACHED)
def test_mask_reached(said: str, wanted: bool) -> None:
    events, _ = seen(masks.DETECTOR, {"run.sh": (Kind.SCRIPT, MASKED), "run.log": (Kind.LOG, said)})
    assert bool(events) is wanted
    assert all(e.fields["reached"] == "yes" and e.fields["line"] == "3" for e in events)


STEP = """\
2026-08-14T11:03:20.8000000Z ##[group]Run make check 2>&1 | tee out.log
2026-08-14T11:03:21.2000000Z shell: /usr/bin/bash {options} {{0}}
2026-08-14T11:03:22.0000000Z ##[endgroup]
2026-08-14T11:03:23.0000000Z {result}
2026-08-14T11:03:24.0000000Z ##[group]Run ./release.sh
"""
STEPS = {
    "no-pipefail": ("-e", "make: *** [all] Error 2", True),
    "pipefail": ("--noprofile --norc -e -o pipefail", "make: *** [all] Error 2", False),
    "it-worked": ("-e", "12 tests passed", False),
    "the-step-failed": ("-e", "##[error]Process completed with exit code 2.", False),
}


@pytest.mark.parametrize(("options", "result", "wanted"), STEPS.values(), ids=STEPS)
def test_a_step_of_a_job(options: str, result: str, wanted: bool) -> None:
    text = STEP.format(options=options, result=result)
    events, _ = seen(masks.DETECTOR, {"job.log": (Kind.LOG, text)})
    assert [e.fields["construct"] for e in events] == (["pipe-no-pipefail"] if wanted else [])
