"""`--since`: a day, a time, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

AGO = re.compile(r"(\d+(?:\.\d+)?)\s*([mhdw])")
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_since(text: str, now: datetime | None = None) -> datetime:
    """`2026-11-30`, `2026-11-30T12:00:00Z`, `36h`, `7d`; a time without a zone is UTC. Raises ValueError."""
    ago = AGO.fullmatch(text.strip())
    if ago:
        return (now or datetime.now(UTC)) - timedelta(**{UNITS[ago[2]]: float(ago[1])})
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is no time like 2026-11-30, 2026-11-30T12:00:00Z, 36h or 7d") from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)
