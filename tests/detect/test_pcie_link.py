"""A reduced link that repairs errors all the time; a sound link that repairs one, an idle link that is slow."""

from __future__ import annotations

import pytest
from scene_texts import Texts, seen

from postmortem.detect import pcie_link
from postmortem.model import Kind

ERROR = "[ {at:.6f}] nvidia 0000:21:00.0: PCIe Bus Error: severity={word}, type=Physical Layer, (Receiver ID)\n"
LIMITED = (
    "[    3.100000] pci 0000:{bus}:00.0: 16.000 Gb/s available PCIe bandwidth, limited by 5.0 GT/s PCIe x4 link at "
    "0000:20:01.1 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)\n"
)
LSPCI = (
    "{bus}:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n\tCapabilities: [60] Express Endpoint\n"
    "\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16\n\t\tLnkSta:\tSpeed 32GT/s, Width x8 (downgraded)\n"
)
SMI = (
    "pci.bus_id, pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current, pcie.link.width.max, pstate\n"
    "00000000:21:00.0, {gen}, 4, {width}, 16, {state}\n"
)


def dmesg(times: int, word: str = "Corrected", more: str = "") -> Texts:
    return {"dmesg.txt": (Kind.KERNEL, more + "".join(ERROR.format(at=100.5 + n, word=word) for n in range(times)))}


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (dmesg(6, more=LIMITED.format(bus="21")), {"errors": "6", "width": "4", "width_max": "16", "speed": "5.0 GT/s"}),
        (dmesg(9, "Correctable") | {"lspci-vv.txt": (Kind.LISTING, LSPCI.format(bus="21"))}, {"width": "8"}),
        (dmesg(7) | {"smi.csv": (Kind.SMI, SMI.format(gen=4, width=2, state="P8"))}, {"width": "2", "gen": "4"}),
        (dmesg(7) | {"smi.csv": (Kind.SMI, SMI.format(gen=1, width=16, state="P0"))}, {"gen": "1", "gen_max": "4"}),
        (dmesg(7) | {"smi.csv": (Kind.SMI, SMI.format(gen=1, width=16, state="P8"))}, None),
        (dmesg(7), None),
        (dmesg(2, more=LIMITED.format(bus="21")), None),
        (dmesg(7, more=LIMITED.format(bus="22")), None),
        (dmesg(0, more=LIMITED.format(bus="21")), None),
    ],
    ids=[
        "kernel", "lspci", "lanes", "generation at work", "generation at rest", "errors alone", "two errors",
        "another card", "no error",
    ],
)  # fmt: skip
def test_link(texts: Texts, told: dict[str, str] | None) -> None:
    events, _ = seen(pcie_link.DETECTOR, texts)
    assert [e.kind for e in events] == ["gpu.link"] * (told is not None)
    for event in events:
        assert event.fields["gpu"] == "0000:21:00"
        assert (told or {}).items() <= event.fields.items()
