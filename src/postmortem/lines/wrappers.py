"""What carried a line: container runtimes, CI, compose, launchers of many ranks, terminals."""

from __future__ import annotations

from postmortem.lazy import lazy
from postmortem.lines.types import Head

_ANSI = lazy(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_]|[()*+][0-9A-Za-z])")
_CRI = lazy(r" (?:stdout|stderr) [FP](?: |$)")
_COMPOSE = lazy(r"([A-Za-z][\w.-]*?[-_]\d+) *\| ?")
_COMPOSE_ANY = lazy(r"([A-Za-z][\w.-]*) *\| ?")
_POD = lazy(r"\[(?:pod/)([\w./-]+)\] ")
_RANK = lazy(r"\[((?:rank|default|worker|node)\d+)\]: ?|\[(\d+,\d+)\]<(?:stdout|stderr)>: ?")
_ACTOR = lazy(r"\(([A-Za-z][\w:.-]*)(?:,? (?:pid=)(\d+)(?:, ip=[\d.]+)?)\) ?")
_NETCONSOLE = lazy(r"((?:\d{1,3}\.){3}\d{1,3})(?::\d{1,5})?:? (?=(?:<\d+>)?\[ *\d+\.\d{6}\] )")
_NCCL = lazy(r"([\w.-]+):(\d+):\d+ \[\d+\] (?=NCCL (INFO|WARN|ERROR)|misc/|init|\S+\.cc)")


def plain(raw: str) -> str:
    """The text without terminal escapes and without a carriage return at its end."""
    text = _ANSI.sub("", raw) if "\x1b" in raw else raw
    return text[:-1] if text.endswith("\r") else text


def cri(head: Head) -> bool:
    """` stdout F text` behind a stamp (Kubernetes CRI log file)."""
    m = _CRI.match(head.text)
    if not m:
        return False
    head.text = head.text[m.end() :]
    return True


def compose(head: Head, known: bool = False) -> bool:
    """`db-1       | text` (docker compose logs); a name without a number only where the dialect is known."""
    m = (_COMPOSE_ANY if known else _COMPOSE).match(head.text)
    if not m:
        return False
    head.program = m[1]
    head.text = head.text[m.end() :]
    return True


def pod(head: Head) -> bool:
    """`[pod/web-0/app] text` (kubectl logs --prefix)."""
    m = _POD.match(head.text)
    if not m:
        return False
    head.program = m[1]
    head.text = head.text[m.end() :]
    return True


def rank(head: Head) -> bool:
    """`[rank0]:[E1218 …`, `[default0]:text` (torchrun), `[1,0]<stderr>:text` (mpirun --tag-output)."""
    m = _RANK.match(head.text)
    if not m:
        return False
    head.program = m[1] or m[2]
    head.text = head.text[m.end() :]
    return True


def actor(head: Head) -> bool:
    """`(EngineCore_DP0 pid=412) text` (vLLM), `(train pid=123, ip=10.0.0.2) text` (Ray)."""
    m = _ACTOR.match(head.text)
    if not m:
        return False
    head.program, head.pid = m[1], m[2]
    head.text = head.text[m.end() :]
    return True


def nccl(head: Head) -> bool:
    """`c7a19f02be41:1201:1201 [0] NCCL INFO text` (NCCL: host, pid, thread, GPU)."""
    m = _NCCL.match(head.text)
    if not m:
        return False
    head.host, head.pid = m[1], m[2]
    head.level = {"INFO": "info", "WARN": "warn", "ERROR": "error"}.get(m[3] or "", "")
    head.text = head.text[m.end() :]
    return True


def netconsole(head: Head) -> bool:
    """`10.40.2.17: [77230.100000] text`: a sink of netconsole puts the sender's address before the kernel's line."""
    m = _NETCONSOLE.match(head.text)
    if not m:
        return False
    head.host = m[1]
    head.text = head.text[m.end() :]
    return True
