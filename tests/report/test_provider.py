"""Provider, region, price and image: from what a bundle holds of the market, the cloud and the container's engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from postmortem import analyze

LOG = "2026-06-11T03:40:01Z INFO work: started\n"
VAST = {
    "id": 7781023, "machine_id": 41112, "host_id": 903, "label": None, "actual_status": "running",
    "intended_status": "running", "cur_state": "running", "geolocation": "Norway, NO", "dph_total": 0.8437,
    "gpu_name": "RTX 5090", "num_gpus": 8, "driver_version": "580.65.06", "image_uuid": "acme/prover:1.4.2",
    "jupyter_token": "x",
}  # fmt: skip
OTHER = VAST | {"id": 12, "dph_total": 0.3, "geolocation": "Iowa, US"}
ENV = "==> /proc/1/environ <==\nVAST_CONTAINERLABEL=C.7781023\nCONTAINER_ID=7781023\nGPU_COUNT=8\nPATH=/usr/bin\nnames of the others:\nJUPYTER_TOKEN \n"
AWS = (
    "==> aws spot/instance-action <==\n\n==> aws events/recommendations/rebalance <==\n\n==> aws instance-type <==\n"
    "p5.48xlarge\n==> aws placement/region <==\neu-north-1\n"
)
DMI = "==> /sys/class/dmi/id/sys_vendor <==\n{}\n\n==> /sys/class/dmi/id/product_name <==\n{}\n\n==> /var/lib/cloud/data/instance-id <==\ni-0ab1\n"
POD = {
    "id": "k2x", "name": "train-4", "costPerHr": 2.99, "imageName": "acme/train:7", "desiredStatus": "RUNNING",
    "machine": {"location": "SE", "gpuDisplayName": "H100"},
}  # fmt: skip
LAMBDA = {
    "data": {
        "id": "0920582c7ff041399e34823a0be62549", "name": "n1", "region": {"name": "us-west-1", "description": "x"},
        "instance_type": {"name": "gpu_1x_a10", "price_cents_per_hour": "60"},
    }
}  # fmt: skip
RENTED = {
    "name": "vast.ai",
    "instance": "7781023",
    "machine": "41112",
    "region": "Norway, NO",
    "price_per_hour": 0.8437,
}
PROVIDERS: dict[str, tuple[dict[str, str], dict[str, Any], str]] = {
    "vastai show instance --raw": ({"attach/vast-instance": json.dumps(VAST, indent=1)}, RENTED, "acme/prover:1.4.2"),
    "a warning of the command before it": (
        {"attach/market": "WARNING: a newer version is there\n" + json.dumps(VAST)}, RENTED, "acme/prover:1.4.2",
    ),
    "show instances: the one whose id the machine has": (
        {"attach/market": json.dumps([OTHER, VAST]), "env": ENV}, RENTED, "acme/prover:1.4.2",
    ),
    "show instances and no id": ({"attach/market": json.dumps([OTHER, VAST])}, {}, ""),
    "the environment of a vast.ai container": ({"env": ENV}, {"name": "vast.ai", "instance": "7781023"}, ""),
    "a manager's row": (
        {"status.json": json.dumps({"instances": [{"vast_id": 5, "machine_id": 3, "dph_total": 0.5, "geolocation": ", DE"}]})},
        {"name": "vast.ai", "instance": "5", "machine": "3", "region": "DE", "price_per_hour": 0.5}, "",
    ),
    "runpodctl": (
        {"attach/pod": json.dumps(POD)},
        {"name": "runpod", "instance": "k2x", "price_per_hour": 2.99, "region": "SE"} , "acme/train:7",
    ),
    "Lambda's API, in cents": (
        {"attach/instance.json": json.dumps(LAMBDA)},
        {"name": "lambda", "instance": LAMBDA["data"]["id"], "price_per_hour": 0.6, "region": "us-west-1"}, "",
    ),
    "RunPod's environment": (
        {"env": "RUNPOD_POD_ID=ab12\nRUNPOD_DC_ID=EU-SE-1\nHOME=/root\nPATH=/bin\n"},
        {"name": "runpod", "instance": "ab12", "region": "EU-SE-1"}, "",
    ),
    "the metadata service": ({"system/cloud": AWS}, {"name": "aws", "region": "eu-north-1", "type": "p5.48xlarge"}, ""),
    "a zone of Google's": (
        {"system/cloud": "==> gce machine-type <==\nprojects/1/machineTypes/a3-high\n==> gce zone <==\nprojects/1/zones/us-central1-a\n"},
        {"name": "gcp", "region": "us-central1", "type": "a3-high"}, "",
    ),
    "firmware": ({"container/identity": DMI.format("Amazon EC2", "g6.xlarge")}, {"name": "aws", "instance": "i-0ab1"}, ""),
    "cloud-init": (
        {"instance-data.json": json.dumps({"v1": {"cloud_name": "aws", "region": "us-east-1", "instance_id": "i-7"}})},
        {"name": "aws", "region": "us-east-1", "instance": "i-7"}, "",
    ),
    "a laptop of Microsoft's": ({"container/identity": DMI.format("Microsoft Corporation", "Surface Pro")}, {"instance": "i-0ab1"}, ""),
    "docker inspect": (
        {"inspect.json": json.dumps([{"Id": "a" * 64, "Image": "sha256:" + "b" * 64, "HostConfig": {"Memory": 0}, "Config": {"Image": "reg.io/team/app:2"}}], indent=1)},
        {}, "reg.io/team/app:2",
    ),
    "kubectl describe": (
        {"describe.txt": "Name:             app-1\nNamespace:        prod\nContainers:\n  app:\n    Image:          reg.io/app@sha256:" + "c" * 64 + "\n    Image ID:       x\n"},
        {}, "reg.io/app@sha256:" + "c" * 64,
    ),
    "a price that is none": ({"attach/market": json.dumps(VAST | {"dph_total": -1})}, {k: v for k, v in RENTED.items() if k != "price_per_hour"}, "acme/prover:1.4.2"),
    "a log that speaks of prices": ({"shop.log": LOG + '{"price_per_hour": 3}\n'}, {}, ""),
    "JSON that is cut": ({"attach/market": json.dumps(VAST)[:-20]}, {}, ""),
}  # fmt: skip


@pytest.mark.parametrize(("files", "told", "image"), PROVIDERS.values(), ids=PROVIDERS)
def test_the_rented_machine(files: dict[str, str], told: dict[str, Any], image: str, tmp_path: Path) -> None:
    for name, text in {"run.log": LOG, **files}.items():
        path = tmp_path / "b" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    machine = analyze(tmp_path / "b")["machine"]
    assert machine["provider"] == told
    assert machine["image"] == image
