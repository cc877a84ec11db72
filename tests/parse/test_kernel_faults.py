"""Faults of user programs, hung tasks and the records of those who watch them."""


from __future__ import annotations

import pytest
from dialects import DIALECTS, written

from postmortem.model import Kind
from postmortem.parse.kernel_faults import PARSER
from reading import events

LINES = {
    "segfault": ("python3[4242]: segfault at 8 ip 00007f31c0de5f10 sp 00007ffd2ab31aa0 error 4 in libfoo.so[7f31c0dd4000+1b000]",
                 {"kind": "kernel.segfault", "comm": "python3", "pid": "4242", "address": "8", "library": "libfoo.so", "signal": "11", "access": "read", "null": "yes", "offset": "0x11f10"}),
    "segfault-6.x-tail": ("cuzk-daemon[9]: segfault at 7f00deadbeef ip 00007f31c0de5f10 sp 00007ffd2ab31aa0 error 6 in cuzk-daemon[55d0c0000000+1b000] likely on CPU 3 (core 3, socket 0)",
                          {"comm": "cuzk-daemon", "access": "write", "null": None, "library": "cuzk-daemon"}),
    "segfault-6.11-offset": ("a.out[9]: segfault at 0 ip 000055d0c0001139 sp 00007ffd2ab31aa0 error 4 in a.out[1139,55d0c0001000+1000] likely on CPU 0",
                             {"library": "a.out", "offset": "0x1139"}),
    "segfault-2.6": ("httpd[411]: segfault at 0000000000000008 rip 00002aaaab0e4d14 rsp 00007fff0000 error 4", {"pid": "411", "signal": "11", "library": None}),
    "segfault-no-library": ("tokio-runtime-w[12]: segfault at 0 ip 0000000000000000 sp 00007f error 14", {"comm": "tokio-runtime-w", "access": "execute"}),
    "segfault-name-with-space": ("Stream Trans #7[77]: segfault at 10 ip 00007f31 sp 00007ffd error 4 in libc.so.6[7f30+1b0]", {"comm": "Stream Trans #7"}),
    "arm64": ("prover[77]: unhandled level 2 translation fault (11) at 0x00000010, esr 0x92000006, in prover[aaaad0000000+4000]", {"kind": "kernel.segfault", "pid": "77", "signal": "11", "null": "yes"}),
    "bus-error-power": ("prover[77]: bus error (7) at 7fff8a2b0000 nip 10000a4c lr 10000a30 code 2 in prover[10000000+10000]", {"signal": "7", "library": "prover"}),
    "general-protection": ("traps: sensor[8542] general protection fault ip:7fb7aab5a967 sp:7ffbee0be0b0 error:0 in libc-2.32.so[7fb7aab5a000+14f000]",
                           {"kind": "kernel.trap", "comm": "sensor", "pid": "8542", "trap": "general protection fault", "signal": "11", "library": "libc-2.32.so", "offset": "0x967"}),
    "general-protection-3.x": ("httpd[411] general protection ip:7fb7aab5a967 sp:7ffbee0be0b0 error:0 in libc-2.17.so[7fb7aab5a000+14f000]", {"trap": "general protection fault", "pid": "411"}),
    "invalid-opcode": ("traps: python[6220] trap invalid opcode ip:7f6c0e8d1a3c sp:7ffd5a0e1b10 error:0 in lib.so[7f6c0e6f2000+5f1000]", {"trap": "invalid opcode", "signal": "4"}),
    "divide": ("traps: calc[5] trap divide error ip:400547 sp:7ffd error:0 in calc[400000+1000]", {"trap": "divide error", "signal": "8"}),
    "hung-task": ("INFO: task nvidia-smi:2934011 blocked for more than 120 seconds.", {"kind": "kernel.hung-task", "comm": "nvidia-smi", "pid": "2934011", "seconds": "120"}),
    "hung-task-colon-in-name": ("INFO: task kworker/u8:3:77 blocked for more than 245 seconds.", {"comm": "kworker/u8:3", "pid": "77", "seconds": "245"}),
    "audit": ('audit: type=1701 audit(1714564800.123:456): auid=1000 uid=0 gid=0 ses=1 pid=4242 comm="daemon" exe="/opt/daemon" sig=6 res=1',
              {"kind": "kernel.signal", "comm": "daemon", "pid": "4242", "signal": "6", "exe": "/opt/daemon", "how": "audit"}),
    "audit-hex-name": ('audit: type=1701 audit(1714564800.123:456): auid=1 uid=0 gid=0 ses=1 pid=5 comm=53747265616D2037 exe="/x" sig=11 res=1', {"comm": "Stream 7", "signal": "11"}),
    "memory-failure": ("Memory failure: 0x1a2b3c: Sending SIGBUS to trainer:4242 due to hardware memory corruption", {"kind": "kernel.signal", "comm": "trainer", "pid": "4242", "signal": "7", "how": "hardware-memory"}),
    "memory-failure-old": ("MCE 0x1a2b3c: Killing trainer:4242 due to hardware memory corruption", {"signal": "7"}),
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("line", "expected"), LINES.values(), ids=LINES)
def test_lines_in_every_dialect(line: str, expected: dict[str, str | None], dialect: str) -> None:
    (made,) = events(PARSER, *written(dialect, line))
    assert {k: made.get(k) for k in expected} == expected


PROGRAMS = {
    "coredump": ("May 01 12:00:00 h systemd-coredump[76]: Process 10510 (log-upload) of user 0 dumped core.", {"kind": "kernel.signal", "comm": "log-upload", "pid": "10510", "how": "coredump"}),
    "abrt": ("May 01 12:00:00 h abrt-hook-ccpp[76]: Process 10510 (x) of user 0 killed by SIGABRT - dumping core", {"signal": "6"}),
    "journald-audit": ('May 01 12:00:00 h audit[4242]: ANOM_ABEND auid=1 uid=0 gid=0 ses=1 pid=4242 comm="x" exe="/x" sig=11 res=1', {"signal": "11", "how": "audit"}),
}  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_lines_of_programs(line: str, expected: dict[str, str]) -> None:
    (made,) = events(PARSER, line, Kind.JOURNAL, "journal.txt")
    assert {k: made.get(k) for k in expected} == expected


def test_a_hung_task_is_one_event_with_its_longest_time() -> None:
    text = "\n".join(f"[ {n}.0] INFO: task mysqld:13820 blocked for more than {n} seconds." for n in (120, 241, 362))
    made = events(PARSER, text)
    assert [(e["pid"], e["seconds"], e["count"]) for e in made] == [("13820", "362", "3")]


SILENT = {
    "passing-test": (Kind.LOG, "PASSED [ 12%] test_segfault"),
    "seccomp": (Kind.KERNEL, '[ 1.2] audit: type=1326 audit(1440765493.220:91): auid=1 pid=3311 comm="snap" sig=0 arch=c000003e'),
    "audit-without-signal": (Kind.KERNEL, '[ 1.2] audit: type=1701 audit(1.2:3): pid=4 comm="x" exe="/x" sig=0 res=1'),
    "hung-task-advice": (Kind.KERNEL, '[ 1.2] "echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.'),
    "kernel-oops-is-not-a-user-fault": (Kind.KERNEL, "[ 1.2] general protection fault, probably for non-canonical address 0xdead: 0000 [#1] SMP"),
    "gpu-coredump": (Kind.JOURNAL, "May 01 12:00:00 h kernel: amdgpu: [drm] AMDGPU device coredump file has been created"),
    "a-program-says-segfault": (Kind.JOURNAL, "May 01 12:00:00 h app[3]: python3[42]: segfault at 8 ip 00007f sp 00007f error 4 in x.so[7f+1]"),
    "quoted": (Kind.LOG, "+ grep -E 'INFO: task nvidia-smi:29 blocked for more than 120 seconds' dmesg.txt"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), SILENT.values(), ids=SILENT)
def test_must_not_match(kind: Kind, text: str) -> None:
    assert events(PARSER, text, kind) == []
