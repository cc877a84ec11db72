"""nvidia-smi: tables of several drivers, -q, -q -x, CSV, failures."""

from __future__ import annotations

import pytest

from postmortem.model import Kind
from postmortem.parse.smi import PARSER
from postmortem.parse.smi_tree import UnsafeXml, of_xml
from postmortem.parse.smi_values import pci
from reading import facts

NEW = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 575.57.08              Driver Version: 575.57.08      CUDA Version: 12.9     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|=========================================+========================+======================|
|   0  NVIDIA GeForce RTX 5090        On  |   00000000:41:00.0 Off |                  N/A |
|  0%   36C    P8             21W /  575W |     302MiB /  32607MiB |      0%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:9A:00.0 Off |                   12 |
| N/A   30C    P0             67W /  700W |       4MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|=========================================================================================|
|    0   N/A  N/A            2217      C   /usr/bin/python3                        290MiB |
+-----------------------------------------------------------------------------------------+
"""
OLD = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 418.67       Driver Version: 418.67       CUDA Version: 10.1     |
|-------------------------------+----------------------+----------------------+
|   0  Tesla V100-SXM2...  On   | 00000000:00:1E.0 Off |                    0 |
| N/A   35C    P0    25W / 300W |     10MiB / 16130MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
|    0      8812      C   ./train                                      9MiB |
+-----------------------------------------------------------------------------+
"""
BROKEN = OLD.replace("Tesla V100-SXM2...  On ", "ERR!                Off").replace(
    "35C    P0    25W", "ERR!  ERR! ERR!"
)


def known(text: str) -> dict[str, int | float | str | bool]:
    return facts(PARSER, text, Kind.SMI, "nvidia-smi.txt")


def test_table_of_a_new_driver() -> None:
    got = known(NEW)
    assert got["gpu.name[0000:41:00,0]"] == "NVIDIA GeForce RTX 5090"
    assert got["gpu.state[0000:41:00,0]"] == "ok"
    assert got["gpu.memory_used[0000:41:00,0]"] == 302
    assert got["gpu.power_cap[0000:9a:00,1]"] == 700
    assert got["gpu.ecc_uncorrected[0000:9a:00,1]"] == 12
    assert "gpu.ecc_uncorrected[0000:41:00,0]" not in got, "N/A is an absent field, not a zero"
    assert got["gpu.mig[0000:9a:00,1]"] == "Disabled"
    assert got["gpu.process_memory[2217,python3,0,0000:41:00]"] == 290
    assert (got["gpu.driver"], got["gpu.cuda"], got["gpu.count"]) == ("575.57.08", "12.9", 2)


def test_table_of_an_old_driver() -> None:
    got = known(OLD)
    assert got["gpu.name[0000:00:1e,0]"] == "Tesla V100-SXM2..."
    assert got["gpu.temperature[0000:00:1e,0]"] == 35
    assert got["gpu.process_memory[8812,train,0,0000:00:1e]"] == 9


def test_a_broken_cell_is_a_broken_card() -> None:
    assert known(BROKEN)["gpu.state[0000:00:1e,0]"] == "err"


QUERY = """\
==============NVSMI LOG==============

Driver Version                            : 535.183.06
CUDA Version                              : 12.2
Attached GPUs                             : 1
GPU 00000000:9C:00.0
    Product Name                          : NVIDIA A100 80GB PCIe
    Fabric
        State                             : In Progress
    GPU Recovery Action                   : Reset
    MIG Mode
        Current                           : Disabled
        Pending                           : Enabled
    PCI
        GPU Link Info
            PCIe Generation
                Max                       : 4
                Current                   : 1
            Link Width
                Max                       : 16x
                Current                   : 8x
        Replays Since Reset               : 3
    Performance State                     : P0
    Clocks Event Reasons
        Idle                              : Not Active
        SW Power Cap                      : Active
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Active
    FB Memory Usage
        Total                             : 81920 MiB
        Used                              : 77904 MiB
    ECC Errors
        Volatile
            SRAM Correctable              : 7
            SRAM Uncorrectable Parity     : 1
            DRAM Uncorrectable            : 2
        Aggregate
            SRAM Uncorrectable Parity     : 1
            DRAM Uncorrectable            : 20
    Remapped Rows
        Uncorrectable Error               : 1
        Pending                           : Yes
        Remapping Failure Occurred        : No
    Temperature
        GPU Current Temp                  : 64 C
    GPU Power Readings
        Power Draw                        : 226.11 W
        Current Power Limit               : 300.00 W
"""
XML = """\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
 <driver_version>535.183.06</driver_version>
 <cuda_version>12.2</cuda_version>
 <attached_gpus>1</attached_gpus>
 <gpu id="00000000:9C:00.0">
  <product_name>NVIDIA A100 80GB PCIe</product_name>
  <fabric><state>In Progress</state></fabric>
  <gpu_recovery_action>Reset</gpu_recovery_action>
  <mig_mode><current_mig>Disabled</current_mig><pending_mig>Enabled</pending_mig></mig_mode>
  <pci><pci_gpu_link_info>
   <pcie_gen><max_link_gen>4</max_link_gen><current_link_gen>1</current_link_gen></pcie_gen>
   <link_widths><max_link_width>16x</max_link_width><current_link_width>8x</current_link_width></link_widths>
  </pci_gpu_link_info><replay_counter>3</replay_counter></pci>
  <performance_state>P0</performance_state>
  <clocks_event_reasons>
   <clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>
   <clocks_event_reason_hw_slowdown>Active</clocks_event_reason_hw_slowdown>
   <clocks_event_reason_hw_thermal_slowdown>Not Active</clocks_event_reason_hw_thermal_slowdown>
   <clocks_event_reason_hw_power_brake_slowdown>Active</clocks_event_reason_hw_power_brake_slowdown>
  </clocks_event_reasons>
  <fb_memory_usage><total>81920 MiB</total><used>77904 MiB</used></fb_memory_usage>
  <ecc_errors>
   <volatile><sram_correctable>7</sram_correctable><sram_uncorrectable_parity>1</sram_uncorrectable_parity>
    <dram_uncorrectable>2</dram_uncorrectable></volatile>
   <aggregate><sram_uncorrectable_parity>1</sram_uncorrectable_parity><dram_uncorrectable>20</dram_uncorrectable></aggregate>
  </ecc_errors>
  <remapped_rows><remapped_row_unc>1</remapped_row_unc><remapped_row_pending>Yes</remapped_row_pending>
   <remapped_row_failure>No</remapped_row_failure></remapped_rows>
  <temperature><gpu_temp>64 C</gpu_temp></temperature>
  <gpu_power_readings><power_draw>226.11 W</power_draw>
   <current_power_limit>300.00 W</current_power_limit></gpu_power_readings>
 </gpu>
</nvidia_smi_log>
"""


def test_text_and_xml_say_the_same() -> None:
    assert known(QUERY) == known(XML)


def test_query() -> None:
    got = {name.removesuffix("[0000:9c:00]"): value for name, value in known(QUERY).items()}
    wanted = {
        "gpu.recovery_action": "Reset", "gpu.fabric_state": "In Progress", "gpu.mig": "Disabled", "gpu.pcie_gen": 1,
        "gpu.pcie_gen_max": 4, "gpu.pcie_width": 8, "gpu.pcie_width_max": 16, "gpu.replays": 3, "gpu.pstate": "P0",
        "gpu.slowdown.hw": True, "gpu.slowdown.hw_thermal": False, "gpu.slowdown.hw_power_brake": True,
        "gpu.slowdown.sw_power": True, "gpu.memory_used": 77904, "gpu.ecc_uncorrected": 3,
        "gpu.ecc_uncorrected_total": 21, "gpu.remap_pending": True, "gpu.remap_failure": False, "gpu.temperature": 64,
        "gpu.power_draw": 226.11, "gpu.power_cap": 300.0, "gpu.state": "ok", "gpu.count": 1,
    }  # fmt: skip
    assert wanted.items() <= got.items()


@pytest.mark.parametrize("cell", ["N/A", "[N/A]", "[Not Supported]"])
def test_an_absent_cell_is_no_fact(cell: str) -> None:
    assert "gpu.temperature[0000:9c:00]" not in known(QUERY.replace("64 C", cell))
    assert known(QUERY.replace("64 C", cell))["gpu.state[0000:9c:00]"] == "ok"


def test_cut_xml_gives_what_came_before_the_cut() -> None:
    got = known(XML[: XML.index("<temperature>")])
    assert got["gpu.remap_pending[0000:9c:00]"] is True
    assert "gpu.temperature[0000:9c:00]" not in got


def test_entities_are_refused() -> None:
    bomb = (
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><nvidia_smi_log>&b;</nvidia_smi_log>'
    )
    with pytest.raises(UnsafeXml):
        of_xml(bomb)
    assert known(bomb) == {}


CSV = "index, name, pci.bus_id, memory.used [MiB], temperature.gpu, clocks_throttle_reasons.hw_slowdown\n"


def test_csv() -> None:
    got = known(CSV + "0, NVIDIA L40S, 00000000:3A:00.0, 25903 MiB, 44, Not Active\n")
    assert got["gpu.memory_used[0000:3a:00,0]"] == 25903
    assert got["gpu.slowdown.hw[0000:3a:00,0]"] is False


@pytest.mark.parametrize(
    ("cell", "state"),
    [("[GPU requires reset]", "requires-reset"), ("[Unknown Error]", "err"), ("[GPU is lost]", "lost"), ("44", "ok")],
)
def test_csv_state(cell: str, state: str) -> None:
    got = known(CSV + f"0, NVIDIA L40S, 00000000:3A:00.0, 25903 MiB, {cell}, Not Active\n")
    assert got["gpu.state[0000:3a:00,0]"] == state


FAILURES = {
    "lost": (
        (
            "Unable to determine the device handle for GPU 0000:05:00.0: GPU is lost.  Reboot the system to recover"
            " this GPU\n"
        ),
        {"gpu.state[0000:05:00]": "lost"},
    ),
    "numbered": (
        "Unable to determine the device handle for GPU0: 0000:1A:00.0: Unknown Error\n",
        {"gpu.state[0000:1a:00]": "err"},
    ),
    "none": ("No devices were found\n", {"gpu.count": 0}),
    "list": ("GPU 0: NVIDIA L40S (UUID: GPU-3d0a1c5e-77b2-4c19-9f80-1e2d3c4b5a60)\n", {"gpu.count": 1}),
    "no-driver": ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", {}),
}


@pytest.mark.parametrize(("text", "wanted"), FAILURES.values(), ids=FAILURES)
def test_failures(text: str, wanted: dict[str, object]) -> None:
    assert known(text) == wanted


@pytest.mark.parametrize("address", ["00000000:9B:00.0", "0000:9b:00", "PCI:0000:9b:00", "0000:9B:00.0"])
def test_addresses_are_one(address: str) -> None:
    assert pci(address) == "0000:9b:00"
