"""Whether a bundle is what was written: hashes, order, completeness."""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from postmortem.collect.stream import pairs
from postmortem.errors import CollectError


@dataclass(slots=True)
class Verdict:
    """What is wrong with a bundle; `missing` is what a partial one lacks, which is no damage."""

    members: int = 0
    damage: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    redacted: bool | None = None


def verify(path: str) -> Verdict:
    """Reads all of the bundle. Raises CollectError where it cannot be opened or is no bundle."""
    verdict, hashes, names = Verdict(), {}, []
    manifest: dict[str, Any] | None = None
    end: dict[str, str] | None = None
    for name, data in _members(path, verdict):
        if name in hashes:
            verdict.damage.append(f"{name} is there twice")
        names.append(name)
        hashes[name] = (hashlib.sha256(data).hexdigest(), len(data))
        if name == "manifest.json":
            manifest = _json(data, verdict)
        elif name == "END":
            end = pairs(data)
    if not names:
        raise CollectError(f"{path} is no bundle: it holds no member that can be read")
    verdict.members = len(names)
    _order(names, verdict)
    if manifest is None:
        verdict.missing.append("the manifest: the collection was cut, or is a raw capture")
    else:
        _against(manifest, hashes, verdict)
    if end is None:
        verdict.missing.append("END: nothing says that this is all")
    else:
        _ending(end, names, hashes, verdict)
    return verdict


def _members(path: str, verdict: Verdict) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(path, "r|gz") as tar:
            for info in tar:
                file = tar.extractfile(info)
                if file is not None:
                    yield info.name, file.read()
    except OSError as error:
        if error.errno is not None:
            raise CollectError(f"cannot read {path}: {error.strerror}") from error
        verdict.damage.append(f"the gzip stream is damaged: {error}")
    except (tarfile.ReadError, EOFError) as error:
        verdict.missing.append(f"the stream is cut: {error}")


def _json(data: bytes, verdict: Verdict) -> dict[str, Any] | None:
    try:
        told = json.loads(data)
    except ValueError:
        verdict.damage.append("the manifest is no JSON")
        return None
    return told if isinstance(told, dict) else None


def _order(names: list[str], verdict: Verdict) -> None:
    if names[0] != "START":
        verdict.damage.append(f"START is not first, {names[0]} is")
    if "END" in names and names[-2:] != ["manifest.json", "END"]:
        verdict.damage.append("the manifest and END are not last")


def _against(manifest: dict[str, Any], hashes: dict[str, tuple[str, int]], verdict: Verdict) -> None:
    listed = [(row["name"], (row["sha256"], row["bytes"])) for row in manifest.get("members", [])]
    for name, told in listed:
        if name not in hashes:
            verdict.damage.append(f"{name} is missing")
        elif hashes[name] != told:
            verdict.damage.append(f"{name} is not what was written: its hash is another one")
    known = {name for name, _ in listed} | {"manifest.json", "END"}
    verdict.damage += [f"{name} is not in the manifest" for name in hashes if name not in known]
    if [name for name, _ in listed if name in hashes] != [name for name in hashes if name in dict(listed)]:
        verdict.damage.append("the members stand in another order")
    verdict.redacted = manifest.get("redacted")
    if manifest.get("complete") is not True:
        verdict.missing.append(str(manifest.get("reason") or "the collection is partial"))


def _ending(end: dict[str, str], names: list[str], hashes: dict[str, tuple[str, int]], verdict: Verdict) -> None:
    if end.get("members", "") not in ("", str(len(names))):
        verdict.damage.append(f"END speaks of {end['members']} members, {len(names)} are there")
    told = end.get("manifest_sha256")
    if told and "manifest.json" in hashes and hashes["manifest.json"][0] != told:
        verdict.damage.append("the manifest is not what was written")
