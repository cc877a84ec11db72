"""The small sources whole, for the viewer: the analysis must not send its reader back to the bundle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postmortem.model import READABLE, Diagnosis, Kind
from postmortem.report.safe import plain
from postmortem.scene import Reading, Scene

ONE, ALL = 48 << 10, 320 << 10  # bytes of one source, and of all together
LONGEST = 2000
NEVER = (Kind.BINARY,)


def make(diagnosis: Diagnosis, scene: Scene) -> Iterator[dict[str, Any]]:
    """A `source` exhibit for each whole small source while there is room: those of the evidence first."""
    named = {e.source for e in evidence_of(diagnosis)}
    left = ALL
    small = [r for r in scene.readings if shows(r)]
    for reading in sorted(small, key=lambda r: (r.path not in named, r.source.text.size)):
        if reading.source.text.size <= left:
            left -= reading.source.text.size
            yield shown(reading)


def evidence_of(diagnosis: Diagnosis) -> Iterator[Any]:
    for one in diagnosis.chain:
        yield from one.finding.evidence
    for refuted in diagnosis.ruled_out:
        yield from (e for _, e in refuted.against)


def shows(reading: Reading) -> bool:
    source = reading.source
    return source.state in READABLE and source.kind not in NEVER and source.text.whole and 0 < source.text.size <= ONE


def shown(reading: Reading) -> dict[str, Any]:
    return {
        "kind": "source",
        "title": plain(reading.path),
        "source": plain(reading.path),
        "source_kind": str(reading.source.kind),
        "text": "\n".join(plain(line, LONGEST) for _, line in reading.source.text.kept()),
    }
