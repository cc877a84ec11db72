"""Whole answers to small scenes: what others of the machine did, what was tolerated, what was only asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from postmortem.analysis import analyze

Files = dict[str, str]
OOM = (
    "[8123.100000] {c} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
    "[8123.100100] memory: usage 1048576kB, limit 1048576kB, failcnt 77\n"
    "[8123.100200] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg={g},"
    "task_memcg={g},task={c},pid={p},uid=0\n"
    "[8123.100300] Memory cgroup out of memory: Killed process {p} ({c}) total-vm:4048576kB, anon-rss:1040000kB, "
    "file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:2120kB oom_score_adj:0\n"
)


def killed(comm: str, group: str, pid: int = 4411) -> Files:
    return {"dmesg.txt": OOM.format(c=comm, g=group, p=pid)}


def lines(form: str, count: int = 9) -> str:
    return "".join(form.format(n=n) + "\n" for n in range(1, count + 1))


def log(*told: str) -> Files:
    return {"job.log": "".join(f"{line}\n" for line in told)}


XID31 = {"dmesg.txt": "[8123.1] usb 1-1: x\n[8200.000000] NVRM: Xid (PCI:0000:8a:00): 31, pid=771, name=python3, Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f_a0000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ\n"}
# A kill of somebody else beside a log that tells its own end; and kills that are the cause.
NEIGHBOURS: dict[str, tuple[str, Files]] = {
    "name not found, a server killed": (
        "network.dns",
        killed("java", "/system.slice/elasticsearch.service")
        | log("2026-03-01 10:00:02 fetching", "curl: (6) Could not resolve host: models.lan", "2026-03-01 10:00:09 job failed, exit code 6"),
    ),
    "syntax error, a database killed": (
        "script.syntax-error",
        killed("mysqld", "/machine.slice/libpod-77aa.scope")
        | log("+ make dist", "./release.sh: line 44: syntax error near unexpected token `done'", "make: *** [Makefile:3: dist] Error 2"),
    ),
    "the log names the victim": (
        "memory.oom-kill-cgroup",
        killed("solver", "/system.slice/app.service")
        | log("2026-03-01 10:00:00 INFO spawning solver (pid 4411)", "2026-03-01 10:04:00 ERROR solver went away: connection reset by peer", "2026-03-01 10:04:01 ERROR run failed, exit code 1"),
    ),
    "the log ends with a symptom": (
        "memory.oom-kill-cgroup",
        killed("solver", "/system.slice/app.service")
        | log("2026-03-01 10:00:00 INFO starting pool", "2026-03-01 10:04:00 ERROR upstream failed: connect: connection refused", "2026-03-01 10:04:01 ERROR run failed, exit code 1"),
    ),
    "a bug of the program, a browser killed": (
        "runtime.python-exception",
        killed("chromium", "/user.slice/app.scope") | log("epoch 1", "Traceback (most recent call last):", '  File "t.py", line 4, in <module>', "KeyError: 'lr'"),
    ),
    "a lost peer, a worker killed": (
        "memory.oom-kill-cgroup",
        killed("chromium", "/user.slice/app.scope") | log("epoch 1", "Traceback (most recent call last):", '  File "t.py", line 4, in <module>', "EOFError: ran out of input from the worker"),
    ),
    "a bug of the program, another program's fault on another GPU": (
        "runtime.python-exception",
        XID31 | log("using GPU 0000:17:00.0, pid 9120", "epoch 1", "Traceback (most recent call last):", '  File "t.py", line 4, in <module>', "KeyError: 'lr'", "exit code 1"),
    ),
    "a bug of the program, another pid": (
        "runtime.python-exception",
        XID31 | log("started, pid=9120", "epoch 1", "Traceback (most recent call last):", '  File "t.py", line 4, in <module>', "IndexError: list index out of range", "exit code 1"),
    ),
    "the program's own fault on a GPU": (
        "gpu.illegal-access",
        XID31 | log("using GPU 0000:8a:00.0, pid 771", "epoch 1", "Traceback (most recent call last):", '  File "t.py", line 4, in <module>', "RuntimeError: CUDA error: an illegal memory access was encountered", "exit code 1"),
    ),
    "a card lost before the boot": (
        "gpu.device-assert",
        {"journal.txt": (
            "May 01 08:00:00 n1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=771, name=python3, GPU has fallen off the bus.\n"
            "-- Reboot --\nMay 01 08:10:00 n1 kernel: Linux version 6.8.0-50-generic (b@h) #1 SMP\n"
        )}
        | log("epoch 1", "/p/ATen/native/cuda/Indexing.cu:1292: indexSelectLargeIndex: block: [1,0,0], thread: [0,0,0] Assertion `srcIndex < srcSelectDimSize` failed.",
              "Traceback (most recent call last):", '  File "t.py", line 3, in <module>', "RuntimeError: CUDA error: device-side assert triggered"),
    ),
}  # fmt: skip

PS = "    PID    PPID STAT COMMAND\n      1       0 Ss   python -m srv.master\n     40       1 S    python -m srv.worker 0\n{z}"
RUNNER = lines("2026-03-01T10:00:0{n}.0000000Z line {n}", 5)
# What was repeated, allowed to fail, provoked or ordered; and the same where it was not.
TOLERATED: dict[str, tuple[str, Files]] = {
    "a task that was repeated": (
        "healthy",
        log("2026-03-01 10:00:00 INFO submitting 8 tasks", "(train pid=811) Traceback (most recent call last):", '(train pid=811)   File "t.py", line 3, in f',
            "(train pid=811) TimeoutError: read timed out", "2026-03-01 10:01:00 WARNING task train failed, retrying (1/3)",
            lines("2026-03-01 10:0{n}:10 INFO step {n}").rstrip(), "2026-03-01 10:10:00 INFO all 8 tasks completed", "Job 'raysubmit_x1' succeeded"),
    ),
    "a CI's own record": (
        "healthy",
        {"job.log": RUNNER + "2026-03-01T10:00:11.0000000Z ##[error]Process completed with exit code 1.\n" + lines("2026-03-01T10:01:0{n}.0000000Z   ✓ {n} works"),
         "run.json": '{\n "name": "ci",\n "conclusion": "success"\n}\n'},
    ),
    "a CI's record of a failure": (
        "process.silent-exit",
        {"job.log": RUNNER + "2026-03-01T10:00:11.0000000Z ##[error]Process completed with exit code 101.\n" + lines("2026-03-01T10:01:0{n}.0000000Z   ✓ {n} works"),
         "run.json": '{\n "steps": [{\n "conclusion": "success"\n},{\n "conclusion": "failure"\n}]\n}\n'},
    ),
    "names of tests": (
        "healthy",
        log(lines("ok {n} - survives: connection refused, SIGSEGV, No space left on device").rstrip(), "# Totals: pass:9 fail:0 xfail:0 xpass:0 skip:0 error:0"),
    ),
    "kselftest": (
        "healthy",
        killed("memcg_oom", "/memcg_test")
        | log("TAP version 13", "1..2", "# selftests: mm: memcg_oom", "ok 1 selftests: mm: memcg_oom", "ok 2 selftests: mm: ksm", "# Totals: pass:2 fail:0 xfail:0 xpass:0 skip:0 error:0"),
    ),
    "stress-ng": (
        "healthy",
        killed("stress-ng-bighe", "/stress")
        | log("stress-ng: info:  [900] dispatching hogs: 2 bigheap", "stress-ng: info:  [900] passed: 2: bigheap (2)", "stress-ng: info:  [900] successful run completed in 60.02s"),
    ),
    "a kill that no test provoked": (
        "memory.oom-kill-cgroup",
        killed("postgres", "/system.slice/postgresql.service")
        | log("TAP version 13", "1..1", "# selftests: mm: ksm", "ok 1 selftests: mm: ksm", "# Totals: pass:1 fail:0 xfail:0 xpass:0 skip:0 error:0"),
    ),
    "a play that failed on one host": (
        "None",
        log("web-1 : ok=5    changed=2    unreachable=0    failed=1    skipped=0    rescued=0    ignored=0", "web-2 : ok=5    changed=2    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0"),
    ),
    "a record of the run that did not pass": (
        "None",
        log("run finished: 20 ok, 0 failed", "throughput: 3.2 proofs/h") | {"result.json": '{\n "passed": false,\n "rate": 3.2\n}\n'},
    ),
    "a worker that was replaced and not collected yet": (
        "healthy",
        {"ps.txt": PS.format(z="     43       1 Z    [python] <defunct>\n")}
        | {"srv.log": "[12:05:43] master: worker 3 pid 43 exited with 0, starting pid 77\n", "load.log": "probe 1: connection refused, retry in 2s\nprobe 2: 200\nthroughput 1997.2/s\n900 requests, 0 failed\nverdict PASS\nexit 0\n"},
    ),
    "a worker that died": (
        "process.zombie",
        {"ps.txt": PS.format(z="     43       1 Z    [python] <defunct>\n")}
        | {"srv.log": "[12:05:43] master: worker 3 pid 43 exited with 3, starting pid 77\n", "load.log": "GET /a: 200\nGET /b: connection refused\n"},
    ),
    "an ordered restart": (
        "healthy",
        {"journal.txt": (
            "May 01 08:00:00 n1 systemd[1]: Stopping api.service - API...\n"
            "May 01 08:00:01 n1 systemd[1]: api.service: Main process exited, code=exited, status=143/n/a\n"
            "May 01 08:00:01 n1 systemd[1]: api.service: Failed with result 'exit-code'.\n"
            "May 01 08:00:02 n1 systemd[1]: Started api.service - API.\n"
        )}
        | log("rolling restart", "3 of 3 hosts done", "deployment finished, 0 errors"),
    ),
}  # fmt: skip

SESSION = "root@n1:~# ceph health\nHEALTH_OK\nroot@n1:~# ./selftest\nselftest finished, 0 errors\n"
# What a person asked for is no outcome of the run.
ASKED: dict[str, tuple[Files, bool]] = {
    "a server in trouble": ({"session.txt": SESSION, "svc.log": "2026-03-01 10:00:00 INFO started\n2026-03-01 10:05:00 ERROR could not commit offsets\n"}, False),
    "a value below what is required": (
        {"check.txt": SESSION, "bench.log": "2026-03-01 10:01:00 bandwidth 0.9 Gbit/s\n2026-03-01 10:01:00 FAIL: bandwidth is below the required 9.0 Gbit/s\n"}, False,
    ),
    "nothing else": ({"session.txt": SESSION}, True),
    "a CI that prints its commands": (
        log("Running with gitlab-runner 17.1", "$ curl -fsS https://x/y", "curl: (7) Failed to connect to x port 443: Connection refused", "$ make test", "12 tests OK, 0 failed", "Job succeeded"), True,
    ),
}  # fmt: skip


def answer(tmp_path: Path, files: Files) -> str:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    report = analyze(tmp_path)
    return "healthy" if report["status"] == "healthy" else str((report["root_cause"] or {}).get("class"))


@pytest.mark.parametrize(("want", "files"), NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_another_process(tmp_path: Path, want: str, files: Files) -> None:
    assert answer(tmp_path, files) == want


@pytest.mark.parametrize(("want", "files"), TOLERATED.values(), ids=TOLERATED)
def test_failures_that_were_no_failure(tmp_path: Path, want: str, files: Files) -> None:
    assert answer(tmp_path, files) == want


@pytest.mark.parametrize(("files", "healthy"), ASKED.values(), ids=ASKED)
def test_answers_to_a_person(tmp_path: Path, files: Files, healthy: bool) -> None:
    assert (answer(tmp_path, files) == "healthy") is healthy
