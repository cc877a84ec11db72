"""Where on the page a line of evidence stands: in its context, in a script, or in its source."""

from __future__ import annotations

from typing import Any

from postmortem.report import Report
from postmortem.report.words import exhibits


class Links:
    """Anchors of (source, line), and which of them a link should take."""

    def __init__(self, report: Report) -> None:
        self._places: dict[tuple[str, int], str] = {}
        self._sources = {one["source"]: f"source-{n}" for n, one in enumerate(exhibits(report, "source"), 1)}
        self._scripts = {(s["source"], row["line"]) for s in exhibits(report, "script") for row in s["lines"]}
        shown = [one for one in exhibits(report, "context") if not self.in_script(one)]
        for kind, ones in (("context", shown), ("script", exhibits(report, "script"))):
            for number, one in enumerate(ones, 1):
                marked = set(one.get("marked") or [one["line"]])
                for row in one["lines"]:
                    if row["line"] in marked:
                        self._places.setdefault((one["source"], row["line"]), f"{kind}-{number}-{row['line']}")

    def in_script(self, one: Any) -> bool:
        """Whether a script on the page shows all of this context already."""
        return all((one["source"], row["line"]) in self._scripts for row in one["lines"])

    def anchor(self, kind: str, number: int, line: int) -> str:
        return f"{kind}-{number}-{line}"

    def source_id(self, source: str) -> str:
        """The anchor of the whole source, or nothing when it is not on the page."""
        return self._sources.get(source, "")

    def to(self, source: str, line: int) -> str:
        """The anchor that shows this line best, or nothing."""
        return self._places.get((source, line)) or self._sources.get(source, "")
