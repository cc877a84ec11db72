"""Shell scripts: options, whether they parse, where they lose a status; judged by what bash itself does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from postmortem.model import Kind
from postmortem.parse.script import PARSER
from postmortem.parse.script_meta import PARSER as META
from reading import events, facts

PIPEFAIL = "#!/bin/bash\nset -euo pipefail\n"
PLAIN = "#!/bin/bash\n"


def constructs(source: str) -> list[tuple[str, str]]:
    found = events(PARSER, source, Kind.SCRIPT, "scripts/run.sh")
    return [(e["construct"], e["line"]) for e in found if e["kind"] == "script.mask"]


MASKS = {
    "if-not-pipe": (PIPEFAIL + 'if ! run a | tee -a "$R"; then\n  rc=$?\nfi\n', [("if-not-pipe", "3")]),
    "if-not": (PLAIN + "if ! run a; then\n  echo failed $?\nfi\n", [("if-not", "2")]),
    "while-not": (PLAIN + "while ! run a; do rc=$?; done\n", [("while-not", "2")]),
    "if-pipe-without-pipefail": (PLAIN + "if run a | tee log; then\n  echo ok\nfi\n", [("if-pipe-no-pipefail", "2")]),
    "pipe-then-status": (PLAIN + "run a | tee log\nrc=$?\n", [("pipe-no-pipefail", "2")]),
    "pipe-under-errexit": (PLAIN + "set -e\nrun a | tee log\n", [("pipe-no-pipefail", "3")]),
    "pipe-or": (PLAIN + "run a 2>&1 | tee log || rc=$?\n", [("pipe-no-pipefail", "2")]),
    "not-pipe": (PIPEFAIL + "! run a | tee log; rc=$?\n", [("not-pipe", "3")]),
    "after-if": (PLAIN + "if run a; then\n  :\nfi\nrc=$?\n", [("after-if", "2")]),
    "local": (PLAIN + "f() {\n  local x=$(run a)\n  rc=$?\n}\n", [("local-assign", "3")]),
    "export-or": (PLAIN + "export X=$(run a) || exit 1\n", [("export-assign", "2")]),
    "substitution-pipe": (PLAIN + "n=$(nvidia-smi -L | wc -l)\n", [("substitution-pipe", "2")]),
    "or-true": (PLAIN + "set -e\n./migrate || true\n", [("or-true", "3")]),
    "bare-wait": (PLAIN + "./a > x.log &\nwait\nrc=$?\n", [("background-wait", "3")]),
    "exit-trap": (PLAIN + "trap 'cleanup; exit 0' EXIT\n", [("exit-trap", "2")]),
    "status-of-test": (PLAIN + "run a\n[ $? -ne 0 ] && exit $?\n", [("status-of-test", "3")]),
}


@pytest.mark.parametrize(("source", "wanted"), MASKS.values(), ids=MASKS)
def test_mask(source: str, wanted: list[tuple[str, str]]) -> None:
    assert constructs(source) == wanted


SOUND = {
    "else-branch": PLAIN + "if run a; then :; else rc=$?; fi\n",
    "pipestatus": PIPEFAIL + "if ! run a | tee log; then\n  rc=${PIPESTATUS[0]}\nfi\n",
    "pipe-or-with-pipefail": PIPEFAIL + "run a | tee log || rc=$?\n",
    "pipe-then-status-with-pipefail": PIPEFAIL + "run a | tee log\nrc=$?\n",
    "split-declaration": PLAIN + "f() {\n  local x\n  x=$(run a)\n  rc=$?\n}\n",
    "wait-for-a-pid": PLAIN + "./a & p=$!\nwait $p\nrc=$?\n",
    "another-command-first": PLAIN + "if ! run a; then\n  log failed\n  rc=$?\nfi\n",
    "text-tools": PLAIN + "n=$(grep -c x f | tail -n 1)\ncat f | tee g\n",
    "harmless-or-true": PLAIN + 'kill "$pid" 2>/dev/null || true\nrm x || true\n',
    "until": PLAIN + "until run a; do rc=$?; done\n",
    "trap-that-keeps": PLAIN + "trap 'cleanup; exit $rc' EXIT\n",
    "in-a-comment": PLAIN + "# if ! run a | tee log; then rc=$?\n",
    "in-a-heredoc": PLAIN + "cat <<'EOF'\nif ! run a; then rc=$?; fi\nEOF\n",
}


@pytest.mark.parametrize("source", SOUND.values(), ids=SOUND)
def test_no_mask(source: str) -> None:
    assert constructs(source) == []


@pytest.mark.parametrize(
    "name", ["if-not-pipe", "if-not", "pipe-then-status", "not-pipe", "after-if", "local", "bare-wait"]
)
def test_bash_really_loses_the_status(tmp_path: Path, name: str) -> None:
    """Each construct run by bash: the command fails with 42 and the script sees another number."""
    source, _ = MASKS[name]
    body = (
        source.replace("set -euo pipefail", "set -uo pipefail").replace("./a", "run").replace("echo failed $?", "rc=$?")
    )
    call = "\nf\n" if name == "local" else "\n"
    script = tmp_path / "run.sh"
    script.write_text(
        f'#!/bin/bash\nrun() {{ return 42; }}\nR={tmp_path}/r\ncd {tmp_path}\nrc=none\n{body}{call}echo "rc=$rc"\n'
    )
    said = subprocess.run(["bash", str(script)], capture_output=True, text=True, check=False).stdout
    assert said.strip().splitlines()[-1] == "rc=0"


PARSES = {
    "sound": (PIPEFAIL + "if true; then :; fi\n", True),
    "stray-else": ("if true; then\n :\nfi\nelse\n", False),
    "stray-fi": ("if true; then\n :\nfi\nfi\n", False),
    "no-done": ("for i in a; do\n echo\n", False),
    "no-fi": ("if true; then\n echo\n", False),
}


@pytest.mark.parametrize(("source", "ok"), PARSES.values(), ids=PARSES)
def test_parse_agrees_with_bash(tmp_path: Path, source: str, ok: bool) -> None:
    script = tmp_path / "x.sh"
    script.write_text(source)
    assert (subprocess.run(["bash", "-n", str(script)], capture_output=True, check=False).returncode == 0) is ok
    known = facts(PARSER, source, Kind.SCRIPT, "x.sh")
    assert known["script.parse_ok[x.sh]"] is ok


def test_the_line_of_a_stray_word() -> None:
    known = facts(PARSER, "if true; then\n :\nfi\nelse\n", Kind.SCRIPT, "x.sh")
    assert known["script.parse_line[x.sh]"] == 4


def test_what_the_grammar_wrongly_refuses_is_a_doubt() -> None:
    known = facts(PARSER, "for i do\n  echo $i\ndone\n", Kind.SCRIPT, "x.sh")
    assert "script.parse_ok[x.sh]" not in known
    assert known["script.parse_doubt[x.sh]"] == 1


def test_settings() -> None:
    known = facts(PARSER, "#!/usr/bin/env bash\nset -euo pipefail\necho\n", Kind.SCRIPT, "opt/run.sh")
    assert known["script.shebang[run.sh]"] == "/usr/bin/env bash"
    assert (known["script.pipefail[run.sh]"], known["script.errexit[run.sh]"]) == (True, True)
    assert known["script.crlf[run.sh]"] is False
    plain = facts(PARSER, "#!/bin/sh\n# set -e\necho 'set -o pipefail'\n", Kind.SCRIPT, "run.sh")
    assert (plain["script.pipefail[run.sh]"], plain["script.errexit[run.sh]"]) == (False, False)


def test_carriage_returns() -> None:
    known = facts(PARSER, "#!/bin/bash\r\necho\r\n", Kind.SCRIPT, "run.sh")
    assert known["script.crlf[run.sh]"] is True
    assert known["script.shebang[run.sh]"] == "/bin/bash"


HAZARDS = {
    "head": (PIPEFAIL + "x=$(search --all | head -n 1)\n", ["early-reader"]),
    "grep-q": (PIPEFAIL + "list-offers | grep -q gpu\n", ["early-reader"]),
    "count": (PIPEFAIL + "n=0\n((n++))\n", ["status-of-count"]),
    "no-pipefail": (PLAIN + "search | head -n 1\n", []),
    "short-writer": (PIPEFAIL + "echo a | head -n 1\n", []),
    "no-errexit": (PLAIN + "((n++))\n", []),
}


@pytest.mark.parametrize(("source", "wanted"), HAZARDS.values(), ids=HAZARDS)
def test_hazard(source: str, wanted: list[str]) -> None:
    found = events(PARSER, source, Kind.SCRIPT, "run.sh")
    assert [e["construct"] for e in found if e["kind"] == "script.hazard"] == wanted


META_TEXT = """\
path: /usr/local/bin/run.sh
bytes: 1121
sha256: aa55aa55
inode: 1839022
mtime_epoch: 1785449290
bash_n: /usr/local/bin/run.sh: line 346: syntax error near unexpected token `else'
bash_n: /usr/local/bin/run.sh: line 346: `else'
run_by_pid: 4119
run_by_start_epoch: 1785449080
run_by_inode: 1839022
"""
STAT_TEXT = """\
  File: /usr/local/bin/run.sh
  Size: 1121      \tBlocks: 8          IO Block: 4096   regular file
Device: 252,1\tInode: 1839022     Links: 1
Modify: 2026-07-30 22:08:10.902114386 +0200
"""


def test_meta_of_the_collector() -> None:
    known = facts(META, META_TEXT, Kind.PROBE, "scripts/run.sh.meta")
    assert known["script.bash_n_ok[run.sh]"] is False
    assert known["script.bash_n_line[run.sh]"] == 346
    assert known["script.mtime[run.sh]"] == "2026-07-30T22:08:10+00:00"
    assert known["script.run_start[run.sh]"] < known["script.mtime[run.sh]"]  # type: ignore[operator]
    fine = facts(META, META_TEXT[: META_TEXT.index("bash_n")] + "bash_n: ok\n", Kind.PROBE, "scripts/run.sh.meta")
    assert fine["script.bash_n_ok[run.sh]"] is True


def test_stat_output() -> None:
    known = facts(META, STAT_TEXT, Kind.LISTING, "stat-run.txt")
    assert known["script.mtime[run.sh]"] == "2026-07-30T20:08:10.902114+00:00"
    assert known["script.inode[run.sh]"] == "1839022"
    assert facts(META, "Modify: 2026-07-30 22:08:10.9 +0200\n", Kind.LISTING, "x.txt") == {}
