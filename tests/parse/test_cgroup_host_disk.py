"""Counters as files, sweeps and tables -> facts."""


from __future__ import annotations

import pytest

from postmortem.model import Fact, Kind
from postmortem.parse import cgroup, disk, host, parse
from postmortem.parse.cgroup import file_of, group_of
from reading import facts, reading

V2_EVENTS = "low 0\nhigh 0\nmax 12\noom 2\noom_kill 1\noom_group_kill 0\n"

FILES: dict[str, tuple[str, str, dict[str, object]]] = {
    "v2-events": ("cgroup/memory.events", V2_EVENTS,
                  {"cgroup.memory.oom_kill[own]": 1, "cgroup.memory.oom[own]": 2, "cgroup.memory.max_events[own]": 12, "cgroup.version[own]": "v2"}),
    "v2-events-zero-is-a-fact": ("cgroup/self/v2/memory.events", "oom 0\noom_kill 0\n", {"cgroup.memory.oom_kill[own]": 0}),
    "v2-events-local": ("cgroup/self/v2/memory.events.local", "oom 0\noom_kill 3\n",
                        {"cgroup.memory.local.oom_kill[own]": 3, "cgroup.memory.oom_kill[own]": None}),
    "v2-limit": ("cgroup/memory.max", "536870912\n", {"cgroup.memory.limit[own]": 536870912}),
    "v2-unlimited": ("cgroup/memory.max", "max\n", {"cgroup.memory.limit[own]": None, "cgroup.version[own]": "v2"}),
    "v2-peak-in-a-text-file": ("own-memory.peak.txt", "911220736\n", {"cgroup.memory.peak[own]": 911220736}),
    "v1-limit": ("cgroup/self/v1/memory/memory.limit_in_bytes", "201326592\n", {"cgroup.memory.limit[own]": 201326592, "cgroup.version[own]": "v1"}),
    "v1-unlimited": ("cgroup/self/v1/memory/memory.limit_in_bytes", "9223372036854771712\n", {"cgroup.memory.limit[own]": None}),
    "v1-oom-control": ("cgroup/memory.oom_control", "oom_kill_disable 0\nunder_oom 1\noom_kill 1\n",
                       {"cgroup.memory.oom_kill[own]": 1, "cgroup.memory.under_oom[own]": 1}),
    "v1-failcnt": ("cgroup/memory.failcnt", "573\n", {"cgroup.memory.failcnt[own]": 573}),
    "pids": ("cgroup/pids.events", "max 1911\n", {"cgroup.pids.max_events[own]": 1911}),
    "pids-unlimited": ("cgroup/pids.max", "max\n", {"cgroup.pids.max[own]": None}),
    "cpu": ("cgroup/self/v1/cpu/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 1\n", {"cgroup.cpu.nr_throttled[own]": 4}),
    "another-group-of-a-tree": ("host/sys/fs/cgroup/memory/docker/a1/memory.failcnt", "7\n", {"cgroup.memory.failcnt[/docker/a1]": 7}),
    "paths": ("cgroup/paths", "# version controller path folder mount\nv1 memory /docker/a1 /sys/fs/cgroup/memory /sys/fs/cgroup/memory\n",
              {"cgroup.path[own]": "/docker/a1"}),
    "sweep": ("cgroup/sweep", "==> /sys/fs/cgroup/memory/docker/a b/memory.limit_in_bytes <==\n1024\n\n"
              "==> /sys/fs/cgroup/memory/docker/a b/memory.max_usage_in_bytes <==\n1000\n\n"
              "==> /sys/fs/cgroup/system.slice/memory.events <==\noom_kill 2\n",
              {"cgroup.memory.limit[/docker/a b]": 1024, "cgroup.memory.peak_ratio[/docker/a b]": 0.9766, "cgroup.memory.oom_kill[/system.slice]": 2}),
    "grep-output": ("cgroup/memory.txt", "/sys/fs/cgroup/memory.max:2048\n/sys/fs/cgroup/memory.events:oom_kill 4\n",
                    {"cgroup.memory.limit[/]": 2048, "cgroup.memory.oom_kill[/]": 4}),
    "an-io-stat-is-no-memory": ("cgroup/io.stat", "8:0 rbytes=1 max 3\noom_kill 9\n", {"cgroup.memory.oom_kill[own]": None}),
}  # fmt: skip


@pytest.mark.parametrize(("path", "text", "expected"), FILES.values(), ids=FILES)
def test_cgroup_files(path: str, text: str, expected: dict[str, object]) -> None:
    made = facts(cgroup.PARSER, text, Kind.CGROUP, path)
    assert {name: made.get(name) for name in expected} == expected


def test_peak_ratio_joins_two_members_of_one_group() -> None:
    members = [
        reading("536870912\n", Kind.CGROUP, "cgroup/memory.max"),
        reading("187432960\n", Kind.CGROUP, "cgroup/memory.peak"),
        reading("1024\n", Kind.CGROUP, "sys/fs/cgroup/docker/b/memory.peak"),
    ]
    ratios = [f for f in parse(members, (cgroup.PARSER,)) if isinstance(f, Fact) and f.name.endswith("ratio")]
    assert [(f.value, f.entity["cgroup"], f.evidence.source) for f in ratios] == [(0.3491, "own", "cgroup/memory.peak")]


@pytest.mark.parametrize(
    ("path", "file", "group"),
    [
        ("cgroup/memory.events", "memory.events", "own"),
        ("memory.events", "memory.events", "own"),
        ("cgroup/self/v1/cpu,cpuacct/cpu.stat", "cpu.stat", "own"),
        ("bundle/cgroup/self/v2/memory.events.local", "memory.events.local", "own"),
        ("/sys/fs/cgroup/memory.max", "memory.max", "/"),
        ("/sys/fs/cgroup/unified/a/memory.max", "memory.max", "/a"),
        ("sos/sys/fs/cgroup/memory/kubepods/pod1/c/memory.failcnt", "memory.failcnt", "/kubepods/pod1/c"),
        ("cgroup/sweep", "", "own"),
        ("notes/memory.md.bak", "", "own"),
    ],
)
def test_names(path: str, file: str, group: str) -> None:
    assert (file_of(path), group_of(path)) == (file, group)


G = 1 << 30
HOSTS: dict[str, tuple[str, str, dict[str, object]]] = {
    "meminfo": ("proc/meminfo", "MemTotal:       16303428 kB\nMemAvailable:   11482312 kB\nSwapTotal:             0 kB\nShmem:  12 kB\n",
                {"host.mem.total": 16303428 * 1024, "host.mem.available": 11482312 * 1024, "host.mem.swap_total": 0, "host.mem.shmem": 12288}),
    "vmstat": ("proc/vmstat", "nr_free_pages 12\noom_kill 3\n", {"host.vmstat.oom_kill": 3}),
    "vmstat-zero": ("proc/vmstat", "oom_kill 0\n", {"host.vmstat.oom_kill": 0}),
    "stat": ("proc/stat", "cpu  1 2 3\nbtime 1714564800\nprocs_blocked 2\n", {"host.boot_time": 1714564800, "host.procs_blocked": 2}),
    "uptime": ("proc/uptime", "1234.56 99.00\n", {"host.uptime": 1234.56}),
    "pressure": ("proc/pressure/memory", "some avg10=0.10 avg60=1.50 avg300=0.00 total=9\nfull avg10=0.00 avg60=0.50 avg300=0.00 total=7\n",
                 {"host.pressure.memory.some_avg60": 1.5, "host.pressure.memory.full_avg60": 0.5}),
    "free-kib": ("free.txt", "               total        used        free      shared  buff/cache   available\n"
                 "Mem:         1881912     1790220       60112        9012       31580       19220\nSwap:             0           0           0\n",
                 {"host.mem.total": 1881912 * 1024, "host.mem.available": 19220 * 1024, "host.mem.swap_total": 0, "host.mem.shmem": 9012 * 1024}),
    "free-mib": ("free.txt", "              total        used        free      shared  buff/cache   available\nMem: 32071 8110 11220 210 12741 23310\n",
                 {"host.mem.total": 32071 << 20}),
    "free-human": ("free.txt", "               total        used        free      shared  buff/cache   available\n"
                   "Mem:            31Gi       6.1Gi        11Gi       412Mi        13Gi        24Gi\nSwap:          2.0Gi       1.9Gi        96Mi\n",
                   {"host.mem.total": 31 * G, "host.mem.available": 24 * G, "host.mem.swap_free": 96 << 20}),
    "free-old": ("free.txt", "             total       used       free     shared    buffers     cached\n"
                 "Mem:       8061508    7900000     161508          0     200000    3000000\n-/+ buffers/cache:    4700000    3361508\n",
                 {"host.mem.total": 8061508 * 1024, "host.mem.available": 3361508 * 1024}),
    "free-without-a-unit-too-small-to-tell": ("free.txt", " total used free shared buff/cache available\nMem: 62 3 51 0 7 58\n", {"host.mem.total": None}),
    "other-counters": ("proc/vmstat", "oom_kill_total 4\npgmajfault 7\n", {"host.vmstat.oom_kill": None}),
}  # fmt: skip


@pytest.mark.parametrize(("path", "text", "expected"), HOSTS.values(), ids=HOSTS)
def test_host(path: str, text: str, expected: dict[str, object]) -> None:
    made = facts(host.PARSER, text, Kind.HOST, path)
    assert {name: made.get(name) for name in expected} == expected


DF = "Filesystem      Size  Used Avail Use% Mounted on\n"
DISKS: dict[str, tuple[str, dict[str, object]]] = {
    "df-h": (DF + "/dev/nvme1n1p1   47G   47G     0 100% /mnt/params\ntmpfs  64M  0  64M   0% /dev/shm\n", {"disk.use[/mnt/params]": 100, "disk.use[/dev/shm]": 0}),
    "df-k-posix": ("Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vda1 30308240 30292 -4 101% /\n", {"disk.use[/]": 101}),
    "df-T": ("Filesystem Type Size Used Avail Use% Mounted on\n/dev/vda1 ext4 29G 29G 0 100% /a b\n", {"disk.use[/a b]": 100}),
    "df-i": ("Filesystem Inodes IUsed IFree IUse% Mounted on\n10.4.1.9:/pvc 131072 131072 0 100% /web\n", {"disk.inode_use[/web]": 100, "disk.use[/web]": None}),
    "df-and-df-i": (DF + "/dev/sda1 10G 1G 9G 10% /x\n\nFilesystem Inodes IUsed IFree IUse% Mounted on\n/dev/sda1 10 9 1 90% /x\n", {"disk.use[/x]": 10, "disk.inode_use[/x]": 90}),
    "df-wrapped": (DF + "/dev/mapper/a-very-long-volume-group-name\n                      492G  210G  257G  45% /data\n", {"disk.use[/data]": 45}),
    "df-dash": (DF + "proc   0  0  0  - /proc\n", {"disk.use[/proc]": None}),
    "proc-mounts": ("/dev/sdb1 /mnt/sdb1 ext4 ro,relatime 0 0\n/dev/sda1 /my\\040disk ext4 rw,noatime 0 0\n", {"disk.read_only[/mnt/sdb1]": True, "disk.read_only[/my disk]": False}),
    "errors-option": ("/dev/nvme0n1p5 / ext4 rw,relatime,errors=remount-ro 0 0\n", {"disk.read_only[/]": False}),
    "mount-output": ("/dev/nvme0n1p2 on / type ext4 (ro,relatime)\ntmpfs on /run type tmpfs (rw,nosuid)\n", {"disk.read_only[/]": True, "disk.read_only[/run]": None}),
    "noexec": ("/dev/sdb on /srv type xfs (rw,noexec,relatime)\n", {"disk.noexec[/srv]": True}),
    "noexec-tmpfs-of-the-user": ("tmpfs on /mnt/tools type tmpfs (rw,noexec)\ntmpfs on /run type tmpfs (rw,noexec)\n", {"disk.noexec[/mnt/tools]": True, "disk.noexec[/run]": None}),
    "mountinfo": ("36 35 98:0 / /data rw,noatime master:1 - ext3 /dev/root ro,errors=continue\n", {"disk.read_only[/data]": True}),
    "read-only-by-nature": ("/dev/loop1 /snap/core squashfs ro,nodev 0 0\nproc /proc/bus proc ro 0 0\n", {"disk.read_only[/snap/core]": None, "disk.read_only[/proc/bus]": None}),
    "a-percent-outside-a-table": ("progress 100 100 0 100% /mnt\n", {"disk.use[/mnt]": None}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), DISKS.values(), ids=DISKS)
def test_disk(text: str, expected: dict[str, object]) -> None:
    made = facts(disk.PARSER, text, Kind.DISK, "df.txt")
    assert {name: made.get(name) for name in expected} == expected
