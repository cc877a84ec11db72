"""Equal failures elsewhere get the same fingerprint, other failures another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from postmortem.analysis import Engine, engine, examine
from postmortem.model import ChainLink, Diagnosis, Evidence, Finding, Place, Role, Verdict
from postmortem.report.fingerprint import fingerprint
from postmortem.report.masks import masked

XID = "2026-06-11T03:40:0{s}Z {host} kernel: [ 9412.{s}] NVRM: Xid (PCI:{pci}): {what}"


@pytest.fixture(scope="module")
def reader() -> Engine:
    return engine()


def of_files(reader: Engine, folder: Path, files: dict[str, str]) -> tuple[str, str]:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    report, _ = examine(reader, folder)
    return (report["root_cause"] or {}).get("class"), report["fingerprint"]


def xid(host: str, pci: str, what: str, s: int = 1) -> dict[str, str]:
    return {"kern.log": XID.format(host=host, pci=pci, what=what, s=s) + "\n"}


def oom(cid: str, pid: int, victim: str, t: float, limit: str = "346030080") -> dict[str, str]:
    group = f"/docker/{cid * 64}"
    return {
        "dmesg.txt": f"[{t - 0.01:.6f}] {victim} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
        f"[{t - 0.01:.6f}] memory: usage {limit}kB, limit {limit}kB, failcnt {pid}\n"
        f"[{t:.6f}] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset={cid * 64},mems_allowed=0,oom_memcg={group},task_memcg={group},task={victim},pid={pid},uid=0\n"
        f"[{t + 0.01:.6f}] Memory cgroup out of memory: Killed process {pid} ({victim}) total-vm:8{pid}kB, anon-rss:7{pid}kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0\n"
    }


def shell(path: str, line: int, token: str) -> dict[str, str]:
    return {"run.log": f"{path}: line {line}: syntax error near unexpected token `{token}'\n"}


def port(said: str) -> dict[str, str]:
    return {"app.log": f"2026-06-11T03:40:01Z ERROR {said}: Address already in use (os error 98)\n"}


def panic(thread: str, place: str, pid: int) -> dict[str, str]:
    return {
        "d.log": f"thread '{thread}' ({pid}) panicked at {place}:\nindex out of bounds: the len is 3 but the index is 7\n"
    }


OFF = "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
EQUAL = {
    "Xid 79 on another host and card": (xid("gpu-7", "0000:9b:00", OFF), xid("rack4-node12", "0000:01:00", OFF, 5)),
    "Xid 31 of another pid and address": (
        xid("a", "0000:9b:00", "31, pid=811, name=prove, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC4 GPCCLIENT_T1_3 faulted @ 0x7b3e_94c01000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE"),
        xid("b", "0000:17:00", "31, pid=92, name=prove, Ch 00000018, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_0 faulted @ 0x7f00_00001000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE"),
    ),
    "a kill at the limit in another container": (oom("a", 4312, "prover", 99.5), oom("b", 77, "prover", 1042.0)),
    "a limit that is nearly the same": (oom("a", 4312, "prover", 99.5), oom("b", 77, "prover", 1042.0, "346030144")),
    "a port that the same program could not have": (port("app: bind 127.0.0.1:9820"), port("app: bind 10.0.0.9:5001")),
    "a syntax error at another line and folder": (shell("/opt/a/run.sh", 12, "fi"), shell("/home/u/run.sh", 346, "fi")),
    "a panic of another thread and line": (panic("w-1", "src/msm.rs:41:9", 7), panic("w-9", "src/msm.rs:44:13", 8123)),
}  # fmt: skip
UNEQUAL = {
    "another Xid": (xid("a", "0000:9b:00", OFF), xid("a", "0000:9b:00", "48, pid=811, name=prove, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at partition 9, subpartition 1.")),
    "another limit": (oom("a", 4312, "prover", 99.5), oom("b", 77, "prover", 1042.0, "8388608")),
    "another victim": (oom("a", 4312, "prover", 99.5), oom("a", 4312, "python3", 99.5)),
    "another script": (shell("/opt/a/run.sh", 12, "fi"), shell("/opt/a/bench.sh", 12, "fi")),
    "another token": (shell("/opt/a/run.sh", 12, "fi"), shell("/opt/a/run.sh", 12, "done")),
    "a panic in another file": (panic("w-1", "src/msm.rs:41:9", 7), panic("w-1", "src/ntt.rs:41:9", 7)),
    "a port that another program could not have": (port("app: bind 127.0.0.1:9820"), port("Network.Socket.bind: resource busy")),
    "another class": (xid("a", "0000:9b:00", OFF), oom("a", 4312, "prover", 99.5)),
}  # fmt: skip


@pytest.mark.parametrize(("one", "two"), EQUAL.values(), ids=EQUAL)
def test_the_same_failure_elsewhere_is_equal(
    reader: Engine, tmp_path: Path, one: dict[str, str], two: dict[str, str]
) -> None:
    (first, id1), (second, id2) = of_files(reader, tmp_path / "1", one), of_files(reader, tmp_path / "2", two)
    assert first is not None
    assert (first, id1) == (second, id2)
    assert len(id1) == 12


@pytest.mark.parametrize(("one", "two"), UNEQUAL.values(), ids=UNEQUAL)
def test_another_failure_is_not_equal(reader: Engine, tmp_path: Path, one: dict[str, str], two: dict[str, str]) -> None:
    (first, id1), (second, id2) = of_files(reader, tmp_path / "1", one), of_files(reader, tmp_path / "2", two)
    assert None not in (first, second)
    assert id1 != id2


def test_a_failure_without_a_cause_has_none(reader: Engine, tmp_path: Path) -> None:
    """A generic line (exit status 1) never makes two failures the same one."""
    log = "2026-06-11T03:40:01Z ERROR bench: run failed: exit code 1\n"
    report, _ = examine(reader, _written(tmp_path / "b.log", log))
    assert report["status"] == "failed"
    assert report["root_cause"]["class"] == "process.silent-exit"
    assert report["fingerprint"] == ""


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def found(class_id: str, role: Role = Role.ROOT, text: str = "line", **facts: str | int) -> Finding:
    return Finding(class_id, class_id, role, Verdict.CONFIRMED, (Evidence("a.log", 1, text),), facts=facts)


def diagnosis(root: Finding, *after: tuple[Finding, Place]) -> Diagnosis:
    links = tuple(ChainLink(f, place, root) for f, place in after)
    return Diagnosis("failed", root=root, confidence="high", chain=(ChainLink(root, Place.ROOT), *links))


BUS = found("gpu.fell-off-bus", xid=79)
HUNG, EXIT = found("process.hung", Role.MECHANISM), found("process.silent-exit", Role.SYMPTOM)
RAISED = found("runtime.python-exception", Role.MECHANISM)
CHAINS = {
    "how it was noticed": (((EXIT, Place.SYMPTOM),), (), True),
    "the exception in which it was noticed": (((RAISED, Place.CONSEQUENCE),), (), True),
    "a consequence of four ranks": (((HUNG, Place.CONSEQUENCE),) * 4, ((HUNG, Place.CONSEQUENCE),), True),
    "a consequence more": (((HUNG, Place.CONSEQUENCE),), (), False),
    "context": (((HUNG, Place.CONTEXT),), (), True),
}


@pytest.mark.parametrize(("one", "two", "equal"), CHAINS.values(), ids=CHAINS)
def test_the_chain_counts_by_its_consequences(
    one: tuple[tuple[Finding, Place], ...], two: tuple[tuple[Finding, Place], ...], equal: bool
) -> None:
    assert (fingerprint(diagnosis(BUS, *one)) == fingerprint(diagnosis(BUS, *two))) is equal


MASKED = [
    ("PCI:0000:9b:00 lost", "PCI:<pci> lost"),
    ("at 2026-06-11T03:40:01.5Z on 10.0.0.7:4420", "at <time> on <ip>"),
    ("read /data/a/b/params.bin: 17 of 99 bytes", "read <dir>/params.bin: <n> of <n> bytes"),
    ("container 4f0e9d8c7b6a gone", "container <hex> gone"),
    ("pod d1c8a4f2-6b3e-4f70-9a15-2c7e0b9d8f31", "pod <uuid>"),
    ("GET https://h.example/x?y=1 failed", "GET <url> failed"),
    ("faulted @ 0x7b3e_94c01000", "faulted @ <hex>"),
    ("decade facade added", "decade facade added"),  # words of hex letters are words
    ("key [hidden:hf-token:3fa1c2] refused", "key <hidden> refused"),
]


@pytest.mark.parametrize(("text", "want"), MASKED, ids=[m[0][:20] for m in MASKED])
def test_masks(text: str, want: str) -> None:
    assert masked(text) == want
