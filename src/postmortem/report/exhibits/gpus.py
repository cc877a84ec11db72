"""The GPUs as the machine showed them, with what is abnormal marked and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from postmortem.model import Diagnosis, Fact
from postmortem.report.safe import plain
from postmortem.scene import Scene

Values = Mapping[str, Any]
MOST = 64
COLUMNS = (
    ("gpu", "GPU", ""),
    ("name", "model", ""),
    ("state", "state", ""),
    ("xid", "Xid", ""),
    ("temperature", "temp", "C"),
    ("power_draw", "power", "W"),
    ("power_cap", "cap", "W"),
    ("memory_used", "memory used", "MiB"),
    ("memory_total", "of", "MiB"),
    ("ecc_uncorrected", "ECC uncorrected", ""),
    ("ecc_uncorrected_total", "ECC in all", ""),
    ("remap_failure", "remap failed", ""),
    ("remap_pending", "remap pending", ""),
    ("retired_pending", "retire pending", ""),
    ("recovery_action", "recovery", ""),
    ("pcie_gen", "PCIe gen", ""),
    ("pcie_width", "PCIe lanes", ""),
    ("replays", "PCIe replays", ""),
    ("slowdown", "slowed by", ""),
    ("fabric_state", "fabric", ""),
    ("mig", "MIG", ""),
    ("pstate", "P-state", ""),
)
# key, what makes it abnormal, and why that matters
RULES: tuple[tuple[str, Callable[[Values], bool], str], ...] = (
    ("state", lambda v: v["state"] not in ("ok", "err", ""), "the driver cannot speak to it"),
    ("state", lambda v: v["state"] == "err", "nvidia-smi could not read all of it"),
    ("xid", lambda v: bool(v["xid"]), "the kernel logged Xid errors of this GPU"),
    ("ecc_uncorrected", lambda v: number(v["ecc_uncorrected"]) > 0, "memory errors that could not be corrected"),
    ("ecc_uncorrected_total", lambda v: number(v["ecc_uncorrected_total"]) > 0, "it had such errors before"),
    ("remap_failure", lambda v: v["remap_failure"] is True, "no spare rows left: replace the GPU"),
    ("remap_pending", lambda v: v["remap_pending"] is True, "a reset is needed to remap rows"),
    ("retired_pending", lambda v: v["retired_pending"] is True, "a reset is needed to retire pages"),
    ("recovery_action", lambda v: v["recovery_action"] not in ("None", "N/A", ""), "the driver asks for this"),
    ("pcie_width", lambda v: 0 < number(v["pcie_width"]) < number(v.get("pcie_width_max")), "fewer lanes than it has"),
    ("temperature", lambda v: number(v["temperature"]) >= 90, "at or near its limit"),
    ("memory_used", lambda v: 0 < 0.97 * number(v.get("memory_total")) <= number(v["memory_used"]), "full"),
    ("slowdown", lambda v: "hardware" in v["slowdown"] or "thermal" in v["slowdown"], "its clocks are held down"),
    ("fabric_state", lambda v: v["fabric_state"] not in ("Completed", "N/A", "Not Supported", ""), "NVLink is not up"),
)
SLOW = {
    "hw": "hardware",
    "hw_thermal": "hardware, thermal",
    "hw_power_brake": "hardware, power brake",
    "sw_thermal": "software, thermal",
    "sw_power": "power cap",
}


def make(diagnosis: Diagnosis, scene: Scene) -> Iterator[dict[str, Any]]:
    """One table of all GPUs that any source names."""
    rows = gathered(scene)
    if not rows:
        return
    shown = [rows[key] for key in sorted(rows)][:MOST]
    used = [c for c in COLUMNS if any(values.get(c[0], False) is not False for values in shown)]
    yield {
        "kind": "table",
        "name": "gpus",
        "title": "GPUs",
        "source": next((str(v["source"]) for v in shown if v.get("source")), ""),
        "line": 0,
        "columns": [{"key": k, "label": label, **({"unit": unit} if unit else {})} for k, label, unit in used],
        "rows": [row(values, [k for k, _, _ in used]) for values in shown],
        "left_off": len(rows) - len(shown),
    }


def gathered(scene: Scene) -> dict[str, dict[str, Any]]:
    """What facts and events say of each GPU, by its address or index."""
    rows: dict[str, dict[str, Any]] = {}
    for fact in scene.facts:
        key = fact.entity.get("gpu") or fact.entity.get("index", "")
        if fact.name.startswith("gpu.") and key:
            add(rows.setdefault(key, {"gpu": key}), fact)
    for event in scene.events:
        gpu = event.fields.get("gpu", "")
        if event.kind in ("gpu.xid", "gpu.lost") and gpu:
            values = rows.setdefault(gpu, {"gpu": gpu})
            told = event.fields.get("xid") or "lost"
            values["xid"] = list(dict.fromkeys([*values.get("xid", []), told]))
    for values in rows.values():
        if isinstance(values.get("xid"), list):
            values["xid"] = ", ".join(values["xid"])
    return rows


def add(values: dict[str, Any], fact: Fact) -> None:
    name = fact.name.removeprefix("gpu.")
    values.setdefault("source", fact.evidence.source)
    if name.startswith("slowdown."):
        told = [values["slowdown"]] if values.get("slowdown") else []
        values["slowdown"] = "; ".join([*told, *([SLOW[name[9:]]] if fact.value is True and name[9:] in SLOW else [])])
    elif name == "state" and values.get("state", "ok") != "ok":
        return  # one source that lost it outweighs another's older look
    else:
        values[name] = plain(fact.value) if isinstance(fact.value, str) else fact.value


def row(values: Mapping[str, Any], keys: list[str]) -> dict[str, Any]:
    abnormal = {key: why for key, test, why in RULES if key in values and test(values)}
    return {"values": {k: values[k] for k in keys if k in values}, "abnormal": abnormal, "note": ""}


def number(value: Any) -> float:
    """The value as a number; 0 for what is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
