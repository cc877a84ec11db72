"""Where on the page a line of evidence stands: in its context, in a script, or in its source."""

from __future__ import annotations

from postmortem.report import Report
from postmortem.report.words import exhibits


class Links:
    """Anchors of (source, line), and which of them a link should take."""

    def __init__(self, report: Report) -> None:
        self._places: dict[tuple[str, int], str] = {}
        self._sources = {one["source"]: f"source-{n}" for n, one in enumerate(exhibits(report, "source"), 1)}
        for kind in ("context", "script"):
            for number, one in enumerate(exhibits(report, kind), 1):
                marked = set(one.get("marked") or [one["line"]])
                for row in one["lines"]:
                    if row["line"] in marked:
                        self._places.setdefault((one["source"], row["line"]), f"{kind}-{number}-{row['line']}")

    def anchor(self, kind: str, number: int, line: int) -> str:
        return f"{kind}-{number}-{line}"

    def source_id(self, source: str) -> str:
        """The anchor of the whole source, or nothing when it is not on the page."""
        return self._sources.get(source, "")

    def to(self, source: str, line: int) -> str:
        """The anchor that shows this line best, or nothing."""
        return self._places.get((source, line)) or self._sources.get(source, "")
