"""The lines that NVIDIA's kernel drivers and the fabric manager print about faults, each taken apart by itself."""

from __future__ import annotations

from typing import Any

from postmortem.lazy import lazy
from postmortem.parse.kernel_line import NOT_QUOTED, pci_address
from postmortem.tables import table

NEEDLES = (
    r"NVRM: Xid",
    r"XidCriticalError: Xid=",
    r"fallen off the bus",
    r"The NVIDIA GPU [0-9a-fA-F]{4}",
    r"NVRM: GPU at PCI:",
    r"GSP Timeout \*",
    r"GSP RPC buffer contains function",
    r"GSP-RM (?:unresponsive|is slow)",
    r"GSP core unresponsive",
    r": SXid \(PCI:",
    r"detected NVSwitch (?:non-)?fatal error \d+",
)

_PCI = r"(?:PCI:)?(?P<gpu>[0-9A-Fa-f]{2,8}(?::[0-9A-Fa-f]{2}){1,2}(?:\.[0-7])?)"
_XID = lazy(
    NOT_QUOTED + rf"NVRM: Xid \({_PCI}(?: GPU-I:(?P<gpu_instance>\w+))?(?: GPU-CI:(?P<compute_instance>\w+))?\): "
    r"(?P<xid>\d+)(?:, pid='?(?P<pid>\d+|<unknown>)'?)?(?:, name='?(?P<comm>[^,]*?)'?(?=,|$))?(?:, (?P<text>.*))?$"
)
_PLUGIN = lazy(r"XidCriticalError: Xid=(?P<xid>\d+) on Device=(?P<gpu>[\w-]+)")
_LOST = lazy(NOT_QUOTED + rf"NVRM: (?:GPU|The NVIDIA GPU)(?: at)? {_PCI}(?:: GPU)? ?(?:has fallen off the bus|$)")
_IDENTITY = lazy(rf"NVRM: GPU at {_PCI}: (?P<uuid>GPU-[0-9a-f-]{{8,}})")
_GSP = lazy(
    r"(?:GPU(?P<index>\d+)[: ] ?)?(?:(?P<timeout>GSP Timeout \*)|GSP RPC buffer contains function (?P<number>\d+) "
    r"\((?P<rpc>\w+)\)|(?P<text>GSP-RM (?:unresponsive|is slow)|GSP core unresponsive))"
)
_SXID = lazy(
    NOT_QUOTED + rf"(?P<switch>nvidia-nvswitch\d+): SXid \({_PCI}\): (?P<sxid>\d+), (?P<severity>Fatal|Non-fatal), "
    r"(?P<text>(?:Link (?P<link>\d+) )?.*)$"
)
_MANAGER = lazy(
    r"(?P<text>detected NVSwitch (?P<severity>fatal|non-fatal) error (?P<sxid>\d+) on fid \d+"
    rf"(?:.*?pci bus id {_PCI})?(?:.*?port (?P<link>\d+))?)"
)
_PARENT = lazy(r"caused by previous Xid (\d+)")
_ACTION = lazy(r"recovery action changed from 0x[0-9a-fA-F]+ \(.*?\) to 0x[0-9a-fA-F]+ \((.+?)\)")
_RPC = lazy(r"(?:Expected|waiting for) function (\d+) \((\w+)\)")
_NVLINK5 = lazy(
    r"(?P<unit>[A-Z]\w+) (?P<severity>Fatal|Nonfatal|Non-fatal) .*?Link (?P<link>\d+) \(0x(?P<word>[0-9a-f]{8})\b"
)


def xid_fields(message: str) -> dict[str, str] | None:
    """The fields of an Xid line.

    `NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s of waiting …`, by the driver.
    """
    found = _XID.search(message) or _PLUGIN.search(message)
    if found is None:
        return None
    fields = {k: v.strip() for k, v in found.groupdict().items() if v and v != "<unknown>"}
    if not fields["gpu"].startswith("GPU-"):
        fields["gpu"] = pci_address(fields["gpu"])
    return fields | _of_table(fields["xid"]) | _of_text(int(fields["xid"]), fields.get("text", ""))


def _of_table(number: str) -> dict[str, str]:
    known: dict[str, Any] = table("xid")
    row = known["xid"].get(int(number), {"meaning": "not in the table", "class": "gpu.xid-other", "role": "mechanism"})
    fields = {key: str(row[key]) for key in ("meaning", "fault", "class", "role") if key in row}
    action = known["actions"].get(row.get("now", ""), "")
    return fields | ({"action": action} if action else {})


def _of_text(number: int, text: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    if parent := _PARENT.search(text):
        fields["parent"] = parent.group(1)
    if number == 154 and (action := _ACTION.search(text)):
        fields["action"] = action.group(1)
    if rpc := _RPC.search(text):
        fields |= {"rpc": rpc.group(2)}
    if 144 <= number <= 150 and (link := _NVLINK5.search(text)):
        sub = int(link["word"], 16) >> 20 & 0x3F
        fields |= {"unit": link["unit"], "severity": link["severity"], "link": link["link"], "subcode": str(sub)}
    return fields


def lost_fields(message: str) -> dict[str, str] | None:
    """The GPU of `NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.`, or of the first line of its older form."""
    found = _LOST.search(message.rstrip(". "))
    return {"gpu": pci_address(found["gpu"])} if found else None


def identity(message: str) -> tuple[str, str] | None:
    """(address, UUID) of `NVRM: GPU at PCI:0000:9b:00: GPU-<uuid>`, printed once a boot before the first Xid."""
    found = _IDENTITY.search(message)
    return (pci_address(found["gpu"]), found["uuid"]) if found else None


def gsp_fields(message: str) -> dict[str, str] | None:
    """What a line says of the GSP firmware: `what` is timeout, rpc or its own words; `rpc` is the call's name."""
    found = _GSP.search(message)
    if found is None:
        return None
    what = "timeout" if found["timeout"] else "rpc" if found["rpc"] else found["text"]
    fields = {"what": what, "rpc": found["rpc"], "index": found["index"]}
    return {k: v for k, v in fields.items() if v}


def sxid_fields(message: str) -> dict[str, str] | None:
    """The fields of an SXid line.

    `nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)`.
    """
    found = _SXID.search(message) or _MANAGER.search(message)
    if found is None:
        return None
    fields = {k: v for k, v in found.groupdict().items() if v}
    if "gpu" in fields:
        fields["gpu"] = pci_address(fields["gpu"])
    fields["severity"] = fields["severity"].lower()
    return fields | _sxid_row(int(fields["sxid"]), fields["severity"] == "fatal")


def _sxid_row(number: int, fatal: bool) -> dict[str, str]:
    default = {"meaning": "not in the table", "class": "gpu.nvlink-error", "role": "root-if-fatal"}
    row = next((group for group in table("sxid")["groups"].values() if number in group["numbers"]), default)
    role = row["role"]
    if role == "root-if-fatal":
        role = "root" if fatal else "context"
    return {"meaning": row["meaning"], "role": role} | ({"class": row["class"]} if "class" in row else {})
