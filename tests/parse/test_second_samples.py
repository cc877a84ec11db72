"""The collector's second sample: what rose, by how much, in what time; and what did not."""

from __future__ import annotations

import pytest

from postmortem.model import Event, Kind
from postmortem.parse import cgroup, host, parse, samples, smi
from reading import reading

PARSERS = (cgroup.PARSER, host.PARSER, samples.PARSER, smi.PARSER)
KINDS = {"host/": Kind.HOST, "cgroup/": Kind.CGROUP, "gpu/nvidia": Kind.SMI, "gpu/": Kind.LISTING, "times": Kind.PROBE}
TIMES = "# hundredths of a second between the first sample and the second\nhost 40\ncgroup 41\npci 50\nsmi 200\n"


def smi_q(
    replays: int = 0, sram: int = 0, dram: int = 0, corrected: int = 0, thermal: int = 0, gpu: str = "00000000:9B:00.0"
) -> str:
    return f"""
==============NVSMI LOG==============

Timestamp                                 : Mon Nov 30 19:16:02 2026
Driver Version                            : 570.124.06
CUDA Version                              : 12.8

Attached GPUs                             : 1
GPU {gpu}
    Product Name                          : NVIDIA H100 80GB HBM3
    PCI
        Bus                               : 0x9B
        Replays Since Reset               : {replays}
        Replay Number Rollovers           : 0
    Clocks Event Reasons
        Idle                              : Not Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
    Clocks Event Reasons Counters
        SW Power Capping                  : 9120 us
        Sync Boost                        : 0 us
        SW Thermal Slowdown               : 0 us
        HW Thermal Slowdown               : {thermal} us
        HW Power Braking                  : 0 us
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable Parity     : 0
            SRAM Uncorrectable SEC-DED    : {sram}
            DRAM Correctable              : {corrected}
            DRAM Uncorrectable            : {dram}
        Aggregate
            SRAM Correctable              : 0
            DRAM Correctable              : {corrected + 7}
            DRAM Uncorrectable            : {dram + 2}
"""


def aer(correctable: int, fatal: int = 0, bridge: int = 0, gpu: str = "0000:9b:00.0") -> str:
    return (
        f"==> {gpu} <==\ncurrent_link_speed:16.0 GT/s PCIe\naer_dev_correctable:RxErr {correctable}\n"
        f"aer_dev_correctable:TOTAL_ERR_COR {correctable}\naer_dev_nonfatal:TOTAL_ERR_NONFATAL 0\n"
        f"aer_dev_fatal:TOTAL_ERR_FATAL {fatal}\nbridge aer_dev_correctable:TOTAL_ERR_COR {bridge}\n"
    )


def psi(some: int, full: int = 0, of: str = "/proc/pressure/memory") -> str:
    return (
        f"==> {of} <==\nsome avg10=3.10 avg60=1.00 avg300=0.20 total={some}\n"
        f"full avg10=0.00 avg60=0.00 avg300=0.00 total={full}\n"
    )


def port(counter: str, value: int) -> str:
    return f"==> /sys/class/infiniband/mlx5_0/ports/1/counters/{counter} <==\n{value}\n"


def cpu(throttled: int, us: int) -> str:
    return f"usage_usec 900\nnr_periods 90\nnr_throttled {throttled}\nthrottled_usec {us}\n"


CASES: dict[str, tuple[dict[str, str], list[dict[str, str]]]] = {
    "an OOM kill in our own group, v2": (
        {"cgroup/self/v2/memory.events": "max 4\noom 1\noom_kill 1\n",
         "sample2/cgroup/counters": "==> cgroup/self/v2/memory.events <==\nmax 4\noom 1\noom_kill 3\n"},
        [{"counter": "cgroup.memory.oom_kill", "first": "1", "second": "3", "rise": "2", "seconds": "0.41",
          "rate": "4.88", "cgroup": "own"}]),
    "an OOM kill in another group of a sweep, v1": (
        {"cgroup/sweep": "==> /sys/fs/cgroup/memory/docker/a b/memory.oom_control <==\nunder_oom 0\noom_kill 0\n",
         "sample2/cgroup/counters":
             "==> /sys/fs/cgroup/memory/docker/a b/memory.oom_control <==\nunder_oom 0\noom_kill 1\n"},
        [{"counter": "cgroup.memory.oom_kill", "rise": "1", "cgroup": "/docker/a b"}]),
    "a kill anywhere on the host": (
        {"host/vmstat": "pgfault 12\noom_kill 7\n",
         "sample2/host/counters": "==> /proc/vmstat <==\npgfault 99\noom_kill 8\n"},
        [{"counter": "host.vmstat.oom_kill", "first": "7", "second": "8", "seconds": "0.40"}]),
    "throttled by its CPU quota": (
        {"cgroup/self/v2/cpu.stat": cpu(4, 1000),
         "sample2/cgroup/counters": "==> cgroup/self/v2/cpu.stat <==\n" + cpu(6, 83000)},
        [{"counter": "cgroup.cpu.nr_throttled", "rise": "2"},
         {"counter": "cgroup.cpu.throttled_us", "rise": "82000", "percent": "20"}]),
    "v1 counts nanoseconds": (
        {"cgroup/self/v1/cpu/cpu.stat": "nr_throttled 4\nthrottled_time 1000000\n",
         "sample2/cgroup/counters": "==> cgroup/self/v1/cpu/cpu.stat <==\nnr_throttled 4\nthrottled_time 42000000\n"},
        [{"counter": "cgroup.cpu.throttled_us", "rise": "41000", "percent": "10"}]),
    "stalled for memory most of the time": (
        {"host/pressure-memory": psi(1000, 500).partition("\n")[2],
         "sample2/host/counters": psi(381000, 500)},
        [{"counter": "host.pressure.memory.some_total", "rise": "380000", "percent": "95"}]),
    "an uncorrectable ECC error, a replay, heat": (
        {"gpu/nvidia-smi-q": smi_q(), "sample2/gpu/nvidia-smi-q": smi_q(replays=12, dram=1, corrected=40, thermal=800000)},
        [{"counter": "gpu.replays", "rise": "12", "rate": "6", "gpu": "0000:9b:00", "seconds": "2.00"},
         {"counter": "gpu.ecc_uncorrected", "rise": "1", "gpu": "0000:9b:00"},
         {"counter": "gpu.ecc_uncorrected_total", "rise": "1"},
         {"counter": "gpu.throttled_us.hw_thermal", "rise": "800000", "percent": "40"},
         {"counter": "gpu.ecc_corrected", "rise": "40"}]),
    "corrected errors of the bus, of the GPU and of the bridge above": (
        {"gpu/pci": aer(5, bridge=1), "sample2/gpu/pci": aer(9, bridge=4)},
        [{"counter": "gpu.aer_correctable", "rise": "4", "gpu": "0000:9b:00", "seconds": "0.50"},
         {"counter": "gpu.aer_correctable", "rise": "3", "gpu": "0000:9b:00", "port": "bridge"}]),
    "a link of the fabric went down": (
        {"gpu/infiniband": port("link_downed", 0) + port("symbol_error", 3),
         "sample2/gpu/pci": port("link_downed", 1) + port("symbol_error", 3)},
        [{"counter": "fabric.link_downed", "rise": "1", "port": "mlx5_0/1"}]),
    "nothing rose": (
        {"gpu/nvidia-smi-q": smi_q(replays=4, dram=1), "sample2/gpu/nvidia-smi-q": smi_q(replays=4, dram=1),
         "gpu/pci": aer(5), "sample2/gpu/pci": aer(5)}, []),
    "a little stalling is ordinary": (
        {"host/pressure-memory": psi(1000).partition("\n")[2], "sample2/host/counters": psi(41000)}, []),
    "a busy CPU is no trouble of its own": (
        {"host/pressure-cpu": psi(1000).partition("\n")[2],
         "sample2/host/counters": psi(400000, of="/proc/pressure/cpu")}, []),
    "counters that begin again": (
        {"gpu/nvidia-smi-q": smi_q(replays=9), "sample2/gpu/nvidia-smi-q": smi_q(replays=1)}, []),
    "memory that grew is no counter": (
        {"cgroup/self/v2/memory.current": "100\n", "sample2/cgroup/counters": "==> cgroup/self/v2/memory.current <==\n900\n"},
        []),
    "another GPU, another group": (
        {"gpu/nvidia-smi-q": smi_q(), "sample2/gpu/nvidia-smi-q": smi_q(replays=5, gpu="00000000:41:00.0"),
         "cgroup/sweep": "==> /sys/fs/cgroup/a/memory.events <==\noom_kill 0\n",
         "sample2/cgroup/counters": "==> /sys/fs/cgroup/b/memory.events <==\noom_kill 2\n"}, []),
    "no second sample": ({"host/vmstat": "oom_kill 7\n", "gpu/nvidia-smi-q": smi_q(replays=3)}, []),
    "somebody else's file of the same counter": (
        {"vmstat-before.txt": "oom_kill 7\n", "sample2/host/counters": "==> /proc/vmstat <==\noom_kill 8\n"}, []),
}  # fmt: skip


def kind_of(path: str) -> Kind:
    inner = path.removeprefix("sample2/")
    return next((kind for prefix, kind in KINDS.items() if inner.startswith(prefix)), Kind.HOST)


@pytest.mark.parametrize(("members", "expected"), CASES.values(), ids=CASES)
def test_what_rose_between_the_samples(members: dict[str, str], expected: list[dict[str, str]]) -> None:
    texts = {**members, "sample2/times": TIMES}
    found = parse([reading(text, kind_of(path), path) for path, text in texts.items()], PARSERS)
    risen = [event for event in found if isinstance(event, Event) and event.kind == "counter.rising"]
    order = [want["counter"] for want in expected]
    told = sorted((dict(event.fields) for event in risen), key=lambda fields: order.index(fields["counter"]))
    assert [{key: fields.get(key) for key in want} for fields, want in zip(told, expected, strict=True)] == expected
    assert all(event.source.startswith("sample2/") and event.line > 0 for event in risen)
    assert all(event.more[0].source in members for event in risen)


def test_without_the_time_between_them_nothing_is_told() -> None:
    members = {"host/vmstat": "oom_kill 7\n", "sample2/host/counters": "==> /proc/vmstat <==\noom_kill 8\n"}
    found = parse([reading(text, kind_of(path), path) for path, text in members.items()], PARSERS)
    assert not [event for event in found if isinstance(event, Event)]
