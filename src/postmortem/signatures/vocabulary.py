"""What signatures may ask about: the events and facts of docs/architecture.md, and how a person would fetch them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from postmortem.model import Kind


@dataclass(frozen=True, slots=True)
class EventKind:
    """The kinds of source that can show an event, and the fields it may have."""

    sources: frozenset[Kind]
    fields: frozenset[str]


def _event(sources: str, fields: str) -> EventKind:
    return EventKind(frozenset(Kind[name.upper()] for name in sources.split()), frozenset(fields.split()))


_OOM_FIELDS = (
    "victim pid constraint scope oom_memcg task_memcg ancestor limit_kb usage_kb failcnt anon_rss_kb file_rss_kb "
    "shmem_rss_kb total_vm_kb oom_score_adj uid invoker order gfp top_comm top_pid top_rss_kb tasks group_kill"
)

_ZOMBIE_FIELDS = (
    "pid ppid comm parent parent_args threads wait_status signal signal_name code permitted reaper stat multithreaded"
)
_CRASH_FIELDS = "language exception message root_exception root_message place signal thread uncaught"

EVENTS: Mapping[str, EventKind] = {
    "oom.kill": _event("kernel journal log container", f"{_OOM_FIELDS} told_by unit count"),
    "oom.invoked": _event("kernel journal", f"{_OOM_FIELDS} outcome"),
    "oom.unit": _event("journal log container", "told_by what unit container"),
    "oom.userspace": _event(
        "log journal container", "killer victim pid signal cgroup unit reason uid rss_mib container count"
    ),
    "gpu.xid": _event(
        "kernel journal",
        "xid gpu pid comm text class role meaning fault action parent count "
        "rpc unit severity link subcode gpu_instance",
    ),
    "gpu.sxid": _event("kernel journal", "sxid gpu switch severity link text class role meaning count"),
    "gpu.gsp": _event("kernel journal", "what rpc index count"),
    "gpu.lost": _event("kernel journal smi", "gpu"),
    "gpu.link": _event("kernel journal", "gpu errors width width_max gen gen_max speed"),
    "cuda.error": _event(
        "log journal",
        "code name text class sticky call pinned effect note place device rank tried free total count",
    ),
    "kernel.segfault": _event("kernel journal", "comm pid address library signal kernel_text access null offset error"),
    "kernel.trap": _event("kernel journal", "comm pid trap signal library offset"),
    "kernel.hung-task": _event("kernel journal", "comm pid seconds count"),
    "kernel.signal": _event("kernel journal", "comm pid signal exe uid how"),
    "exit": _event(
        "log journal container proc ps listing",
        "comm script pid status code signal signal_name unit container oomkilled how command core finished job last "
        "line process rank reason state",
    ),
    "zombie": _event("proc ps", _ZOMBIE_FIELDS),
    "boot": _event("kernel journal", ""),
    "quota.full": _event("listing", "owner mount used_kb limit_kb"),
    "zombie.pile": _event("proc ps", "ppid parent dead"),
    "port.holder": _event("listing", "port holder holder_pid"),
    "loader.missing": _event("log", "file interpreter"),
    "run.unfinished": _event("log", "file phase phases benchmark"),
    "zombie.end": _event(
        "proc ps",
        f"{_ZOMBIE_FIELDS} asked asked_signal count end farewell killer_line killer_signal killer_text pids "
        "reaper_kind",
    ),
    "dstate": _event("proc ps", "pid comm wchan"),
    "traceback": _event("log journal", _CRASH_FIELDS),
    "panic": _event("log journal", _CRASH_FIELDS),
    "shell.error": _event("log journal", "script line what token shell source_text cr expecting"),
    "script.mask": _event("script log", "script line construct seen pipefail reached command errexit used"),
    "script.hazard": _event("script", "script line construct command"),
    "script.errexit": _event("script log journal container", "script line construct command"),
    "log.reorder": _event(
        "log journal", "file writer back_s late_line before_line reason last_late_line twin twin_line"
    ),
    "log.torn": _event("log journal", "file text reason block_edge column"),
    "log.truncated": _event("log journal", "file reason"),
    "log.missing": _event("log journal", "file named_by"),
    "log.silence": _event("log", "file gap_s last_line last_text"),
    "probe.hang": _event("probe", "probe wchan seconds"),
    "counter.rising": _event(
        "host cgroup smi listing", "counter first second rise seconds rate percent gpu cgroup port index"
    ),
}

_FACTS = """
    cgroup.version cgroup.path cgroup.populated cgroup.frozen
    cgroup.memory.limit cgroup.memory.peak cgroup.memory.current cgroup.memory.soft_limit
    cgroup.memory.oom_kill cgroup.memory.oom cgroup.memory.max_events cgroup.memory.failcnt cgroup.memory.under_oom
    cgroup.memory.oom_group_kill cgroup.memory.oom_kill_disable cgroup.memory.local.oom_kill cgroup.memory.local.oom
    cgroup.memory.peak_ratio
    cgroup.pids.max cgroup.pids.current cgroup.pids.max_events cgroup.cpu.nr_throttled
    host.vmstat.oom_kill host.mem.total host.mem.available host.mem.swap_total host.mem.swap_free host.mem.shmem
    host.mem.mlocked host.mem.slab_unreclaimable host.mem.commit_limit host.mem.committed
    host.boot_time host.uptime host.procs_blocked host.kernel
    host.pressure.memory.some_avg60 host.pressure.cpu.some_avg60 host.pressure.io.some_avg60
    host.pressure.memory.full_avg60 host.pressure.cpu.full_avg60 host.pressure.io.full_avg60
    host.pressure.memory.some_total host.pressure.cpu.some_total host.pressure.io.some_total
    host.pressure.memory.full_total host.pressure.cpu.full_total host.pressure.io.full_total
    cgroup.pressure.memory.some_total cgroup.pressure.cpu.some_total cgroup.pressure.io.some_total
    cgroup.pressure.memory.full_total cgroup.pressure.cpu.full_total cgroup.pressure.io.full_total
    cgroup.cpu.throttled_us clock.synchronised clock.offset clock.max_error clock.estimated_error
    sample.interval.host sample.interval.cgroup sample.interval.pci sample.interval.smi
    gpu.ecc_corrected gpu.aer_correctable gpu.aer_nonfatal gpu.aer_fatal
    gpu.throttled_us.sw_power gpu.throttled_us.sw_thermal gpu.throttled_us.hw_thermal
    gpu.throttled_us.hw_power_brake gpu.throttled_us.sync_boost
    fabric.symbol_error fabric.link_error_recovery fabric.link_downed fabric.port_rcv_errors fabric.port_xmit_discards
    fabric.local_link_integrity_errors fabric.excessive_buffer_overrun_errors fabric.out_of_sequence
    fabric.packet_seq_err fabric.local_ack_timeout_err
    disk.use disk.inode_use disk.read_only disk.noexec
    proc.state proc.threads proc.wait_status proc.vm_hwm proc.wchan proc.comm proc.ppid proc.started proc.started_ticks
    proc.limit.address_space proc.limit.core_file_size proc.limit.cpu_time proc.limit.data_size proc.limit.file_size
    proc.limit.locked_memory proc.limit.open_files proc.limit.processes proc.limit.resident_set proc.limit.stack_size
    gpu.name gpu.uuid gpu.driver gpu.cuda gpu.memory_used gpu.memory_total gpu.temperature gpu.power_draw gpu.power_cap
    gpu.ecc_uncorrected gpu.ecc_uncorrected_total gpu.remap_failure gpu.remap_pending gpu.retired_pending
    gpu.recovery_action gpu.pcie_gen gpu.pcie_gen_max gpu.pcie_width gpu.pcie_width_max gpu.replays gpu.mig
    gpu.compute_mode gpu.pstate gpu.fabric_state gpu.state gpu.count
    gpu.process_count gpu.process_memory
    gpu.slowdown.hw gpu.slowdown.hw_thermal gpu.slowdown.hw_power_brake gpu.slowdown.sw_thermal gpu.slowdown.sw_power
    script.parse_ok script.parse_line script.crlf script.shebang script.pipefail script.errexit script.bash_n_ok
    script.bash_n_line script.parse_doubt script.nounset
    script.birth script.ctime script.mtime script.inode script.sha256
    script.line_has_token script.same_as_run script.changed_during_run script.command_is_line_fragment
    kernel.readable kernel.covers_death kernel.no_kill_for
"""

FACTS = frozenset(_FACTS.split())

ASK_KIND: Mapping[Kind, str] = {
    Kind.KERNEL: "the kernel log of the host, from before the failure on (`dmesg` or `journalctl -k`)",
    Kind.LOG: "the whole logs of the programs that ran",
    Kind.JOURNAL: "the system's journal of that time",
    Kind.SCRIPT: "the script as it ran, with `stat` and `sha256sum` of it",
    Kind.SMI: "`nvidia-smi -q`",
    Kind.CONTAINER: "`docker inspect` (or `kubectl describe pod`) of the container",
    Kind.LISTING: "a bundle of the machine by `postmortem collect`, for what its commands print",
    Kind.CONFIG: "the configuration that the program was started with",
    Kind.PROBE: "a bundle of the machine by `postmortem collect`, for its notes on what hung or was refused",
    Kind.PS: "a process table (`ps axo pid,ppid,stat,wchan,comm`)",
    Kind.PROC: "/proc/PID/stat and status of the process",
}

# where the kinds of source alone say too little
ASK_EVENT: Mapping[str, str] = {
    "exit": "how it ended, as its parent tells: the shell's line, `systemctl status`, `docker inspect` or `sacct`",
    "zombie": "a process table (`ps axo pid,ppid,stat,comm`) from while the dead process is there",
    "zombie.end": "/proc/PID/stat of the dead process, read as root while it is there",
    "dstate": "a process table (`ps axo pid,ppid,stat,wchan,comm`) from while it hangs",
    "probe.hang": "a bundle by `postmortem collect` from while it hangs",
    "shell.error": "the whole output of the script, with what its shell printed",
    "loader.missing": "`ls -l` of the program and `head -c 200` of it, in the container where it ran",
    "quota.full": "`quota -s` or `repquota` of the file system",
    "port.holder": "`ss -ltnp` from while the port is taken",
    "counter.rising": "the counters twice, some seconds apart, as `postmortem collect` reads them",
    "script.hazard": "the script as it ran, with `stat` and `sha256sum` of it",
}

_ASK_FACT = (
    ("cgroup.memory.", "memory.events, memory.peak and memory.max of the process's cgroup, before it is removed"),
    ("cgroup.pids.", "pids.max, pids.current and pids.events of the process's cgroup"),
    ("cgroup.", "the files of the process's cgroup"),
    ("host.vmstat.", "/proc/vmstat, before and after the run"),
    ("host.", "/proc/meminfo of the host"),
    ("disk.", "`df` and `df -i`, and /proc/mounts"),
    ("proc.", "/proc/PID/stat and status of the process"),
    ("gpu.aer_", "the PCIe error counters of the GPU (/sys/bus/pci/devices/*/aer_dev_*), twice"),
    ("gpu.", "`nvidia-smi -q`"),
    ("fabric.", "/sys/class/infiniband/*/ports/*/counters, twice"),
    ("clock.", "`timedatectl`, `chronyc tracking` or `adjtimex`"),
    ("sample.", "the second sample of a bundle by `postmortem collect`"),
    ("script.", "the script as it ran, with `stat`, `sha256sum` and `bash -n` of it"),
    ("kernel.", "the kernel log of the host, from before the failure on (`dmesg` or `journalctl -k`)"),
)


def ask_for_fact(name: str) -> str:
    """What to collect so that the fact is known."""
    return next((ask for prefix, ask in _ASK_FACT if name.startswith(prefix)), f"what shows {name}")


def ask_for_event(kind: str) -> str:
    """What to collect so that such an event is known."""
    return ASK_EVENT.get(kind) or ask_for_kinds(EVENTS[kind].sources)


def ask_for_kinds(kinds: frozenset[Kind]) -> str:
    """What to collect so that lines or events of such sources are known."""
    return next((ask for kind, ask in ASK_KIND.items() if kind in kinds), "the source that would show it")
