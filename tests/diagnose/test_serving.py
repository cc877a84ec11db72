"""A server that died is why its clients got no answer; another server, or one that died hours before, is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from postmortem.analysis import analyze

BEFORE = "".join(f"2026-03-01 09:5{n}:00 step {n} done\n" for n in range(9))
DNS = "curl: (6) Could not resolve host: models.lan"


def killed(comm: str, unit: str, at: str = "10:00:00") -> str:
    stamp = f"Mar  1 {at} n1 kernel: "
    return (
        f"{stamp}{comm} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
        f"{stamp}oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
        f"task_memcg=/system.slice/{unit},task={comm},pid=4411,uid=0\n"
        f"{stamp}Out of memory: Killed process 4411 ({comm}) total-vm:4048576kB, anon-rss:1040000kB, file-rss:0kB, "
        "shmem-rss:0kB, UID:0 pgtables:2120kB oom_score_adj:0\n"
    )


def crashed(comm: str, unit: str) -> str:
    return (
        f"Mar  1 10:00:00 n1 kernel: {comm}[4411]: segfault at 8 ip 000055d0c0de1234 sp 00007ffd2 error 4 "
        f"in {comm}[55d0c0de0000+5000]\n"
        f"Mar  1 10:00:00 n1 systemd[1]: {unit}: Main process exited, code=killed, status=11/SEGV\n"
    )


STORIES = {
    "a resolver was killed": (killed("named", "named.service"), DNS, ("memory.oom-kill-host", "high")),
    "a resolver crashed": (crashed("unbound", "unbound.service"), "ERROR getaddrinfo EAI_AGAIN models.lan", ("process.segfault", "high")),
    "a database by its name": (killed("mysqld", "mysql.service"), "ERROR 2003 (HY000): Can't connect to MySQL server on 'db' (111)", ("memory.oom-kill-host", "high")),
    "a database by its port": (killed("postgres", "pg.service"), 'FATAL connection to server at "127.0.0.1", port 5432 failed: Connection refused', ("memory.oom-kill-host", "high")),
    "a cache that times out": (crashed("redis-server", "redis.service"), "ERROR dial tcp 127.0.0.1:6379: i/o timeout", ("process.segfault", "high")),
    "a database, and another was called": (killed("redis-server", "redis.service"), 'FATAL connection to server at "db.lan", port 5432 failed: Connection refused', ("memory.oom-kill-host", "medium")),
    "no resolver": (killed("java", "es.service"), DNS, ("network.dns", "high")),
    "a resolver hours before": (killed("named", "named.service", "02:00:00"), DNS, ("network.dns", "high")),
    "a resolver afterwards": (killed("named", "named.service", "10:04:00"), DNS, ("network.dns", "medium")),
}  # fmt: skip


@pytest.mark.parametrize(("journal", "line", "want"), STORIES.values(), ids=STORIES)
def test_a_server_that_died(tmp_path: Path, journal: str, line: str, want: tuple[str, str]) -> None:
    (tmp_path / "journal.txt").write_text(journal)
    end = f"{BEFORE}2026-03-01 10:00:21 {line}\n2026-03-01 10:00:22 job failed, exit code 6\n"
    (tmp_path / "job.log").write_text(end)
    root = analyze(str(tmp_path))["root_cause"]
    assert (root["class"], root["confidence"]) == want


@pytest.mark.parametrize(
    ("name", "want"), [("prices", "process.silent-exit"), ("mailer", "network.dns")], ids=["it", "another"]
)
def test_a_container_whose_name_nobody_knows_any_more(tmp_path: Path, name: str, want: str) -> None:
    (tmp_path / "docker-events.txt").write_text(
        f"2026-05-09T04:12:36.902114201Z container die 71aa0f3b (execDuration=756, exitCode=3, image=i:5, name={name})\n"
    )
    calls = "".join(
        f"[04:12:{n}] batch: call {n} POST http://prices:7000/q: dial tcp: lookup prices on 127.0.0.11:53: no such host\n"
        for n in range(38, 44)
    )
    (tmp_path / "batch.log").write_text(f"[04:12:30] batch: start\n{calls}[04:12:48] batch: 6 calls failed\n")
    assert analyze(str(tmp_path))["root_cause"]["class"] == want
