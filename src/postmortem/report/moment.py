"""A moment in the report: RFC 3339 in UTC, with its uncertainty."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from postmortem.model import Instant

YEAR_UNKNOWN = 1904  # such a year stands for none (clock/timeline.py)


def when(instant: Instant | None) -> dict[str, Any] | None:
    """RFC 3339 in UTC, microseconds only where there are any."""
    if instant is None:
        return None
    utc = instant.utc.astimezone(UTC)
    text = utc.isoformat(timespec="microseconds" if utc.microsecond else "seconds").replace("+00:00", "Z")
    return {"utc": text, "plus_minus_s": round(instant.plus_minus_s, 6), "zone_known": instant.zone_known}


def parsed(moment: Any) -> datetime | None:
    """The time of a WHEN of the report, or None where there is none."""
    return datetime.fromisoformat(moment["utc"].replace("Z", "+00:00")) if moment else None


def year_known(moment: Any) -> bool:
    return bool(moment) and int(moment["utc"][:4]) > YEAR_UNKNOWN


def told(moment: Any, without: str = "time unknown", brief: bool = False) -> str:
    """A WHEN for a person, such as `2026-06-11 03:46:43 UTC ±2 min`; `brief` leaves out what the log does not say."""
    if not moment:
        return without
    text = moment["utc"].rstrip("Z").replace("T", " ")
    text = f"{text.split('.')[0]}{fraction(text)}"
    text = text if year_known(moment) else text[5:]
    lacks = [*([] if moment["zone_known"] else ["no zone"]), *([] if year_known(moment) else ["no year"])]
    zone = " UTC" if moment["zone_known"] else ""
    if brief:
        return text + zone
    vague = spread(moment["plus_minus_s"])
    return text + zone + (f" ±{vague}" if vague else "") + (f" ({', '.join(lacks)} in the log)" if lacks else "")


def fraction(text: str) -> str:
    """Milliseconds, where there is a fraction."""
    return "." + text.split(".")[1][:3] if "." in text else ""


def spread(seconds: float) -> str:
    """An uncertainty worth telling: `2 s`, `5 min`, `14 h`; nothing below two seconds."""
    if seconds < 2:
        return ""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
