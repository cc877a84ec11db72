"""What the collector says of its own work: a bundle's manifest.json, or the notes of a raw capture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from postmortem.model import Probe, State

SCHEMA = "postmortem/bundle/v1"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Of which machine, from when to when, and how each probe ended."""

    host: str = ""
    incident: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    complete: bool = False
    redacted: bool | None = None
    argv: str = ""
    probes: tuple[Probe, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)  # every key, as written


def manifest_of(data: bytes | bytearray) -> Manifest | None:
    """The manifest that a manifest.json holds, or None when it is not one of ours."""
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        return None
    argv = told.get("argv", "")
    redacted = told.get("redacted")
    listed = told.get("probes")
    return Manifest(
        host=_text(told.get("host")),
        incident=_text(told.get("incident")),
        started=when(told.get("started")),
        ended=when(told.get("ended")),
        complete=told.get("complete") is True,
        redacted=redacted if isinstance(redacted, bool) else None,
        argv=" ".join(map(str, argv)) if isinstance(argv, list) else _text(argv),
        probes=tuple(_probe(row) for row in listed if isinstance(row, dict)) if isinstance(listed, list) else (),
        more=told,
    )


def capture_manifest(start: str, end: str, notes: Iterable[str]) -> Manifest:
    """The same from a capture's START (`host: gpu-7`), END (`complete: yes`) and notes (a table with tabs)."""
    told = {**_pairs(start), **{f"end.{key}": value for key, value in _pairs(end).items()}}
    started = when(told.get("started"))
    seconds = _number(told.get("end.seconds"))
    ended = datetime.fromtimestamp(started.timestamp() + seconds, UTC) if started and end else None
    return Manifest(
        host=told.get("host", ""),
        incident=told.get("incident", ""),
        started=started,
        ended=ended,
        complete=told.get("end.complete") == "yes",
        redacted=told.get("redacted") == "yes",
        argv=told.get("argv", ""),
        probes=tuple(_noted(line) for note in notes for line in note.splitlines() if line.count("\t") >= 5),
        more=told,
    )


def when(value: Any) -> datetime | None:
    """An RFC 3339 time or a Unix time, in UTC."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        moment = datetime.fromisoformat(_text(value))
    except (ValueError, OverflowError, OSError):
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


def _probe(row: Mapping[str, Any]) -> Probe:
    name, state = _text(row.get("name")), _text(row.get("state"))
    told = [_text(row.get(key)) for key in ("why", "reason", "member")]
    return Probe(name, _state(state), _number(row.get("seconds")), int(_number(row.get("bytes"))), *told)


def _noted(line: str) -> Probe:
    name, state, seconds, size, member, source, *reason = ["" if part == "-" else part for part in line.split("\t")]
    told = reason[0] if reason else ""
    return Probe(name, _state(state), _number(seconds), int(_number(size)), source, told, member)


def _state(name: str) -> State:
    return State(name) if name in set(State) else State.MISSING


def _pairs(text: str) -> dict[str, str]:
    pairs = (line.partition(": ") for line in text.splitlines())
    return {key.rstrip(":"): value.strip() for key, _, value in pairs}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0
