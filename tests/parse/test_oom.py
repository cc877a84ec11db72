"""Kernel OOM records by kernel version, dialect and damage."""


from __future__ import annotations

import pytest
from dialects import DIALECTS, written

from postmortem.model import Kind
from postmortem.parse.oom import PARSER
from reading import events

EL6 = """
httpd invoked oom-killer: gfp_mask=0x201da, order=0, oom_adj=0, oom_score_adj=0
httpd cpuset=/ mems_allowed=0
Pid: 4411, comm: httpd Not tainted 2.6.32-504.el6.x86_64 #1
Call Trace:
 [<ffffffff810d41a1>] ? cpuset_print_task_mems_allowed+0x91/0xb0
[ pid ]   uid  tgid total_vm      rss cpu oom_adj oom_score_adj name
[  512]     0   512    16022     1310   1     -17         -1000 udevd
[ 4410]    48  4410   912010   388110   0       0             0 httpd
Out of memory: Kill process 4410 (httpd) score 512 or sacrifice child
Killed process 4410, UID 48, (httpd) total-vm:3648040kB, anon-rss:1552440kB, file-rss:0kB
"""

EL7 = """
java invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0
java cpuset=2f1c mems_allowed=0
CPU: 2 PID: 7215 Comm: java Tainted: G               ------------ T 3.10.0-1160.el7.x86_64 #1
Task in /docker/2f1c/inner killed as a result of limit of /docker/2f1c
memory: usage 524288kB, limit 524288kB, failcnt 112
memory+swap: usage 524288kB, limit 9007199254740988kB, failcnt 0
kmem: usage 0kB, limit 9007199254740988kB, failcnt 0
Memory cgroup stats for /docker/2f1c: cache:12KB rss:524276KB rss_huge:0KB
[ pid ]   uid  tgid total_vm      rss nr_ptes swapents oom_score_adj name
[ 7200]     0  7200     3091      214      15        0             0 bash
[ 7215]  1000  7215   990010   130010     310        0             0 java
Memory cgroup out of memory: Kill process 7230 (java) score 968 or sacrifice child
Killed process 7215 (java), UID 1000, total-vm:3960040kB, anon-rss:520040kB, file-rss:0kB, shmem-rss:0kB
"""

V4_19 = """
stress invoked oom-killer: gfp_mask=0x14000c0(GFP_KERNEL), nodemask=(null), order=0, oom_score_adj=0
stress cpuset=a mems_allowed=0
CPU: 0 PID: 900 Comm: stress Not tainted 4.19.0-25-amd64 #1 Debian
Task in /a killed as a result of limit of /a
memory: usage 65536kB, limit 65536kB, failcnt 40
Tasks state (memory values in pages):
[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[    900]     0   900    28211    16210   253952        0             0 stress
Memory cgroup out of memory: Kill process 900 (stress) score 991 or sacrifice child
Killed process 900 (stress) total-vm:112844kB, anon-rss:64376kB, file-rss:464kB, shmem-rss:0kB
oom_reaper: reaped process 900 (stress), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB
"""

V5_15 = """
python3 invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0
CPU: 3 PID: 16700 Comm: python3 Not tainted 5.15.0-94-generic #104-Ubuntu
Mem-Info:
active_anon:241 inactive_anon:1801200 isolated_anon:0
Tasks state (memory values in pages):
[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[    512]     0   512    16022     1310   147456       44          -250 systemd-journal
[  16712]  1000 16712  4911203   801200  8216576    41002             0 Stream Trans #7
[  16700]  1000 16700  1911203   601200  8216576    41002           500 python3
oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice/a,task=python3,pid=16700,uid=1000
Out of memory: Killed process 16700 (python3) total-vm:7644812kB, anon-rss:2404800kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:8024kB oom_score_adj:500
"""

V6_12 = """
worker/0 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=994
CPU: 1 UID: 0 PID: 4249 Comm: worker/0 Not tainted 6.12.0 #1
memory: usage 1048576kB, limit 1048576kB, failcnt 9
swap: usage 0kB, limit 0kB, failcnt 0
Memory cgroup stats for /pods/p1:
anon 1073000448
file 0
Tasks state (memory values in pages):
[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name
[   4240]     0  4240      402      130      100       30         0    40960        0           994 sh
[   4249]     0  4249   310000   261000   260000     1000         0   253952        0           994 python (v2)
oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=c1,mems_allowed=0,oom_memcg=/pods/p1,task_memcg=/pods/p1/c1,task=python (v2),pid=4249,uid=0
Memory cgroup out of memory: Killed process 4249 (python (v2)) total-vm:1240000kB, anon-rss:1040000kB, file-rss:4000kB, shmem-rss:0kB, UID:0 pgtables:248kB oom_score_adj:994
oom_reaper: reaped process 4249 (python (v2)), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB
"""

RECORDS = {
    "2.6.32-el6-host": (EL6, {"victim": "httpd", "pid": "4410", "scope": "host", "uid": "48", "invoker": "httpd",
                              "anon_rss_kb": "1552440", "top_rss_kb": "1552440", "tasks": "2"}),
    "3.10-el7-child-dies-ancestor-limit": (
        EL7, {"victim": "java", "pid": "7215", "scope": "cgroup", "constraint": "MEMCG", "oom_memcg": "/docker/2f1c",
              "task_memcg": "/docker/2f1c/inner", "ancestor": "yes", "limit_kb": "524288", "usage_kb": "524288",
              "failcnt": "112", "uid": "1000", "top_comm": "java", "top_pid": "7215"}),
    "4.19-cgroup": (V4_19, {"victim": "stress", "pid": "900", "scope": "cgroup", "ancestor": "no", "limit_kb": "65536",
                            "gfp": "0x14000c0(GFP_KERNEL)", "order": "0"}),
    "5.15-host-invoker-is-victim-top-is-other": (
        V5_15, {"victim": "python3", "pid": "16700", "scope": "host", "constraint": "NONE", "top_comm": "Stream Trans #7",
                "top_pid": "16712", "top_rss_kb": str(801200 * 4), "tasks": "3", "oom_score_adj": "500"}),
    "6.12-cgroup-invoker-is-not-victim": (
        V6_12, {"victim": "python (v2)", "pid": "4249", "invoker": "worker/0", "oom_memcg": "/pods/p1", "ancestor": "yes",
                "limit_kb": "1048576", "shmem_rss_kb": "0", "total_vm_kb": "1240000", "top_rss_kb": str(261000 * 4)}),
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("record", "expected"), RECORDS.values(), ids=RECORDS)
def test_whole_records_in_every_dialect(record: str, expected: dict[str, str], dialect: str) -> None:
    made = events(PARSER, *written(dialect, record))
    assert [e["kind"] for e in made] == ["oom.kill"]
    assert {k: made[0].get(k) for k in expected} == expected


CUT = {
    "kill-line-alone": (
        "Memory cgroup out of memory: Killed process 77 (a.out) total-vm:10kB, anon-rss:8kB, file-rss:0kB, shmem-rss:0kB,"
        " UID:0 pgtables:112kB oom_score_adj:0",
        [("oom.kill", "77", "cgroup")],
    ),
    "kill-line-alone-with-a-field-of-the-future": (
        "Out of memory: Killed process 77 (a.out) total-vm:10kB, anon-rss:8kB, some-rss:0kB, hugetlb:4kB, UID:0 x:y",
        [("oom.kill", "77", "host")],
    ),
    "allocating-task": (
        "Out of memory (oom_kill_allocating_task): Killed process 78 (b) total-vm:10kB, anon-rss:8kB",
        [("oom.kill", "78", "host")],
    ),
    "2.6.18": ("Out of memory: Killed process 1234 (httpd).", [("oom.kill", "1234", "host")]),
    "2.6.32-children": (
        "Out of Memory: Kill process 5342 (memhog) score 8 and children.\n"
        "Out of memory: kill process 5343 (memhog) score 8 or a child",
        [("oom.kill", "5342", "host"), ("oom.kill", "5343", "host")],
    ),
    "second-kill-line-alone": (
        "Killed process 456 (python) total-vm:9kB, anon-rss:8kB, file-rss:0kB",
        [("oom.kill", "456", None)],
    ),
    "choice-alone": (
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/A,task_memcg=/A,"
        "task=python3,pid=16712,uid=0",
        [("oom.kill", "16712", "cgroup")],
    ),
    "numa-policy": (
        "oom-kill:constraint=CONSTRAINT_CPUSET,nodemask=0,cpuset=x,mems_allowed=0,task_memcg=/A,task=q,pid=9,uid=0\n"
        "Out of memory: Killed process 9 (q) total-vm:9kB, anon-rss:8kB, file-rss:0kB, shmem-rss:0kB",
        [("oom.kill", "9", "host")],
    ),
    "reaper-alone": (
        "oom_reaper: reaped process 31 (x), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB",
        [("oom.kill", "31", None)],
    ),
    "several-in-a-row-without-headers": (
        "Out of memory: Killed process 1 (a) total-vm:9kB, anon-rss:8kB\n"
        "Out of memory: Killed process 2 (b) total-vm:9kB, anon-rss:8kB\n"
        "Memory cgroup out of memory: Killed process 3 (c) total-vm:9kB, anon-rss:8kB",
        [("oom.kill", "1", "host"), ("oom.kill", "2", "host"), ("oom.kill", "3", "cgroup")],
    ),
    "already-exiting-is-no-kill": (
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/A,task_memcg=/A,"
        "task=x,pid=16,uid=0\nMemory cgroup out of memory: OOM victim 16 (x) is already exiting. Skip killing the task",
        [],
    ),
    "header-alone": (
        "sh invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
        [("oom.invoked", None, None)],
    ),
    "no-process-left-panic": (
        "init invoked oom-killer: gfp_mask=0x201da, order=0, oom_score_adj=0\n"
        "Kernel panic - not syncing: Out of memory and no killable processes...\n"
        "---[ end Kernel panic - not syncing: Out of memory and no killable processes... ]---",
        [("oom.invoked", None, None)],
    ),
}


@pytest.mark.parametrize(("text", "expected"), CUT.values(), ids=CUT)
def test_cut_records(text: str, expected: list[tuple[str, str | None, str | None]]) -> None:
    made = events(PARSER, "\n".join(f"[  99.{n:06d}] {line}" for n, line in enumerate(text.splitlines())))
    assert [(e["kind"], e.get("pid"), e.get("scope")) for e in made] == expected


def test_group_kill_is_one_event_a_victim_of_the_same_group() -> None:
    text = V6_12.replace("oom_reaper", "Tasks in /pods/p1 are going to be killed due to memory.oom.group set\n"
                         "Memory cgroup out of memory: Killed process 4240 (sh) total-vm:9kB, anon-rss:8kB\noom_reaper")  # fmt: skip
    made = events(PARSER, *written("dmesg", text))
    assert [(e["pid"], e.get("group_kill"), e["oom_memcg"]) for e in made] == [
        ("4249", None, "/pods/p1"),
        ("4240", "yes", "/pods/p1"),
    ]


def test_two_records_do_not_mix() -> None:
    made = events(PARSER, *written("syslog", V6_12 + V5_15))
    assert [(e["victim"], e["scope"], e.get("limit_kb")) for e in made] == [
        ("python (v2)", "cgroup", "1048576"),
        ("python3", "host", None),
    ]


def test_an_unlimited_group_has_no_limit() -> None:
    line = "memory: usage 524288kB, limit 9007199254740988kB, failcnt 0\n"
    made = events(PARSER, *written("dmesg", line + V5_15))
    assert "limit_kb" not in made[0]


def test_lines_of_other_programs_inside_a_record() -> None:
    text, kind = written("journal-short", V6_12)
    lines = text.splitlines()
    mixed = "\n".join(f"{line}\nMay 01 12:00:01 host containerd[9]: shim reaped" for line in lines)
    (made,) = events(PARSER, mixed, kind)
    assert (made["victim"], made["limit_kb"], made["tasks"]) == ("python (v2)", "1048576", "2")


NOT_A_KILL = {
    "adjustment": (Kind.JOURNAL, "May 01 12:00:01 h systemd[1]: Setting oom_score_adj of 412 to -1000"),
    "suspend": (Kind.KERNEL, "[ 1.2] PM: suspend entry\n[ 1.3] OOM killer disabled.\n[ 1.4] OOM killer enabled."),
    "zero-counter": (Kind.LOG, "oom_kill 0\noom 0\nkilled: 0"),
    "page-allocation-failure": (
        Kind.KERNEL,
        "[ 1.2] kworker/u8: page allocation failure: order:4, mode:0xcc0(GFP_KERNEL), nodemask=(null)",
    ),
    "usage-without-a-kill": (Kind.KERNEL, "[ 1.2] memory: usage 100kB, limit 100kB, failcnt 4"),
    "a-trace-that-quotes": (Kind.LOG, "+ grep -c 'Out of memory: Killed process 77 (a) total-vm:9kB, anon-rss:8kB' /x"),
    "another-program": (Kind.JOURNAL, "May 01 12:00:01 h monit[9]: Out of memory: Killed process 77 (a) total-vm:9kB"),
    "an-application-of-its-own": (Kind.LOG, "2026-05-01 12:00:00 supervisor: Killed process 77 (worker)"),
    "stack-of-another-oom-path": (Kind.KERNEL, "[ 1.2]  oom_kill_process+0x1db/0x2c0"),
}


@pytest.mark.parametrize(("kind", "text"), NOT_A_KILL.values(), ids=NOT_A_KILL)
def test_must_not_match(kind: Kind, text: str) -> None:
    assert events(PARSER, text, kind) == []
