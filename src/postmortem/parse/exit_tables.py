"""Structured records of an end: docker inspect, kubectl describe and get -o yaml, sacct."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.parse.ending import by_signal, finished_at, of_shell_status
from postmortem.scene import Parser, Reading

_JSON = lazy(
    r'^\s*"(?P<key>OOMKilled|ExitCode|Status|Error|Name|FinishedAt|StartedAt|Pid)":\s*"?(?P<value>[^",]*)"?,?\s*$'
)
_DESCRIBE = lazy(
    r"^\s*(?P<key>State|Last State|Reason|Exit Code|Signal|Started|Finished|Message):\s+(?P<value>\S.*?)\s*$"
)
_CONTAINER = lazy(r"^  (?P<name>[\w.-]+):\s*$")
_YAML = lazy(
    r"^\s*(?:- )?(?P<key>exitCode|reason|signal|finishedAt|startedAt|containerID|terminated|name|lastState|state):"
    r"\s*(?P<value>.*?)\s*$"
)
_SACCT = lazy(r"^\s*JobID\b.*\bState\b.*\bExitCode\b")
_SACCT_CODE = lazy(r"^(?P<code>\d+):(?P<signal>\d+)$")


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Records of several lines, such as docker inspect's `"ExitCode": 137,` with `"OOMKilled": false,` beside it."""
    lines = list(reading.source.text.kept())
    text = "\n".join(raw for _, raw in lines[:4000])
    if '"ExitCode"' in text and '"OOMKilled"' in text:
        yield from _inspect(reading, lines)
        yield from _compact(reading, lines)
    if re.search(r"^\s*(?:Last )?State:\s+(?:Terminated|Running|Waiting)", text, re.M):
        yield from _describe(reading, lines)
    if re.search(r"^\s*exitCode:", text, re.M):
        yield from _yaml(reading, lines)
    yield from _sacct(reading, lines)


@dataclass(slots=True)
class _Record:
    line: int = 0
    values: dict[str, str] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)

    def take(self, key: str, value: str, line: int) -> None:
        self.values[key] = value
        self.lines.append(line)


def _inspect(reading: Reading, lines: list[tuple[int, str]]) -> Iterator[Event]:
    """docker inspect's State object; a container that runs has an ExitCode of 0 that says nothing."""
    record = _Record()
    names = (m["value"] for _, raw in lines if (m := _JSON.match(raw)) and m["key"] == "Name")
    name = next((value[1:] for value in names if value.startswith("/")), "")
    for line, raw in lines:
        if re.match(r'^\s*"State":\s*\{', raw):
            record = _Record(line)
        elif record.line and (match := _JSON.match(raw)):
            record.take(match["key"], match["value"], line)
        elif record.line and re.match(r"^\s*\},?\s*$", raw):
            yield from _state(reading, record, name)
            record = _Record()


def _compact(reading: Reading, lines: list[tuple[int, str]]) -> Iterator[Event]:
    """`{"Status":"exited","OOMKilled":false,"ExitCode":137}`: docker inspect -f '{{json .State}}'."""
    for line, raw in lines:
        if raw.lstrip()[:1] in ("{", "[") and '"ExitCode"' in raw and '"OOMKilled"' in raw:
            try:
                state = _with_exit_code(json.loads(raw))
            except (ValueError, RecursionError):
                continue
            values = {key: json.dumps(value).strip('"') for key, value in state.items()}
            yield from _state(reading, _Record(line, values, [line] * len(values)), "")


def _with_exit_code(tree: Any) -> dict[str, Any]:
    """The first object below that has an exit code and says whether it was killed for memory."""
    if isinstance(tree, dict) and {"ExitCode", "OOMKilled"} <= tree.keys():
        return tree
    below = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return next((found for part in below if (found := _with_exit_code(part))), {})


def _state(reading: Reading, record: _Record, name: str) -> Iterator[Event]:
    values = record.values
    ran = values.get("Status") == "running"
    oom = {"true": "yes", "false": "no"}.get(values.get("OOMKilled", ""), "")
    if "ExitCode" not in values or not values["ExitCode"].isdigit() or (ran and oom != "yes"):
        return
    fields = {} if ran else of_shell_status(int(values["ExitCode"]))
    fields |= {"container": name, "oomkilled": oom, "how": "container", "state": values.get("Status", "")}
    fields |= {"error": values.get("Error", ""), "finished": values.get("FinishedAt", "")}
    line = record.lines[next(i for i, key in enumerate(values) if key == "ExitCode")]
    yield _ended(reading, line, fields, record)


def _describe(reading: Reading, lines: list[tuple[int, str]]) -> Iterator[Event]:
    """kubectl describe: `State:` or `Last State:` with the indented lines below it."""
    container, record = "", _Record()
    for line, raw in lines:
        match = _DESCRIBE.match(raw)
        if match and match["key"].endswith("State"):
            yield from _terminated(reading, record, container)
            record = _Record(line)
        if match and record.line:
            record.take(match["key"], match["value"], line)
        elif record.line:
            yield from _terminated(reading, record, container)
            record = _Record()
        if named := _CONTAINER.match(raw):
            container = named["name"]
    yield from _terminated(reading, record, container)


def _terminated(reading: Reading, record: _Record, container: str) -> Iterator[Event]:
    values = record.values
    code = values.get("Exit Code", "")
    if not code.isdigit():
        return
    last = "Last State" in values
    fields = of_shell_status(int(code)) | {
        "container": container,
        "reason": values.get("Reason", ""),
        "how": "container",
    }
    if values.get("Signal", "").isdigit():
        fields |= by_signal(int(values["Signal"]))
    fields |= {"oomkilled": "yes" if values.get("Reason") == "OOMKilled" else "no", "last": "yes" if last else ""}
    fields |= {"finished": values.get("Finished", "")}
    yield _ended(reading, record.lines[list(values).index("Exit Code")], fields, record)


def _yaml(reading: Reading, lines: list[tuple[int, str]]) -> Iterator[Event]:
    """kubectl get -o yaml: the `terminated:` block of a container status."""
    record, last = _Record(), False
    for line, raw in [*lines, (0, "")]:
        match = _YAML.match(raw)
        if match and match["key"] in ("lastState", "state"):
            yield from _yaml_end(reading, record)
            record, last = _Record(), match["key"] == "lastState"
        elif match and match["key"] == "terminated":
            record = _Record(line, {"last": "yes"} if last else {})
        elif match and record.line:
            record.take(match["key"], match["value"].strip("\"'"), line)
        elif record.line:
            yield from _yaml_end(reading, record)
            record = _Record()


def _yaml_end(reading: Reading, record: _Record) -> Iterator[Event]:
    code = record.values.get("exitCode", "")
    if code.isdigit():
        reason = record.values.get("reason", "")
        fields = of_shell_status(int(code)) | {"reason": reason, "how": "container"}
        fields |= {
            "oomkilled": "yes" if reason == "OOMKilled" else "no",
            "finished": record.values.get("finishedAt", ""),
            "last": record.values.get("last", ""),
        }
        yield _ended(reading, record.lines[0], fields, record)


def _ended(reading: Reading, line: int, fields: Mapping[str, str], record: _Record) -> Event:
    """The end at the time that the record itself gives."""
    event = reading.event("exit", line, {k: v for k, v in fields.items() if v}, tuple(record.lines))
    when = finished_at(fields.get("finished", "")) or event.when
    return replace(event, when=when, more=tuple(replace(e, when=e.when or when) for e in event.more))


def _sacct(reading: Reading, lines: list[tuple[int, str]]) -> Iterator[Event]:
    """sacct rows, such as `60601445.0       python             CANCELLED     0:15   00:00:53`: code:signal."""
    header = ""
    for line, raw in lines:
        if _SACCT.match(raw):
            header = raw
        elif header and raw.strip() and not raw.startswith("-"):
            yield from _sacct_row(reading, line, _columns(header, raw))


def _columns(header: str, raw: str) -> Mapping[str, str]:
    """sacct's cells: between bars with -p, else right-aligned or left-aligned words; State may hold two words."""
    if "|" in header:
        return dict(zip(header.strip("|").split("|"), raw.strip("|").split("|"), strict=False))
    spans = [(match.group(), match.start(), match.end()) for match in re.finditer(r"\S+", header)]
    cells: dict[str, str] = {}
    for match in re.finditer(r"\S+", raw):
        centre = (match.start() + match.end() - 1) / 2
        name = min(
            spans,
            key=lambda span: (
                max(span[1] - match.end(), match.start() - span[2], 0) * 100 + abs((span[1] + span[2]) / 2 - centre)
            ),
        )[0]
        cells[name] = f"{cells[name]} {match.group()}" if name in cells else match.group()
    return cells


def _sacct_row(reading: Reading, line: int, cells: Mapping[str, str]) -> Iterator[Event]:
    code = _SACCT_CODE.match(cells.get("ExitCode", ""))
    state = cells.get("State", "").split(" ")[0].rstrip("+")
    if code is None or state in ("", "RUNNING", "PENDING"):
        return
    fields = {"job": cells.get("JobID", ""), "state": state, "how": "scheduler", "comm": cells.get("JobName", "")}
    signal = int(code["signal"])
    if signal > 64:  # Slurm's own mark for an out-of-memory step is 0:125
        fields["status"] = cells["ExitCode"]
    else:
        fields |= by_signal(signal) if signal else of_shell_status(int(code["code"]))
    fields |= {"oomkilled": "yes" if state.startswith("OUT_OF") else ""}
    yield reading.event("exit", line, {k: v for k, v in fields.items() if v})


PARSER = Parser(
    name="exit-tables",
    kinds=frozenset({Kind.CONTAINER, Kind.LISTING, Kind.CONFIG}),
    read=read,
)
