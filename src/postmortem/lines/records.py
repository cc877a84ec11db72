"""Lines that are records: JSON objects and key=value pairs."""

from __future__ import annotations

import json
from typing import Any

from postmortem.lazy import lazy
from postmortem.lines import stamps
from postmortem.lines.levels import BY_NUMBER, level_of
from postmortem.lines.types import Head, Stamp

_TIME = ("time", "ts", "timestamp", "@timestamp", "__REALTIME_TIMESTAMP", "asctime", "datetime", "t", "eventTime")
_LEVEL = ("level", "lvl", "severity", "levelname", "log.level", "s")
_MESSAGE = ("msg", "message", "MESSAGE", "event", "short_message", "log", "text")
_PROGRAM = ("SYSLOG_IDENTIFIER", "_COMM", "logger", "logger_name", "name", "component", "target", "c", "module")
_HOST = ("_HOSTNAME", "hostname", "host")
_PID = ("_PID", "SYSLOG_PID", "pid", "process")
_USED = {*_TIME, *_LEVEL, *_MESSAGE, *_PROGRAM, *_HOST, *_PID, "caller", "v", "stream", "fields", "span", "spans"}
_LOGFMT = lazy(r"(?:time|ts|t|level|lvl|caller|msg|logger|source)=")
_PAIR = lazy(r'(?<![\w.@/-])([\w.@/-]{1,64})=("(?:[^"\\]|\\.)*"|[^\s"]*)(?: |$)')


def parsed(text: str) -> dict[str, Any] | None:
    """The JSON object that the whole text is, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def json_file(head: Head) -> bool:
    r"""`{"log":"text\n","stream":"stderr","time":"2026-05-01T12:00:00.123456789Z"}` (docker's json-file driver)."""
    record = parsed(head.text)
    log = record.get("log") if record else None
    if not record or not isinstance(log, str) or "stream" not in record:
        return False
    if stamp := time_of(record.get("time")):
        head.stamps.append(stamp)
    head.text = log.removesuffix("\n")
    return True


def json_record(head: Head) -> bool:
    """`{"level":"info","ts":1714564800.1234,"msg":"…"}` (zap, pino, ELK), `{"__REALTIME_TIMESTAMP":…}` (journal)."""
    record = parsed(head.text)
    if not record:
        return False
    inner = record.get("fields")
    message = _text(_first(record, _MESSAGE))
    if not message and isinstance(inner, dict):  # Rust tracing's JSON
        message, record = _text(inner.get("message")), record | {k: v for k, v in inner.items() if k != "message"}
    stamp = next((s for k in _TIME if (s := time_of(record.get(k)))), None)
    if not message or (stamp is None and not _first(record, _LEVEL)):
        return False
    if stamp:
        head.stamps.append(stamp)
    journal = "__REALTIME_TIMESTAMP" in record
    rest = "" if journal else "".join(f" {k}={_text(v)}" for k, v in record.items() if k not in _USED)
    head.text = message + rest
    _writer(head, record)
    return True


def _writer(head: Head, record: dict[str, Any]) -> None:
    """Host, program, pid and level of a record; what an outer layer knew stays."""
    head.host = head.host or _text(_first(record, _HOST))
    head.program = _text(_first(record, _PROGRAM)) or head.program
    head.pid = _text(_first(record, _PID)) or head.pid
    priority = _text(record.get("PRIORITY"))
    found = BY_NUMBER[int(priority)] if priority in tuple("01234567") else level_of(_text(_first(record, _LEVEL)))
    head.level = found or head.level
    if record.get("_TRANSPORT") == "kernel" or head.program == "kernel":
        head.kernel = True


def _first(record: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((record[k] for k in keys if record.get(k) not in (None, "")), None)


def _text(value: Any) -> str:
    """A value as a log would print it; the journal writes messages that are not UTF-8 as a list of bytes."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(b, int) and 0 <= b < 256 for b in value):
        return bytes(value).decode("utf-8", "replace")
    if value is None:
        return ""
    return (
        str(value) if isinstance(value, (int, float)) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    )


def time_of(value: Any) -> Stamp | None:
    """The stamp of a record's time: ISO text, or seconds, ms, µs or ns since 1970."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        whole, _, decimals = f"{value:.6f}".partition(".")
        return stamps.epoch(whole, decimals)
    if isinstance(value, int):
        return stamps.epoch(str(value))
    if not isinstance(value, str):
        return None
    whole, _, decimals = value.partition(".")
    if whole.isdigit():
        return stamps.epoch(whole, decimals)
    got = stamps.iso(value) or stamps.numeric(value) or stamps.named(value) or stamps.weekday(value)
    return got[0] if got else None


def logfmt(head: Head) -> bool:
    """`time="2026-05-01T12:00:00Z" level=info msg="…" k=v` (logrus, slog, go-kit, containerd)."""
    if not _LOGFMT.match(head.text):
        return False
    fields: dict[str, str] = {}
    rest = []
    for m in _PAIR.finditer(head.text):
        key, value = m[1], m[2]
        if value.startswith('"'):
            value = value[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
        if key in ("time", "ts", "t", "level", "lvl", "msg", "logger", "caller", "source") and key not in fields:
            fields[key] = value
        else:
            rest.append(m[0].strip())
    stamp = next((s for k in ("time", "ts", "t") if (s := time_of(fields.get(k)))), None)
    level = level_of(fields.get("level") or fields.get("lvl") or "")
    if stamp is None and not (level and "msg" in fields):
        return False
    if stamp:
        head.stamps.append(stamp)
    head.level = level or head.level
    head.program = fields.get("logger") or head.program
    head.text = " ".join(([fields["msg"]] if "msg" in fields else []) + rest)
    return True
