"""Xid, SXid, lost-GPU and GSP lines by driver generation and dialect."""


from __future__ import annotations

import pytest
from dialects import DIALECTS, written

from postmortem.model import Kind
from postmortem.parse.kernel_line import pci_address
from postmortem.parse.xid import PARSER
from postmortem.tables import table
from reading import events, facts

FORMS = {
    "plain": ("NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.",
              {"xid": "79", "gpu": "0000:9b:00", "class": "gpu.fell-off-bus", "role": "root", "text": "GPU has fallen off the bus.", "pid": None}),
    "with-owner-rpc": ("NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20802a02 0x8).",
                       {"xid": "119", "pid": "2024380", "comm": "nvidia-smi", "rpc": "GSP_RM_CONTROL", "class": "gpu.gsp-timeout"}),
    "owner-unknown": ("NVRM: Xid (PCI:0000:9b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
                      {"xid": "79", "pid": None, "comm": None}),
    "owner-with-a-space": ("NVRM: Xid (PCI:0000:1b:00): 31, pid=77, name=Stream Trans #7, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS faulted @ 0x7b3e_94c01000.",
                           {"comm": "Stream Trans #7", "class": "gpu.illegal-access", "role": "mechanism"}),
    "mig-instance": ("NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, name=python3, Contained: SM (0x1). RST: No, D-RST: No",
                     {"xid": "94", "gpu": "0000:01:00", "gpu_instance": "05", "class": "gpu.ecc-error"}),
    "mig-compute-instance": ("NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:01): 43, pid=7194, Ch 00000008",
                             {"xid": "43", "gpu_instance": "05", "compute_instance": "01", "role": "effect"}),
    "old-without-PCI": ("NVRM: Xid (0000:01:00): 31, Ch 0000000b, engmask 00000120", {"xid": "31", "gpu": "0000:01:00"}),
    "oldest-bus-and-slot": ("NVRM: Xid (0002:00): 13, 0001 00000000 00005039 00000328", {"xid": "13", "gpu": "0002:00"}),
    "with-parent": ("NVRM: Xid (PCI:0000:9b:00): 45, pid=1818990, name=python3, Ch 00000001 caused by previous Xid 149",
                    {"xid": "45", "parent": "149", "role": "effect"}),
    "nvlink5": ("NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000 0x00000000)",
                {"gpu": "0018:01:00", "link": "08", "severity": "Fatal", "subcode": "4", "class": "gpu.nvlink-error"}),
    "recovery-action": ("NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)",
                        {"action": "Node Reboot Required", "role": "effect", "class": None}),
    "capital-address": ("NVRM: Xid (PCI:0000:AF:00): 48, pid=1, name=x, DBE", {"gpu": "0000:af:00", "class": "gpu.ecc-error"}),
    "beyond-the-table": ("NVRM: Xid (PCI:0000:af:00): 999, something new", {"class": "gpu.xid-other", "meaning": "not in the table"}),
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("line", "expected"), FORMS.values(), ids=FORMS)
def test_forms_in_every_dialect(line: str, expected: dict[str, str | None], dialect: str) -> None:
    (made,) = events(PARSER, *written(dialect, line))
    assert made["kind"] == "gpu.xid"
    assert {k: made.get(k) for k in expected} == expected


def test_repeats_within_seconds_are_one_event() -> None:
    line = "NVRM: Xid (PCI:0000:9b:00): 45, pid=7, name=p, Ch 0000000{}"
    made = events(PARSER, *written("dmesg", "\n".join(line.format(n) for n in range(4))))
    assert [(e["xid"], e["count"]) for e in made] == [("45", "4")]


def test_repeats_far_apart_or_of_another_process_are_not() -> None:
    line = "[ {}.000000] NVRM: Xid (PCI:0000:9b:00): 13, pid={}, name=p, Graphics Exception"
    made = events(PARSER, "\n".join([line.format(10, 7), line.format(12, 8), line.format(600, 7)]))
    assert [(e["pid"], e.get("count")) for e in made] == [("7", None), ("8", None), ("7", None)]


LOST = {
    "without-a-number": (["NVRM: GPU 0000:18:00.0: GPU has fallen off the bus."], ["0000:18:00"]),
    "short": (["NVRM: GPU at 0000:18:00.0 has fallen off the bus."], ["0000:18:00"]),
    "three-lines": (
        [
            "NVRM: The NVIDIA GPU 0000:18:00.0",
            "NVRM: (PCI ID: 10de:2684) installed in this system has",
            "NVRM: fallen off the bus and is not responding to commands.",
        ],
        ["0000:18:00"],
    ),
    "told-by-its-Xid": (
        ["NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.", "NVRM: GPU 0000:18:00.0: GPU has fallen off the bus."],
        [],
    ),
    "another-gpu-than-the-Xid": (
        ["NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.", "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus."],
        ["0000:3b:00"],
    ),
    "unsupported-card": (
        ["NVRM: The NVIDIA GPU 0000:18:00.0 (PCI ID: 10de:1b80)", "NVRM: installed in this system is not supported by the 590 driver"],
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "gpus"), LOST.values(), ids=LOST)
def test_lost_gpus(lines: list[str], gpus: list[str]) -> None:
    made = events(PARSER, *written("dmesg", "\n".join(lines)))
    assert [e["gpu"] for e in made if e["kind"] == "gpu.lost"] == gpus


SXIDS = {
    "driver-non-fatal": ("nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)",
                         {"sxid": "12028", "severity": "non-fatal", "link": "32", "role": "mechanism", "gpu": "0000:05:00"}),
    "driver-fatal": ("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 23003, Fatal, Link 11 TSTATE uncorrectable error",
                     {"sxid": "23003", "severity": "fatal", "role": "root", "class": "gpu.nvlink-error"}),
    "maybe-fatal-and-not": ("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 11009, Non-fatal, Link 4 ingress invalid VC set",
                            {"role": "context"}),
    "corrected": ("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 15008, Non-fatal, Link 11 ECC limit", {"role": "none"}),
}  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), SXIDS.values(), ids=SXIDS)
def test_sxids(line: str, expected: dict[str, str]) -> None:
    (made,) = events(PARSER, *written("syslog", line))
    assert made["kind"] == "gpu.sxid"
    assert {k: made.get(k) for k in expected} == expected


def test_fabric_manager_names_the_switch() -> None:
    line = (
        "[Jul 23 2024 07:53:55] [ERROR] [tid 841] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id "
        "00000000:86:00.0 physical id 3 port 33"
    )
    (made,) = events(PARSER, line, Kind.LOG, "fabricmanager.log")
    assert (made["sxid"], made["severity"], made["gpu"], made["link"]) == ("20034", "fatal", "0000:86:00", "33")


def test_extra_lines_of_an_sxid_are_no_second_one() -> None:
    head = "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, "
    text = f"{head}Fatal, Link 48 LTSSM Fault Up\n{head}Severity 1 Engine instance 60 Sub-engine instance 00\n{head}Data {{0x1}}"
    assert len(events(PARSER, *written("dmesg", text))) == 1


def test_gsp_lines_and_identity() -> None:
    text = (
        "NVRM: GPU at PCI:0000:9b:00: GPU-0ce1f3b2-5ad9-4c11-83ce-2f8f5b9e0177\n"
        "NVRM: _kgspLogXid119: ********************************* GSP Timeout **********************************\n"
        "NVRM: GPU4 GSP RPC buffer contains function 76 (GSP_RM_CONTROL) and data 0x0000000020802a02 0x0000000000000008.\n"
    )
    made = events(PARSER, *written("dmesg", text))
    assert [(e["kind"], e["what"], e.get("rpc")) for e in made] == [
        ("gpu.gsp", "timeout", None),
        ("gpu.gsp", "rpc", "GSP_RM_CONTROL"),
    ]
    text, kind = written("dmesg", text)
    assert facts(PARSER, text, kind, "dmesg.txt") == {"gpu.uuid[0000:9b:00]": "GPU-0ce1f3b2-5ad9-4c11-83ce-2f8f5b9e0177"}


NOTHING = {
    "module-load": (Kind.KERNEL, "[ 7.1] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  590.48.01"),
    "a-watcher-starts": (Kind.LOG, "2026-10-02T05:00:01.871Z  INFO bench::gpu: device 0 ready, Xid watch on, xids=0"),
    "a-quoted-line": (Kind.LOG, "hint: look for 'NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.' in dmesg"),
    "a-program-in-the-journal": (Kind.JOURNAL, "May 01 12:00:01 h myapp[3]: NVRM: Xid (PCI:0000:9b:00): 79, GPU lost"),
    "api-mismatch": (Kind.KERNEL, "[ 7.1] NVRM: API mismatch: the client has the version 460.73.01, but"),
    "no-switch": (Kind.LOG, "request to query NVSwitch device information from driver failed NV_WARN_NOTHING_TO_DO"),
}


@pytest.mark.parametrize(("kind", "text"), NOTHING.values(), ids=NOTHING)
def test_must_not_match(kind: Kind, text: str) -> None:
    assert events(PARSER, text, kind) == []


@pytest.mark.parametrize("number", range(1, 177))
def test_every_xid_has_a_row(number: int) -> None:
    known = table("xid")
    row = known["xid"][number]
    assert row["meaning"]
    assert row["role"] in {"root", "root-if-first", "mechanism", "effect", "context", "none"}
    assert {row.get("now", "ignore"), row.get("then", "ignore")} <= set(known["actions"])
    assert not set(row.get("fault", "")) - set("HDASBTF")


def test_consequence_codes_are_never_roots() -> None:
    rows = table("xid")["xid"]
    assert {rows[n]["role"] for n in (43, 45, 154)} == {"effect"}


def test_no_sxid_stands_in_two_groups() -> None:
    numbers = [n for group in table("sxid")["groups"].values() for n in group["numbers"]]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("00000000:9B:00.0", "0000:9b:00"),
        ("PCI:0000:9b:00", "0000:9b:00"),
        ("0000:9b:00.0", "0000:9b:00"),
        ("9b:00.0", "0000:9b:00"),
        ("0018:01:00", "0018:01:00"),
        ("GPU-1a2b", "gpu-1a2b"),
    ],
)
def test_pci_addresses(text: str, expected: str) -> None:
    assert pci_address(text) == expected
