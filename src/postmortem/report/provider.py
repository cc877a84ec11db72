"""Where the machine was rented, what an hour cost, which image ran: from settings, firmware and attached answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from postmortem.model import Kind
from postmortem.report.instance import SHORT, chosen, instances
from postmortem.report.safe import plain
from postmortem.scene import Reading, Scene

MOST_IMAGES = 3
# `VAST_CONTAINERLABEL=C.123` in the environment of vast.ai, `RUNPOD_POD_ID=...`
LABEL = re.compile(r"^(?:export )?(VAST_CONTAINERLABEL|CONTAINER_ID|RUNPOD_POD_ID|RUNPOD_DC_ID)=[\"']?([\w.-]+)")
HEADER = re.compile(r"^==> (?P<what>.+) <==$")
VENDORS = (("Amazon", "aws"), ("Google", "gcp"), ("Microsoft", "azure"), ("Oracle", "oracle"), ("DigitalOcean", "do"))
# `"Image": "repo/name:tag"` of docker inspect, `"image": ...` of a pod, `Image:  repo/name:tag` of kubectl describe
IMAGE = re.compile(r"""(?m)"[Ii]mage"\s*:\s*"(?P<json>[^"]+)"|^\s*Image:\s+(?P<told>\S+)\s*$""")
DIGEST = re.compile(r"^(?:sha256:)?[0-9a-f]{64}$")


def provider(scene: Scene) -> dict[str, Any]:
    """name, instance, machine, region, type and price_per_hour, as far as they are known."""
    found: dict[str, Any] = {}
    for told in (answered(scene), labelled(scene), firmware(scene)):
        same = not found.get("name") or not told.get("name") or found["name"] == told["name"]
        found |= {k: v for k, v in told.items() if v and same and not found.get(k)}
    found.pop("image", None)
    return dict(sorted(found.items()))


def image(scene: Scene) -> str:
    """The container image: by the market's answer, else by what the container's engine or the cluster says."""
    told = answered(scene).get("image")
    if told:
        return str(told)
    names = (name for reading in scene.of_kind(Kind.CONTAINER) for name in images(reading))
    return " + ".join(sorted(list(dict.fromkeys(names))[:MOST_IMAGES]))


def images(reading: Reading) -> Iterator[str]:
    if not reading.source.text.may_hold('"Image"', '"image"', "Image:"):
        return
    for match in (m for _, line in reading.source.text.kept() for m in IMAGE.finditer(line)):
        name = match["json"] or match["told"]
        if not DIGEST.match(name):
            yield plain(name, SHORT)


def answered(scene: Scene) -> dict[str, Any]:
    """What an attached answer of the market says of this machine."""
    return chosen(list(instances(scene)), frozenset(v for v in labelled(scene).values() if isinstance(v, str)))


def labelled(scene: Scene) -> dict[str, str]:
    """What a market put into the environment of its containers."""
    values: dict[str, str] = {}
    for reading in scene.of_kind(Kind.CONFIG):
        if reading.source.text.may_hold("VAST_CONTAINERLABEL=", "RUNPOD_"):
            pairs = (LABEL.match(line) for _, line in reading.source.text.kept())
            values = {m[1]: m[2] for m in pairs if m} | values
    if label := values.get("VAST_CONTAINERLABEL"):
        return {"name": "vast.ai", "instance": values.get("CONTAINER_ID") or label.removeprefix("C.")}
    if pod := values.get("RUNPOD_POD_ID"):
        return {"name": "runpod", "instance": pod, "region": values.get("RUNPOD_DC_ID", "")}
    return {}


def firmware(scene: Scene) -> dict[str, str]:
    """What the machine's firmware, cloud-init and the cloud's metadata service say, as the collector keeps it."""
    told: dict[str, str] = {}
    for reading in scene.readings:
        if reading.path.endswith(("container/identity", "system/cloud")):
            told |= sections(reading)
    vendor = told.get("/sys/class/dmi/id/sys_vendor", "")
    name = next((name for word, name in VENDORS if word in vendor), "")
    if "Microsoft" in vendor and "Virtual Machine" not in told.get("/sys/class/dmi/id/product_name", ""):
        name = ""
    name = next(
        (cloud for cloud, key in (("aws", "aws "), ("gcp", "gce ")) if any(k.startswith(key) for k in told)), name
    )
    zone = told.get("gce zone", "").rpartition("/")[2]
    return {
        "name": name,
        "instance": told.get("/var/lib/cloud/data/instance-id", ""),
        "region": told.get("aws placement/region", "") or zone.rpartition("-")[0] or zone,
        "type": told.get("aws instance-type", "") or told.get("gce machine-type", "").rpartition("/")[2],
    }


def sections(reading: Reading) -> dict[str, str]:
    """`==> /sys/class/dmi/id/sys_vendor <==` and the first line below each."""
    found: dict[str, str] = {}
    what = ""
    for _, line in reading.source.text.kept():
        if match := HEADER.match(line):
            what = match["what"]
        elif what and line.strip():
            found.setdefault(what, plain(line.strip(), SHORT))
            what = ""
    return found
