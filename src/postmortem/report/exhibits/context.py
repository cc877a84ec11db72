"""The lines around each line of evidence; neighbours in one source share a window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from postmortem.model import Diagnosis, Evidence, Place
from postmortem.redact import Redactor
from postmortem.report.safe import plain
from postmortem.scene import Reading, Scene

AROUND = 3
MOST_OF_ROOT, MOST_OF_OTHERS, MOST_WINDOWS = 8, 3, 40
LONGEST = 600  # characters of a neighbour; evidence itself keeps the longer limit of `plain`
SECRET = 60  # lines of a private key, which must be seen from its first line on
TOLD = (Place.ROOT, Place.CONSEQUENCE, Place.SYMPTOM, Place.CONTRIBUTING)


def make(diagnosis: Diagnosis, scene: Scene) -> Iterator[dict[str, Any]]:
    """One exhibit for each window, in the order in which the report speaks of them."""
    for source, marked in windows(wanted(diagnosis))[:MOST_WINDOWS]:
        reading = scene.reading(source)
        lines = around(reading, marked[0], marked[-1], frozenset(marked)) if reading else []
        if lines:
            yield {
                "kind": "context",
                "title": f"{plain(source)}:{marked[0]}",
                "source": plain(source),
                "line": marked[0],
                "marked": marked,
                "lines": lines,
            }


def wanted(diagnosis: Diagnosis) -> Iterator[Evidence]:
    """The evidence to show: of the root, of how the run ended, of what followed, of what was ruled out."""
    if diagnosis.root:
        yield from diagnosis.root.evidence[:MOST_OF_ROOT]
    if diagnosis.outcome:
        yield from diagnosis.outcome.evidence[:MOST_OF_OTHERS]
    for one in diagnosis.chain:
        if one.place in TOLD:
            yield from one.finding.evidence[:MOST_OF_OTHERS]
    for refuted in diagnosis.ruled_out:
        yield from [item for _, item in refuted.against][:1]


def windows(items: Iterable[Evidence]) -> list[tuple[str, list[int]]]:
    """(source, marked lines) of each window: lines whose neighbourhoods touch stand together."""
    rank: dict[tuple[str, int], int] = {}
    for item in items:
        if item.line > 0:
            rank.setdefault((item.source, item.line), len(rank))
    found: list[tuple[str, list[int]]] = []
    for source, group in groupby(sorted(rank), key=lambda place: place[0]):
        lines = [line for _, line in group]
        begin = 0
        for at in range(1, len(lines) + 1):
            if at == len(lines) or lines[at] - lines[at - 1] > 2 * AROUND + 1:
                found.append((source, lines[begin:at]))
                begin = at
    return sorted(found, key=lambda window: min(rank[window[0], line] for line in window[1]))


def around(
    reading: Reading, first: int, last: int, marked: frozenset[int], margin: int = AROUND
) -> list[dict[str, Any]]:
    """The kept lines from `margin` before the first to `margin` after the last, without the secrets among them."""
    wide = range(max(1, first - margin - SECRET), last + margin + SECRET + 1)
    rows = [(n, text) for n in wide if (text := reading.raw(n)) is not None]
    texts = hidden([plain(text) if n in marked else plain(text, LONGEST) for n, text in rows])
    return [
        {"line": n, "text": text}
        for (n, _), text in zip(rows, texts, strict=True)
        if first - margin <= n <= last + margin
    ]


def hidden(texts: list[str]) -> list[str]:
    """The lines without secrets, those that span lines (a private key) among them."""
    whole = Redactor().text("\n".join(texts)).split("\n")
    return whole if len(whole) == len(texts) else [Redactor().text(text) for text in texts]
