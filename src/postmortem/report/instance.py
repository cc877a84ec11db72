"""What a market's or cloud's own JSON says of the rented machine: `vastai show instance ID --raw` and its like."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from math import isfinite
from typing import Any

from postmortem.model import Kind
from postmortem.report.safe import plain
from postmortem.scene import Reading, Scene

KINDS = (Kind.CONFIG, Kind.CONTAINER, Kind.LISTING)
LARGEST = 1 << 20  # bytes of a file that may be such an answer
SHORT = 200

# A provider's key for what an hour costs, in units of the currency, or in cents.
PRICES = {
    "dph_total": "vast.ai", "costPerHr": "runpod", "adjustedCostPerHr": "runpod", "price_cents_per_hour": "lambda",
    "price_per_hour": "", "hourly_price": "",
}  # fmt: skip
KEYS = {
    "region": ("geolocation", "region", "dataCenterId", "datacenter", "location", "availability_zone", "zone"),
    "instance": ("id", "vast_id", "instance_id", "podId"),
    "machine": ("machine_id", "machineId", "host_id"),
    "image": ("image_uuid", "imageName", "docker_image", "image"),
}
CLOUD_INIT = {"aws": "aws", "ec2": "aws", "gce": "gcp", "gcp": "gcp", "azure": "azure", "oracle": "oracle"}


def instances(scene: Scene) -> Iterator[dict[str, Any]]:
    """Every instance that some attached or saved answer tells of, the answers in the order of the sources."""
    for reading in scene.readings:
        if may_tell(reading):
            yield from of_answer(parsed(reading))


def may_tell(reading: Reading) -> bool:
    """Whether it is worth parsing: small, whole, with a key that only such answers have."""
    source = reading.source
    if source.kind not in KINDS and "attach/" not in reading.path:
        return False
    text = source.text
    words = [f'"{key}"' for key in (*PRICES, "cloud_name", "actual_status")]
    return text.whole and text.size <= LARGEST and text.may_hold(*words)


def parsed(reading: Reading) -> Any:
    """The JSON of an answer; a line of a warning may stand before it."""
    text = "\n".join(line for _, line in reading.source.text.kept())
    starts = [at for at in (text.find("{"), text.find("[{"), text.find("[\n")) if at >= 0]
    try:
        return json.JSONDecoder().raw_decode(text, min(starts))[0]
    except (ValueError, RecursionError):
        return None


def of_answer(told: Any) -> Iterator[dict[str, Any]]:
    """One instance for each object that has a price or a cloud's name; lists and envelopes are looked into."""
    if isinstance(told, list):
        for one in told:
            yield from of_answer(one)
    elif isinstance(told, dict):
        one = instance(told)
        if one:
            yield one
            return
        for inner in told.values():
            if isinstance(inner, list | dict):
                yield from of_answer(inner)


def instance(told: Mapping[str, Any]) -> dict[str, Any]:
    """The instance that an object tells of: provider, ids, region, image, price an hour; nothing for any other one."""
    if isinstance(told.get("cloud_name"), str):  # cloud-init's instance-data.json
        name = told["cloud_name"]
        return {"name": CLOUD_INIT.get(name, name)} | fields(told)
    kind = told.get("instance_type")
    inner = kind if isinstance(kind, dict) else {}
    key = next((k for k in PRICES if amount({**inner, **told}.get(k)) is not None), None)
    if key is None:
        return {"name": "vast.ai"} | fields(told) if "actual_status" in told and "machine_id" in told else {}
    price = amount({**inner, **told}[key])
    assert price is not None
    found = {"name": PRICES[key]} | fields(told)
    return found | {"price_per_hour": round(price / 100 if "cents" in key else price, 6)}


def fields(told: Mapping[str, Any]) -> dict[str, Any]:
    machine = told.get("machine")
    beside = machine if isinstance(machine, dict) else {}
    found = {}
    for name, keys in KEYS.items():
        values = (text_of({**beside, **told}.get(key)) for key in keys)
        if value := next((v for v in values if v), ""):
            found[name] = value
    return found


def text_of(value: Any) -> str:
    """A name or number as text; of an object with a name, that (`"region": {"name": "us-west-1"}`)."""
    if isinstance(value, dict):
        value = value.get("name")
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return plain(str(value).strip(" ,"), SHORT)


def amount(value: Any) -> float | None:
    """A price: a positive number, also in quotes."""
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except ValueError:
        return None
    return number if number is not None and isfinite(number) and number > 0 else None


def chosen(found: list[dict[str, Any]], ids: Set[str]) -> dict[str, Any]:
    """The one that is this machine: by an id that the machine itself has, else the only one there is."""
    by_id = [one for one in found if one.get("instance") in ids]
    if by_id:
        return by_id[0]
    distinct = {(one.get("name"), one.get("instance")): one for one in found}
    return next(iter(distinct.values())) if len(distinct) == 1 else {}
