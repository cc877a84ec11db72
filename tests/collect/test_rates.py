"""A counter of the GPU that rises while the collector looks: read twice, told with its time, seen by the diagnosis."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from collecting import Bundle, read, run

from postmortem.analysis import engine, examine
from postmortem.collect import CollectOptions

# As `nvidia-smi -q` prints them; each call counts on.
SMI = """#!/bin/sh
n=$(cat {count} 2>/dev/null || echo 0)
case "$*" in
*--query-gpu*)
	echo 'index, uuid, pci.bus_id, name, driver_version, memory.used [MiB], memory.total [MiB]'
	echo '0, GPU-5d1c, 00000000:9B:00.0, NVIDIA H100 80GB HBM3, 570.124.06, 12 MiB, 81559 MiB'
	exit ;;
-q) n=$((n + {step})) && echo $n >{count} ;;
*) exit ;;
esac
cat <<TEXT

==============NVSMI LOG==============

Driver Version                            : 570.124.06
CUDA Version                              : 12.8

Attached GPUs                             : 1
GPU 00000000:9B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    PCI
        Replays Since Reset               : $n
        Replay Number Rollovers           : 0
    ECC Errors
        Volatile
            SRAM Uncorrectable SEC-DED    : 0
            DRAM Uncorrectable            : $n
TEXT
"""


@pytest.mark.parametrize("step", [3, 0], ids=["rises", "stands"])
def test_a_rising_counter_is_seen(step: int, tmp_path: Path) -> None:
    tool, out = tmp_path / "bin" / "nvidia-smi", tmp_path / "b.tar.gz"
    tool.parent.mkdir()
    tool.write_text(SMI.format(count=tmp_path / "count", step=step))
    tool.chmod(0o755)
    assert run(CollectOptions(str(out), deadline=20), PATH=f"{tool.parent}:{os.environ['PATH']}")[0] == 0
    bundle = read(out)
    assert {"gpu/nvidia-smi-q", "sample2/gpu/nvidia-smi-q", "sample2/gpu/nvidia-smi-short"} <= bundle.members.keys()
    between = dict(line.split() for line in bundle.text("sample2/times").splitlines()[1:])
    assert min(map(int, between.values())) >= 30
    report, scene = examine(engine(), alone(bundle, tmp_path / "gpu-only"))
    risen = {event.fields["counter"]: event.fields["rise"] for event in scene.named("counter.rising")}
    assert risen == ({"gpu.replays": "3", "gpu.ecc_uncorrected": "3"} if step else {})
    assert ("3 more within" in str(report)) == bool(step)


def alone(bundle: Bundle, folder: Path) -> Path:
    """What the GPU said, without this machine's own logs."""
    for name, data in bundle.members.items():
        if "gpu/" in name or name == "sample2/times":
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
    return folder
