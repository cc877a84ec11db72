"""Killers outside the kernel, and managers' words on a kernel kill."""


from __future__ import annotations

import pytest

from postmortem.model import Kind
from postmortem.parse.oom_userspace import PARSER
from reading import events

J = "May 01 12:00:00 host "
SLICE = "/user.slice/user-1000.slice/user@1000.service/app.slice/term-1.scope"

LINES = {
    "earlyoom-1.8": (Kind.JOURNAL, J + 'earlyoom[9]: sending SIGTERM to process 7378 uid 1000 "tail": oom_score 156, oom_score_adj 0, VmRSS 4962 MiB, cmdline "tail /dev/zero"',
                     {"kind": "oom.userspace", "killer": "earlyoom", "victim": "tail", "pid": "7378", "signal": "SIGTERM", "rss_mib": "4962", "uid": "1000"}),
    "earlyoom-1.6": (Kind.JOURNAL, J + 'earlyoom[9]: sending SIGKILL to process 397 uid 61876 "code": badness 866, VmRSS 5 MiB',
                     {"killer": "earlyoom", "victim": "code", "signal": "SIGKILL"}),
    "earlyoom-1.3": (Kind.LOG, 'sending SIGTERM to process 12006 "python3": badness 209, VmRSS 2891 MiB', {"victim": "python3", "pid": "12006"}),
    "earlyoom-1.2": (Kind.LOG, 'killing process 27541 "bash" with signal 15: badness 550, VmRSS 7609 MiB', {"victim": "bash", "pid": "27541", "signal": "15"}),
    "earlyoom-1.0": (Kind.LOG, "Killing process 'bash' with signal 15, pid: 5874, badness: 538, VmRSS: 3160 MiB", {"victim": "bash", "pid": "5874"}),
    "oomd-pressure": (Kind.JOURNAL, J + f"systemd-oomd[840]: Killed {SLICE} due to memory pressure for /user.slice/user-1000.slice being 64.30% > 50.00% for > 20s with reclaim activity",
                      {"killer": "systemd-oomd", "cgroup": SLICE, "unit": "term-1.scope"}),
    "oomd-swap": (Kind.JOURNAL, J + f"systemd-oomd[840]: Killed {SLICE} due to memory used (16106127360) / total (16777216000) and swap used (8000000000) / total (8388608000) being more than 90.00%",
                  {"killer": "systemd-oomd", "unit": "term-1.scope"}),
    "oomd-new-wording": (Kind.JOURNAL, J + f"systemd-oomd[840]: Marked {SLICE} for killing due to memory pressure for /a being 60.00% > 50.00% for > 30s with reclaim activity",
                         {"killer": "systemd-oomd", "cgroup": SLICE}),
    "oomd-told-by-systemd": (Kind.JOURNAL, J + "systemd[1]: x.scope: systemd-oomd killed 291 process(es) in this unit.", {"killer": "systemd-oomd", "unit": "x.scope", "count": "291"}),
    "kubelet-eviction-event": (Kind.CONTAINER, "  Warning  Evicted  2m  kubelet  The node was low on resource: memory. Threshold quantity: 100Mi, available: 70Mi. Container worker was using 1924152Ki, request is 0, has larger consumption of memory.",
                               {"killer": "kubelet", "container": "worker", "reason": "memory"}),
    "kubelet-eviction-log": (Kind.LOG, 'I0725 10:14:25.301020 1411 eviction_manager.go:355] "Eviction manager: must evict pod(s) to reclaim" resourceName="memory"',
                             {"killer": "kubelet"}),
    "kubelet-system-oom-is-the-kernels-kill": (Kind.LISTING, "6m1s Warning SystemOOM node/mini-1 System OOM encountered, victim process: web vision, pid: 12411",
                                               {"kind": "oom.kill", "victim": "web vision", "pid": "12411", "scope": "host", "told_by": "kubelet"}),
    "slurm-22": (Kind.LOG, "slurmstepd: error: Detected 1 oom_kill event in StepId=204.batch. Some of the step tasks have been OOM Killed.",
                 {"kind": "oom.kill", "scope": "cgroup", "told_by": "slurm", "unit": "StepId=204.batch", "count": "1"}),
    "slurm-19": (Kind.LOG, "slurmstepd: error: Detected 2 oom-kill event(s) in step 33.0 cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.",
                 {"kind": "oom.kill", "unit": "step 33.0", "count": "2"}),
    "slurm-own-kill": (Kind.LOG, "slurmstepd: error: Job 123 exceeded memory limit (5000 > 4000), being killed", {"kind": "oom.userspace", "killer": "slurm"}),
    "pbs": (Kind.LOG, "=>> PBS: job killed: mem 4194304kb exceeded limit 2097152kb", {"killer": "pbs"}),
    "lsf": (Kind.LOG, "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.", {"killer": "lsf"}),
    "yarn": (Kind.LOG, "Container [pid=41,containerID=container_1_0001_01_000003] is running beyond physical memory limits. Current usage: 1.1 GB of 1 GB physical memory used. Killing container.",
             {"killer": "yarn", "pid": "41", "container": "container_1_0001_01_000003"}),
    "ray": (Kind.LOG, "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.", {"killer": "ray"}),
    "systemd-process": (Kind.JOURNAL, J + "systemd[1]: x.service: A process of this unit has been killed by the OOM killer.", {"kind": "oom.unit", "unit": "x.service", "what": "process"}),
    "systemd-result": (Kind.JOURNAL, J + "systemd[1]: x.service: Failed with result 'oom-kill'.", {"kind": "oom.unit", "unit": "x.service", "what": "result"}),
    "systemd-run": (Kind.LOG, "Finished with result: oom-kill", {"kind": "oom.unit", "what": "result"}),
    "containerd": (Kind.JOURNAL, J + 'containerd[5]: time="2024-02-19T16:21:41.911730218Z" level=info msg="TaskOOM event &TaskOOM{ContainerID:91f44d83fb329f33c90fcce825e1a907777c42c0fea241a873e9c558b1fb4a20,XXX_unrecognized:[],}"',
                   {"kind": "oom.unit", "container": "91f44d83fb329f33c90fcce825e1a907777c42c0fea241a873e9c558b1fb4a20"}),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "line", "expected"), LINES.values(), ids=LINES)
def test_killers(kind: Kind, line: str, expected: dict[str, str]) -> None:
    (made,) = events(PARSER, line, kind, "x.log")
    assert {k: made.get(k) for k in expected} == expected


def test_earlyoom_says_why() -> None:
    text = (
        J + "earlyoom[9]: low memory! at or below SIGTERM limits: mem 10.00%, swap 10.00%\n" + J + "earlyoom[9]: "
        'sending SIGTERM to process 8 uid 0 "a": badness 9, VmRSS 5 MiB\n'
    )
    (made,) = events(PARSER, text, Kind.JOURNAL, "journal.txt")
    assert made["reason"] == "low memory! at or below SIGTERM limits: mem 10.00%, swap 10.00%"


def test_the_units_manager_repeats_the_same_kill() -> None:
    text = (
        J + f"systemd-oomd[840]: Killed {SLICE} due to memory pressure for /a being 64.30% > 50.00% for > 20s with reclaim activity\n"
        + J + "systemd[9]: term-1.scope: systemd-oomd killed 12 process(es) in this unit.\n"
    )  # fmt: skip
    assert len(events(PARSER, text, Kind.JOURNAL, "journal.txt")) == 1


SILENT = {
    "earlyoom-start": "sending SIGTERM when mem <= 10.00% and swap <= 10.00%,",
    "earlyoom-state": "mem avail:  9120 of 31808 MiB (28.67%), swap free: 9011 of 15903 MiB (56.66%)",
    "slurm-zero": "slurmstepd: error: Detected 0 oom_kill event in StepId=204.batch.",
    "slurm-cache-pressure": "slurmstepd: error: Exceeded step memory limit at some point.",
    "eviction-for-disk": "The node was low on resource: ephemeral-storage. Container x was using 9Ki",
    "eviction-log-for-disk": 'eviction_manager.go:355] "Eviction manager: must evict pod(s) to reclaim" resourceName="ephemeral-storage"',
    "oomd-start": "systemd[1]: Started Userspace Out-Of-Memory (OOM) Killer.",
    "oomd-none": "systemd[1]: x.scope: systemd-oomd killed 0 process(es) in this unit.",
    "setting": "systemd[1]: x.service: Setting OOMPolicy=continue",
    "another-result": "systemd[1]: x.service: Failed with result 'signal'.",
    "kill-by-hand": "sending SIGTERM to process group 77",
    "docker-flag": "docker run --oom-kill-disable --memory 1g image",
}


@pytest.mark.parametrize("line", SILENT.values(), ids=SILENT)
def test_must_not_match(line: str) -> None:
    assert events(PARSER, line, Kind.LOG, "x.log") == []
