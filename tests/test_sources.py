# real lines are long
from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from postmortem.bundle import open_bundle
from postmortem.model import Kind, State
from postmortem.scan import build
from postmortem.sources import Source, read_sources, rotation
from postmortem.sources.hits import FIRST_HITS, LAST_HITS
from postmortem.sources.identify import identify

DMESG = "[  100.000001] usb 1-2: new high-speed USB device number 4 using xhci_hcd\n[  101.500000] NVRM: Xid (PCI:0000:01:00): 79, pid=1, GPU has fallen off the bus.\n"
DMESG_T = "[Tue Aug  3 12:14:21 2021] usb 1-8: new high-speed USB device\n[Tue Aug  3 12:14:22 2021] hrtimer: interrupt took 10 ns\n"
KERN = "Aug 21 05:46:13 box kernel: [27973.513450] loop19: detected capacity change\nAug 21 05:46:14 box kernel: [27974.1] x\n"
SYSLOG = KERN + "Aug 21 05:46:15 box systemd[1]: Started Session 3 of User ops.\n"
ISO = "2026-10-08T23:08:49.276356+00:00 a100 kernel: TCP: Possible SYN flooding\n" * 3
KMSG = "6,1234,5678901,-;usb 1-2: new high-speed USB device\n4,1235,5678999,-;Out of memory: Killed process 41 (a)\n"
JOURNAL_JSON = "".join(
    json.dumps({"__REALTIME_TIMESTAMP": str(n), "_TRANSPORT": t, "MESSAGE": "x"}) + "\n"
    for n, t in ((1, "kernel"), (2, "stdout"))
)
STAT = "4127 (cuzk daemon) Z 1 4119 4119 0 -1 4227084 16480 0 12 0 301 118 0 0 20 0 1 0 943301 0 0 184467 0 0 0 0 0 0 0 6 16384\n"
STATUS = "Name:\tproofd\nState:\tZ (zombie)\nTgid:\t41\n"
SWEEP = (
    "==> /proc/1/stat <==\n1 (init) S 0 1 1 0 -1 4194560\n\n==> /proc/2/stat <==\n2 (kthreadd) S 0 0 0 0 -1 2129984\n"
)
CGROUP_SWEEP = "==> /sys/fs/cgroup/memory.max <==\nmax\n\n==> /sys/fs/cgroup/memory.events <==\nlow 0\n"
LIMITS = "Limit                     Soft Limit           Hard Limit           Units     \nMax processes             96364                96364                processes \n"
EVENTS = "low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\n"
PS = "    PID    PPID STAT                  STARTED     ELAPSED    RSS COMMAND\n      1       0 Ss   Thu Jun 11 01:12:09 2026    02:37:31   3012 /bin/bash /opt/run.sh\n"
PS_EF = (
    "UID        PID  PPID  C STIME TTY          TIME CMD\nroot         1     0  0 Mar08 ?        00:00:04 /sbin/init\n"
)
SMI = "Thu Jun 11 03:49:41 2026       \n+-----------------------+\n| NVIDIA-SMI 575.57.08              Driver Version: 575.57.08 |\n|---+---|\n| N/A   35C |\n+---+\n"
SMI_Q = "\n==============NVSMI LOG==============\n\nTimestamp                                 : Thu Jun 11 03:49:41 2026\nDriver Version                            : 575.57\n"
SMI_XML = '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v11.dtd">\n<nvidia_smi_log>\n<driver_version>515</driver_version>\n'
SMI_CSV = "index, name, temperature.gpu, memory.used [MiB]\n0, NVIDIA H100, 41, 1024 MiB\n"
DF = "Filesystem      Size  Used Avail Use% Mounted on\n/dev/vda1       194G   61G  134G  32% /\n"
MOUNT = "/dev/nvme0n1p2 on / type ext4 (rw,relatime)\ntmpfs on /run type tmpfs (rw,nosuid)\n"
MOUNTS = "/dev/sda1 /overlay ext4 rw,noatime 0 0\ntmpfs /run tmpfs ro 0 0\n"
MOUNTINFO = "22 27 0:21 / /proc rw,nosuid shared:13 - proc proc rw\n27 1 8:2 / / rw - ext4 /dev/sda2 rw\n"
FREE = "               total        used        free      shared  buff/cache   available\nMem:            31Gi       6.1Gi        11Gi       412Mi        13Gi        24Gi\nSwap:          2.0Gi       1.9Gi        96Mi\n"
MEMINFO = "MemTotal:       528280264 kB\nMemFree:        402118004 kB\n"
PSI = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
INSPECT = '[\n    {\n        "Id": "c2d9",\n        "State": {"OOMKilled": true, "ExitCode": 137},\n        "HostConfig": {}\n    }\n]\n'
POD = "    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n"
PODS = "NAME    READY   STATUS    RESTARTS   AGE\nweb-0   0/1     Error     3          5m\n"
LS = "total 36\n-rwxr-xr-x 1 root root 35664 Dec  9 04:30 rebuild-index\ndrwx------ 2 root root  4096 Dec  9 04:30 x\n"
SS = 'State    Recv-Q   Send-Q     Local Address:Port     Peer Address:Port  Process\nLISTEN   0        128        0.0.0.0:22     0.0.0.0:*      users:(("sshd",pid=71,fd=3))\n'
LDD = "\tlinux-vdso.so.1 (0x00007fa6ba55f000)\n\tlibsz.so.12 => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007fa6ba561000)\n"
TRACING = (
    "2026-06-11T03:40:14.901403Z  INFO daemon: starting version=0.7.3\n2026-06-11T03:40:15.1Z ERROR daemon: boom\n"
)
INIT = "[    6.012345] Run /sbin/init as init process\n"
SCRIPT = "#!/usr/bin/env bash\nset -e\necho hi\n"
JSON_LOG = '{"level":"info","msg":"a"}\n{"level":"error","msg":"b"}\n'
DOCKER_JSON = '{"log":"hello\\n","stream":"stdout","time":"2026-06-11T03:40:14.9Z"}\n'


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [
        # content beats name
        pytest.param("bin/run.sh.gz", "set -e\necho up\n", Kind.SCRIPT, id="a-compressed-script-by-its-name"),
        pytest.param("memory.max.gz", "4096\n", Kind.CGROUP, id="a-compressed-counter-by-its-name"),
        pytest.param("foo.txt", DMESG, Kind.KERNEL, id="dmesg-under-any-name"),
        pytest.param("foo.log", DMESG_T, Kind.KERNEL, id="dmesg-T"),
        pytest.param("foo", KMSG, Kind.KERNEL, id="kmsg"),
        pytest.param("messages", KERN, Kind.KERNEL, id="syslog-with-kernel-lines-only"),
        pytest.param("syslog", ISO, Kind.KERNEL, id="iso-stamps-kernel-only"),
        pytest.param("dmesg.txt", SYSLOG, Kind.JOURNAL, id="other-programs-make-a-journal"),
        pytest.param("export.json", JOURNAL_JSON, Kind.JOURNAL, id="journalctl-o-json"),
        pytest.param("x", STAT, Kind.PROC, id="proc-stat"),
        pytest.param("x.txt", STATUS, Kind.PROC, id="proc-status"),
        pytest.param("x.txt", LIMITS, Kind.PROC, id="proc-limits"),
        pytest.param("x.txt", SWEEP, Kind.PROC, id="proc-sweep"),
        pytest.param("x.txt", CGROUP_SWEEP, Kind.CGROUP, id="cgroup-sweep"),
        pytest.param("net/sockets", "==> /proc/net/tcp <==\n  sl  local_address\n", Kind.LISTING, id="other-files-of-proc"),
        pytest.param("x.txt", "12:memory:/docker/ab\n0::/init.scope\n", Kind.PROC, id="proc-cgroup"),
        pytest.param("x.txt", EVENTS, Kind.CGROUP, id="memory.events-under-any-name"),
        pytest.param("cgroup/memory.max", "137438953472\n", Kind.CGROUP, id="bare-number"),
        pytest.param("sys/fs/cgroup/a/memory.limit_in_bytes", "9223372036854771712\n", Kind.CGROUP, id="v1"),
        pytest.param("memory.stat.txt", "anon 1\nfile 2\n", Kind.CGROUP, id="cgroup-file-with-txt"),
        pytest.param("cgroup/memory.pressure", PSI, Kind.CGROUP, id="pressure-of-a-group"),
        pytest.param("pressure.txt", PSI, Kind.HOST, id="pressure-of-the-host"),
        pytest.param("x.txt", PS, Kind.PS, id="ps-with-lstart"),
        pytest.param("x.txt", PS_EF, Kind.PS, id="ps-ef"),
        pytest.param("x.txt", SMI, Kind.SMI, id="nvidia-smi-table"),
        pytest.param("x.txt", SMI_Q, Kind.SMI, id="nvidia-smi-q"),
        pytest.param("x.xml", SMI_XML, Kind.SMI, id="nvidia-smi-xml"),
        pytest.param("x.csv", SMI_CSV, Kind.SMI, id="nvidia-smi-csv"),
        pytest.param("x", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", Kind.SMI, id="smi-failed"),
        pytest.param("x", "Failed to initialize NVML: Driver/library version mismatch\n", Kind.SMI, id="nvml"),
        pytest.param("x", DF, Kind.DISK, id="df"),
        pytest.param("x", MOUNT, Kind.DISK, id="mount"),
        pytest.param("x", MOUNTS, Kind.DISK, id="proc-mounts"),
        pytest.param("x", MOUNTINFO, Kind.DISK, id="mountinfo"),
        pytest.param("x", FREE, Kind.HOST, id="free"),
        pytest.param("x", MEMINFO, Kind.HOST, id="meminfo"),
        pytest.param("x", "nr_free_pages 12\npgpgin 4\noom_kill 1\n", Kind.HOST, id="vmstat"),
        pytest.param("x", INSPECT, Kind.CONTAINER, id="docker-inspect"),
        pytest.param("x", POD, Kind.CONTAINER, id="pod-state"),
        pytest.param("x", PODS, Kind.CONTAINER, id="kubectl-get-pods"),
        pytest.param("x", LS, Kind.LISTING, id="ls"),
        pytest.param("x", SS, Kind.LISTING, id="ss"),
        pytest.param("x", LDD, Kind.LISTING, id="ldd"),
        pytest.param("x", SCRIPT, Kind.SCRIPT, id="shebang"),
        pytest.param("run.sh", "a & A=$!\nwait $A\n", Kind.SCRIPT, id="sh-without-shebang"),
        pytest.param("x", '{"dsn": "s3://a", "workers": 8}\n', Kind.CONFIG, id="json"),
        pytest.param("wslconfig", "[wsl2]\nmemory=48GB\n", Kind.CONFIG, id="ini"),
        pytest.param("job.env", "A=1\nB=2\n", Kind.CONFIG, id="env"),
        pytest.param("x.txt", TRACING, Kind.LOG, id="a-program's-log"),
        pytest.param("core", bytes(range(256)) * 9, Kind.BINARY, id="binary"),
        pytest.param("notes/1", "kernel\tdenied\n", Kind.PROBE, id="collector's-notes"),
        pytest.param("scripts/run.sh.meta", "path: /run.sh\n", Kind.PROBE, id="collector's-meta"),
        # looks like it, and is not
        pytest.param("app.log", "[    12.345] (II) NVIDIA GPU\n[    12.400] (II) ok\n", Kind.LOG, id="xorg-stamps-are-not-dmesg"),
        pytest.param("app.log", "[2026-05-08 12:55:40] iteration 1\n", Kind.LOG, id="bracketed-date"),
        pytest.param("train.log", TRACING + SMI + TRACING * 9, Kind.LOG, id="a-table-inside-a-log"),
        pytest.param("train.log", SMI + TRACING * 20, Kind.LOG, id="a-table-at-the-top-of-a-log"),
        pytest.param("app.log", JSON_LOG, Kind.LOG, id="json-lines"),
        pytest.param("app.log", DOCKER_JSON, Kind.LOG, id="docker-json-file"),
        pytest.param("run.sh", TRACING, Kind.LOG, id="a-log-called-sh"),
        pytest.param("job.out", "SLURM_JOB_ID=1\nSLURM_NTASKS=2\n", Kind.LOG, id="settings-printed-by-a-job"),
        pytest.param("out.log", "total 12 files\n" + TRACING, Kind.LOG, id="the-word-total"),
        pytest.param("kern.txt", "see the kernel log\n", Kind.LOG, id="kernel-in-the-name-only"),
        pytest.param("session.txt", "$ ps -p 4\n" + PS_EF, Kind.LOG, id="a-person-at-a-prompt"),
        pytest.param("cgroup.log", TRACING, Kind.LOG, id="cgroup-in-the-name-only"),
        pytest.param("app.log", "ERROR: cannot open /x: Permission denied\n", Kind.LOG, id="a-log-of-one-error"),
        pytest.param("hole.log", b"\0" * 4096 + TRACING.encode(), Kind.LOG, id="hole-of-zeros"),
        pytest.param("console.log", DMESG + INIT + "[net] up\n[net] lease\n/etc/rc: line 4: x: not found\n", Kind.JOURNAL,
                     id="console-with-programs"),
        pytest.param("console.log", DMESG * 4 + "torn kernel text\nmore of it\nand more\n", Kind.KERNEL, id="torn-before-init"),
        pytest.param("console.log", DMESG + INIT + "one torn line\n" + DMESG, Kind.KERNEL, id="one-bare-line-is-no-program"),
    ],
)  # fmt: skip
def test_kind(path: str, content: str | bytes, kind: Kind) -> None:
    data = content.encode() if isinstance(content, str) else content
    assert identify(path, data).kind is kind


@pytest.mark.parametrize(
    ("path", "content", "kind", "state"),
    [
        ("dmesg.txt", "dmesg: read kernel buffer failed: Operation not permitted\n", Kind.KERNEL, State.DENIED),
        ("nvidia-smi.txt", "bash: nvidia-smi: command not found\n", Kind.SMI, State.MISSING),
        ("nvidia-smi.txt", "sh: 1: nvidia-smi: not found\n", Kind.SMI, State.MISSING),
        ("cgroup/memory.events", "cat: /sys/fs/cgroup/memory.events: No such file or directory\n", Kind.CGROUP, State.MISSING),
        ("proc-41-status.txt", "cat: /proc/41/status: Permission denied\n", Kind.PROC, State.DENIED),
        ("journal.txt", "-- No entries --\n", Kind.JOURNAL, State.EMPTY),
        ("nvidia-smi.txt", "Failed to initialize NVML: Insufficient Permissions\n", Kind.SMI, None),
        ("dmesg.txt", DMESG, Kind.KERNEL, None),
        ("run.log", "cat: /params: Permission denied\n", Kind.LOG, None),
        ("a.txt", "bash: nvidia-smi: command not found\n", Kind.SMI, State.MISSING),
        ("a.txt", "sh: 1: dmesg: not found\n", Kind.KERNEL, State.MISSING),
        ("a.txt", "./run.sh: line 3: nvidia-smi: command not found\n", Kind.LOG, None),
        ("a.txt", "bash: cargo: command not found\n", Kind.LOG, None),
        ("run.log", "bash: nvidia-smi: command not found\n", Kind.LOG, None),
        ("a.txt", '{"level":30,"time":1714564800123,"msg":"up"}\n\nFATAL ERROR: heap\n 1: 0x7f node::Abort\n', Kind.LOG, None),
        ("a.txt", '{"level": "info"}\n', Kind.CONFIG, None),
        ("a.txt", "A=1\nB=2\nC=3\n", Kind.CONFIG, None),
        ("a.txt", "t=   0.5 E=-77.1\nt=   1.0 E=-77.2\nt=   1.5 E=-77.3\n", Kind.LOG, None),
        ("a.txt", 'ts=2026-05-01T12:00:00Z level=info msg=up\nts=2026-05-01T12:00:01Z level=info msg=on\n', Kind.LOG, None),
    ],
)  # fmt: skip
def test_an_error_in_the_place_of_the_content(path: str, content: str, kind: Kind, state: State | None) -> None:
    seen = identify(path, content.encode())
    assert (seen.kind, seen.state) == (kind, state)
    assert seen.reason == (content.strip() if state else "")


PATTERNS = ["NVRM: Xid", r"(?i)^error", "never seen"]


def sources(files: dict[str, str | bytes], margins: dict[str, tuple[int, int]] | None = None) -> dict[str, Source]:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    with open_bundle("-", io.BytesIO(out.getvalue())) as bundle:
        return {source.path: source for source in read_sources(bundle, build(PATTERNS), margins or {})}


def test_hits_and_text() -> None:
    source = sources({"x/foo.txt": DMESG})["x/foo.txt"]
    assert (source.kind, source.state, source.dialect) == (Kind.KERNEL, State.WHOLE, "dmesg")
    assert source.hits == {"NVRM: Xid": (2,)}
    assert source.hit_counts == {"NVRM: Xid": 1}
    assert (source.text.line(2) or "").startswith("[  101.500000] NVRM: Xid")


def test_a_hole_of_zeros_at_the_start_is_told() -> None:
    assert identify("app.log", b"\0" * 4096 + TRACING.encode()).reason == "begins with 4096 NUL bytes"
    assert identify("app.log", b"\0" * 3 + TRACING.encode()).reason == ""


def test_states() -> None:
    read = sources(
        {"empty.log": "", "core": bytes(range(256)) * 20, "dmesg.txt": "dmesg: read failed: Operation not permitted\n"}
    )
    assert read["empty.log"].state is State.EMPTY
    assert (read["core"].kind, read["core"].text.count) == (Kind.BINARY, 0)
    assert (read["dmesg.txt"].state, read["dmesg.txt"].text.count) == (State.DENIED, 1)
    assert read["dmesg.txt"].reason.endswith("Operation not permitted")


def test_utf_16_is_read() -> None:
    read = sources({"wsl.log": b"\xff\xfe" + "error: kaputt\r\n".encode("utf-16-le")})["wsl.log"]
    assert read.text.line(1) == "error: kaputt"
    assert read.hits == {"(?i)^error": (1,)}


def test_a_pattern_that_hits_every_line_is_capped() -> None:
    count = 60_000
    lines = [f"error {n:06d} " + "x" * 90 + "\n" for n in range(1, count + 1)]
    lines[40_000] = "NVRM: Xid (PCI:0000:01:00): 79\n"
    source = sources({"flood.log": "".join(lines)}, {"NVRM: Xid": (5, 9)})["flood.log"]
    hits = source.hits["(?i)^error"]
    assert source.hit_counts["(?i)^error"] == count - 1
    assert len(hits) == FIRST_HITS + LAST_HITS
    assert (hits[0], hits[-1]) == (1, count)
    assert list(hits) == sorted(hits)
    assert all(source.text.line(n) for n in hits)
    assert not source.text.whole
    assert all(source.text.line(n) for n in range(40_001 - 5, 40_001 + 10))
    assert source.text.line(30_000) is None


def test_lines_of_programs_far_down_make_a_journal() -> None:
    read = sources({"messages": KERN * 900 + SYSLOG.splitlines(True)[-1] * 900})["messages"]
    assert read.kind is Kind.JOURNAL


def test_scripts_keep_carriage_returns_and_json_keeps_long_lines() -> None:
    read = sources(
        {"run.sh": "#!/bin/bash\r\nset -e\r\n", "inspect.json": json.dumps([{"HostConfig": {"x": "y" * 100_000}}])}
    )
    assert read["run.sh"].text.line(1) == "#!/bin/bash\r"
    assert json.loads(read["inspect.json"].text.line(1) or "")[0]["HostConfig"]["x"] == "y" * 100_000


def manifest(*probes: dict[str, object]) -> str:
    return json.dumps({"schema": "postmortem/bundle/v1", "complete": True, "redacted": True, "probes": probes})


def test_states_of_probes() -> None:
    read = sources(
        {
            "gpu/nvidia-smi": SMI,
            "logs/tail/app.log": TRACING,
            "host/uptime": "",
            "manifest.json": manifest(
                {"name": "kernel.log", "state": "denied", "reason": "EPERM, no CAP_SYSLOG"},
                {
                    "name": "gpu.smi",
                    "state": "hung",
                    "reason": "waits in os_acquire_rwlock",
                    "member": "gpu/nvidia-smi",
                },
                {"name": "gpu.smi-q", "state": "timeout", "reason": "4 s", "member": "gpu/nvidia-smi-q"},
                {"name": "logs.tail", "state": "whole", "member": "logs/tail/app.log"},
                {"name": "logs.tail", "state": "missing", "member": "logs/tail/other.log"},
                {"name": "logs.tail", "state": "denied", "reason": "EACCES", "member": "logs/tail/secret.log"},
                {"name": "host.uptime", "state": "timeout", "reason": "lxcfs", "member": "host/uptime"},
            ),
        }
    )
    told = {
        path: (source.kind, source.state, source.reason)
        for path, source in read.items()
        if source.state is not State.WHOLE
    }
    assert told == {
        "kernel.log": (Kind.KERNEL, State.DENIED, "EPERM, no CAP_SYSLOG"),
        "gpu/nvidia-smi": (Kind.SMI, State.CUT, "hung: waits in os_acquire_rwlock"),
        "gpu/nvidia-smi-q": (Kind.SMI, State.TIMEOUT, "4 s"),
        "logs/tail/secret.log": (Kind.LOG, State.DENIED, "EACCES"),
        "host/uptime": (Kind.HOST, State.TIMEOUT, "lxcfs"),
    }


def test_a_kernel_log_read_another_way_is_no_gap() -> None:
    read = sources(
        {
            "kernel/dmesg": DMESG,
            "manifest.json": manifest(
                {"name": "kernel.log", "state": "denied", "reason": "/dev/kmsg: EPERM"},
                {"name": "kernel.log", "state": "whole", "member": "kernel/dmesg"},
            ),
        }
    )
    assert {path for path, source in read.items() if source.kind is Kind.KERNEL} == {"kernel/dmesg"}


def test_refused_members_are_sources(tmp_path: Path) -> None:
    (tmp_path / "passwd.log").symlink_to("/etc/passwd")
    (tmp_path / "app.log").write_text(TRACING)
    with open_bundle(tmp_path) as bundle:
        read = {s.path: s.state for s in read_sources(bundle, build(PATTERNS, "plain"), {})}
    assert read == {"app.log": State.WHOLE, "passwd.log": State.REFUSED}


@pytest.mark.parametrize(
    ("path", "log", "age"),
    [
        ("a/app.log", "a/app.log", 0),
        ("a/app.log.1", "a/app.log", 1),
        ("a/app.log.12.gz", "a/app.log", 12),
        ("syslog.gz", "syslog", 0),
        ("messages-20260501", "messages", 79_739_498),
        ("messages-20260501.xz", "messages", 79_739_498),
        ("run.2026", "run.2026", 0),
        ("core-12345678", "core-12345678", 0),
    ],
)
def test_the_log_that_a_rotated_file_is_a_part_of(path: str, log: str, age: int) -> None:
    assert rotation(path) == (log, age)


def test_of_very_many_members_those_with_nothing_known_are_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("a.log", "quiet\n"), ("b.log", "quiet\n"), ("c.log", "quiet\n"), ("d.log", "a needle\n")):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr("postmortem.sources.read.MEMBERS", 2)
    with open_bundle(tmp_path) as bundle:
        told = {s.path: (s.state, s.text.line(1), s.text.count) for s in read_sources(bundle, build(["needle"]), {})}
    kept, gone = (State.WHOLE, "quiet", 1), (State.OVER_BUDGET, None, 1)
    assert told == {"a.log": kept, "b.log": kept, "c.log": gone, "d.log": (State.WHOLE, "a needle", 1)}
