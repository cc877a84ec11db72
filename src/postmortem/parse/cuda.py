"""CUDA, cuBLAS and cuDNN statuses in the logs of programs -> `cuda.error` events."""

from __future__ import annotations

from collections.abc import Iterator

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.parse.cuda_lines import NEEDLES, Status, is_pinned, status_of
from postmortem.parse.nearness import seconds_of, within
from postmortem.scene import Parser, Reading

ECHO_S = 5.0  # the same status of the same rank within seconds is an echo; without stamps, always
LONGEST = 8192  # characters of a line that are looked at
NEAR = 2  # lines around that may name the call that pins memory
PINNABLE = frozenset({"2", "304"})

_RANK = lazy(r"\[(?:rank|default)(\d+)\]|\b(?:global )?rank[ =:](\d+)\b")
_DEVICE = lazy(r"\b(?:cuda:|GPU |device[: =])(\d+)\b")


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Events of the CUDA statuses that programs print, echoes counted.

    `RuntimeError: CUDA error: an illegal memory access was encountered`, by PyTorch.
    """
    kept: dict[tuple[str, ...], tuple[list[int], dict[str, str], float | None]] = {}
    done: list[tuple[list[int], dict[str, str]]] = []
    for number in reading.nominated:
        line = reading.line(number)
        status = status_of(line.message[:LONGEST]) if line and line.channel == "program" else None
        if line is None or status is None:
            continue
        fields = _fields(reading, number, line.message, status)
        key = tuple(fields.get(name, "") for name in ("code", "name", "rank", "device", "pinned"))
        now_s = seconds_of(reading, number)
        if key in kept and within(kept[key][2], now_s, ECHO_S):
            kept[key][0].append(number)
            kept[key] = (kept[key][0], kept[key][1], now_s)
            continue
        kept[key] = ([number], fields, now_s)
        done.append((kept[key][0], fields))
    for lines, fields in done:
        count = {"count": str(len(lines))} if len(lines) > 1 else {}
        yield reading.event("cuda.error", lines[0], fields | count, tuple(lines[1:3]))


def _fields(reading: Reading, number: int, message: str, status: Status) -> dict[str, str]:
    row = status.row
    named = row["name"] if not status.code else f"cudaError{row['name']}"
    fields = {"name": named, "text": row["message"], "class": row.get("class", "gpu.cuda-error")}
    fields |= {"code": status.code} if status.code else {}
    fields |= {flag: "yes" for flag in ("sticky", "effect") if row.get(flag)}
    fields |= status.more | ({"note": row["note"]} if "note" in row else {})
    if status.code in PINNABLE and _pins(reading, number, message, status):
        fields |= {"pinned": "yes", "class": "memory.pinned-failed"}
    raw = reading.raw(number) or message
    if rank := _RANK.search(raw):
        fields["rank"] = rank.group(1) or rank.group(2)
    if "device" not in fields and (device := _DEVICE.search(message)):
        fields["device"] = device.group(1)
    return fields


def _pins(reading: Reading, number: int, message: str, status: Status) -> bool:
    """Whether the failed call pins host memory: the line says so, or a line right beside it does."""
    if is_pinned(message):
        return True
    if status.more.get("call") or "tried" in status.more:
        return False
    around = (reading.raw(number + step) for step in range(-NEAR, NEAR + 1) if step)
    return any(is_pinned(raw) for raw in around if raw)


PARSER = Parser(
    name="cuda",
    kinds=frozenset({Kind.LOG, Kind.JOURNAL, Kind.CONTAINER}),
    read=read,
    needles=NEEDLES,
    before=NEAR,
    after=NEAR,
)
