"""Faults around a collection, each a row: it survives, in time, loses nothing complete, and leaks nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import Fault, possible, run

SMI = 'printf "%s\\n" \'#!/bin/sh\' {lines} >"$D/bin/nvidia-smi"; chmod +x "$D/bin/nvidia-smi"; PATH=$D/bin:$PATH; '
ORDINARY = 'timed $PM -o "$D/out/b.tar.gz"'


def smi(*lines: str) -> str:
    return SMI.format(lines=" ".join(f"'{line}'" for line in lines)) + ORDINARY


def stuck(operation: str, name: str = "") -> str:
    return f'mkdir "$D/mnt"; hang "$D/mnt" {operation} {name}; '


STUCK_LOG = 'timed $PM --log "$D/mnt/*.log" --log "$D/mnt/stuck.log" -o "$D/out/b.tar.gz"'
HUNG = "hung|timeout"

FAULTS = (
    Fault("nothing at all (a control)", ORDINARY, complete=True),
    # what never answers
    Fault("a log whose read never answers", stuck("read") + STUCK_LOG, 3.5, states={"mnt/stuck.log": HUNG}),
    Fault("a log whose open never answers", stuck("open") + STUCK_LOG, 3.5, states={"mnt/stuck.log": HUNG}),
    Fault("a log whose stat never answers", stuck("lookup") + STUCK_LOG, 3.5, states={"mnt/stuck.log": HUNG}),
    Fault("a folder of logs that cannot be listed", stuck("readdir") + STUCK_LOG, 3.5, states={"/mnt/": HUNG}),
    Fault("an nvidia-smi on a dead file system", stuck("read", "nvidia-smi") + "PATH=$D/mnt:$PATH; " + ORDINARY, 4, states={"nvidia-smi": HUNG}),
    Fault("an output folder that never answers", stuck("create") + 'cd "$D/out"; timed $PM -o "$D/mnt/b.tar.gz"', 5),
    Fault("a mount whose statfs never answers", stuck("statfs") + ORDINARY, 4, states={"df-mount": HUNG}),
    Fault("nvidia-smi that ignores TERM", smi('trap "" TERM INT HUP', "while :; do sleep 1; done"), 3, states={"nvidia-smi": HUNG}),
    Fault("nvidia-smi that floods", smi("while :; do echo 0, flood, flood; done"), 3, states={"nvidia-smi": HUNG}),
    Fault("nvidia-smi whose child keeps its output", smi("sleep 31 &", "echo index, uuid", "sleep 32"), 3, states={"nvidia-smi": HUNG}),
    Fault("nvidia-smi that prints half a line", smi("echo index, uuid", "printf half", "sleep 30"), 3, states={"nvidia-smi": HUNG}),
    # no room
    Fault("output on a 200 KB tmpfs", 'mkdir "$D/disk"; mount -t tmpfs -o size=200k none "$D/disk"; head -c 400000 /dev/urandom | od -An -tx1 >"$D/noise.log"; timed $PM --log "$D/noise.log" -o "$D/disk/b.tar.gz"; cp "$D"/disk/* "$D/out"', complete=False),
    Fault("a full disk and standard output at once", 'mkdir "$D/disk"; mount -t tmpfs -o size=64k none "$D/disk"; head -c 400000 /dev/urandom | od -An -tx1 >"$D/noise.log"; timed sh -c "$PM --log $D/noise.log -o $D/disk/b.tar.gz -o - >$D/out/b.tar.gz"', complete=True),
    Fault("a read-only root", 'mount --bind "$D" "$D"; mount -o remount,bind,ro /; ' + ORDINARY, complete=True),
    Fault("no folder that can be written, standard output only", 'mount --bind "$D" "$D"; for f in /dev/shm /run /tmp /var/tmp /dev /; do ! grep -q " $f " /proc/mounts || mount -o remount,bind,ro $f; done; timed sh -c "POSTMORTEM_SPOOL= $PM -o - >$D/out/b.tar.gz"', keeps=("START", "manifest.json", "END", "host/meminfo", "proc/sweep/stat")),
    # no view
    Fault("no /proc", "umount -l /proc; umount -l /proc; " + ORDINARY),
    Fault("the /proc of another PID namespace", "umount -l /proc; " + ORDINARY),
    Fault("no /sys/fs/cgroup", "umount -l /sys/fs/cgroup/* /sys/fs/cgroup; " + ORDINARY, complete=True),
    Fault("a /proc with hidepid, and a user without rights", 'mount -o remount,hidepid=2 /proc; chmod 777 "$D/out" "$D"; timed setpriv --reuid 65534 --clear-groups $PM -o "$D/out/b.tar.gz"', states={"kernel.log": "denied"}),
    Fault("all capabilities dropped", 'timed setpriv --bounding-set -all --inh-caps -all --no-new-privs $PM -o "$D/out/b.tar.gz"'),
    # no means
    Fault("no more processes (pids.max)", 'g=/sys/fs/cgroup/pids; [ -d $g ] || g=/sys/fs/cgroup; g=$g/pm-$$; mkdir $g; timed sh -c "echo 0 >$g/cgroup.procs; echo 2 >$g/pids.max; exec $PM -o $D/out/b.tar.gz"; sleep 0.2; rmdir $g', keeps=("START", "manifest.json", "END", "host/meminfo", "proc/sweep/stat"), complete=False),
    Fault("few more processes (pids.max)", 'g=/sys/fs/cgroup/pids; [ -d $g ] || g=/sys/fs/cgroup; g=$g/pm-$$; mkdir $g; timed sh -c "echo 0 >$g/cgroup.procs; echo 5 >$g/pids.max; exec $PM -o $D/out/b.tar.gz"; sleep 0.2; rmdir $g', keeps=("START", "manifest.json", "END", "host/meminfo", "proc/sweep/stat"), complete=False),
    Fault("no more file descriptors", 'timed sh -c "ulimit -n 8; exec $PM -o $D/out/b.tar.gz"', keeps=("START", "manifest.json", "END", "host/meminfo"), complete=False),
    Fault("few file descriptors", 'timed sh -c "ulimit -n 24; exec $PM -o $D/out/b.tar.gz"', complete=True),
    Fault("a memory cgroup of 64 MiB", 'if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then g=/sys/fs/cgroup/memory/pm-$$; f=memory.limit_in_bytes; else g=/sys/fs/cgroup/pm-$$; f=memory.max; fi; mkdir $g; echo 67108864 >$g/$f; seq 1 3000000 >"$D/big.log"; timed sh -c "echo 0 >$g/cgroup.procs; exec $PM --log $D/big.log -o $D/out/b.tar.gz"; sleep 0.2; rmdir $g', deadline=10, complete=True),
    # all of it
    Fault("a stuck log, a stuck nvidia-smi, a stuck df and a full disk at once", stuck("read") + 'mkdir "$D/mnt2" "$D/disk"; hang "$D/mnt2" statfs; mount -t tmpfs -o size=200k none "$D/disk"; head -c 400000 /dev/urandom | od -An -tx1 >"$D/noise.log"; printf "%s\\n" "#!/bin/sh" "trap \'\' TERM" "while :; do sleep 1; done" >"$D/bin/nvidia-smi"; chmod +x "$D/bin/nvidia-smi"; PATH=$D/bin:$PATH; timed $PM --log "$D/noise.log" --log "$D/mnt/stuck.log" -o "$D/disk/b.tar.gz"; cp "$D"/disk/* "$D/out"', 6, states={"nvidia-smi": HUNG, "mnt/stuck.log": HUNG}, complete=False),
)  # fmt: skip


@pytest.mark.root
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_fault_is_survived(fault: Fault, room: Path) -> None:
    if not possible():
        pytest.skip("needs root and unshare")
    outcome = run(fault, room)
    outcome.record()
    assert not outcome.wrong
