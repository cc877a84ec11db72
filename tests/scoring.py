"""Scores reports on labelled cases: `tests/cases/SPLIT/…/case.yaml` beside `files/`.

root    the root cause is the expected class or an accepted one (`healthy`: the status says so)
not     the answer is one that the label names as the tempting wrong one
bold    a wrong answer said with confidence "high", or a failure called healthy
sure    share of the right answers that are said with confidence "high", or are healthy
also    share of the further classes that are named
false   classes that are named as more than context and that the label does not know
facts   share of the label's values that stand in the input and are said
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from postmortem.analysis import analyze

CASES = Path(__file__).parent / "cases"
Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled case: its folder and what its label expects."""

    folder: Path
    id: str
    expect: dict[str, Any] = field(hash=False)

    @property
    def good(self) -> frozenset[str]:
        return frozenset({self.expect["root_cause"], *(self.expect.get("accept") or ())})

    @property
    def named(self) -> frozenset[str]:
        return self.good | set(self.expect.get("also") or ())


@dataclass(frozen=True, slots=True)
class Row:
    """The score of one case."""

    id: str
    want: str
    got: str | None
    root: bool = False
    tempting: bool = False
    bold: bool = False
    sure: bool = False
    also: tuple[int, int] = (0, 0)
    facts: tuple[int, int] = (0, 0)
    false: int = 0
    error: str = ""


def splits() -> list[str]:
    """The folders below `cases/` that hold at least one case."""
    return sorted(p.name for p in CASES.iterdir() if p.is_dir() and any(p.rglob("case.yaml")))


@cache
def cases(split: str = "") -> tuple[Case, ...]:
    """The cases of one split, or all."""
    found = []
    for path in sorted((CASES / split).rglob("case.yaml")):
        label = yaml.safe_load(path.read_text(encoding="utf-8"))
        found.append(Case(path.parent, label["id"], label["expect"]))
    return tuple(found)


def report_on(case: Case, run: Callable[[Path], Report] = analyze) -> Report:
    """The report on a copy of the case's files, in a folder whose name says nothing."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "evidence"
        shutil.copytree(case.folder / "files", folder)
        return run(folder)


def said(report: Report) -> str | None:
    """The one answer of a report: a class, `healthy`, or None."""
    return "healthy" if report["status"] == "healthy" else (report.get("root_cause") or {}).get("class")


def is_high(report: Report) -> bool:
    return said(report) == "healthy" or (report.get("root_cause") or {}).get("confidence") == "high"


def score(case: Case, report: Report) -> Row:
    """Compares a report with the label."""
    want, got, high = case.expect, said(report), is_high(report)
    right = got in case.good
    entries = [f for key in ("chain", "findings") for f in report[key]]
    seen = {f["class"] for f in entries} | {got}
    loud = {f["class"] for f in entries if f.get("place") != "context" and f.get("class_role") != "context"}
    also = want.get("also") or []
    return Row(
        case.id, want["root_cause"], got, right, got in (want.get("not") or ()), high and not right, high and right,
        (sum(a in seen for a in also), len(also)), facts(case, report), len(loud - case.named - {None}),
    )  # fmt: skip


def facts(case: Case, report: Report) -> tuple[int, int]:
    """(said, askable) values of the label: those that stand in the input, or are FILE:LINE."""
    spoken = {k: report.get(k) for k in ("root_cause", "chain", "ruled_out")}
    text = norm(json.dumps(spoken, ensure_ascii=False)) + " " + norm(" ".join(places(spoken)))
    raw = norm("\n".join(p.read_text("utf-8", "replace") for p in files_of(case)))
    words = [norm(v) for v in values(case.expect.get("facts") or {}) if v not in (None, "") and len(str(v)) <= 40]
    asked = [w for w in words if stands(w, raw) or re.fullmatch(r"[\w.-]+:\d+", w)]
    return sum(stands(w, text) for w in asked), len(asked)


def files_of(case: Case) -> list[Path]:
    return sorted(p for p in (case.folder / "files").rglob("*") if p.is_file())


def norm(text: object) -> str:
    return re.sub(r"[\s,_]+", " ", str(text)).lower().strip()


def stands(word: str, text: str) -> bool:
    return bool(re.search(rf"(?<![\w.]){re.escape(word)}(?!\w|\.\w)", text))


def values(tree: object) -> Iterator[object]:
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, list):
        for one in tree:
            yield from values(one)
    else:
        yield tree


def places(tree: object) -> Iterator[str]:
    """FILE:LINE of every piece of evidence."""
    if isinstance(tree, dict):
        if tree.get("source") and tree.get("line"):
            yield f"{PurePosixPath(str(tree['source'])).name}:{tree['line']}"
        tree = list(tree.values())
    if isinstance(tree, list):
        for one in tree:
            yield from places(one)


@dataclass(frozen=True, slots=True)
class Total:
    """The figures of a set of rows; shares are percent."""

    count: int
    root: float
    tempting: int
    bold: int
    sure: float
    also: float
    false: float
    facts: float
    errors: int


def total(rows: Sequence[Row]) -> Total:
    right = sum(r.root for r in rows)
    also, facts_ = (
        tuple(sum(p[i] for p in pairs) for i in (0, 1)) for pairs in ([r.also for r in rows], [r.facts for r in rows])
    )
    return Total(
        len(rows), share(right, len(rows)), sum(r.tempting for r in rows), sum(r.bold for r in rows),
        share(sum(r.sure for r in rows), right), share(*also), sum(r.false for r in rows) / max(1, len(rows)),
        share(*facts_), sum(bool(r.error) for r in rows),
    )  # fmt: skip


def share(part: int, whole: int) -> float:
    return 100 * part / max(1, whole)


HEAD = (
    "| cases | count | root | tempting wrong | bold wrong | sure | also | false a case | facts |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def line(name: str, t: Total) -> str:
    return f"| {name} | {t.count} | {t.root:.1f} % | {t.tempting} | {t.bold} | {t.sure:.0f} % | {t.also:.0f} % | {t.false:.2f} | {t.facts:.0f} % |"


def wrong(rows: Sequence[Row]) -> list[str]:
    """One line for each wrong answer."""
    return [
        f"- `{r.id}`: expected `{r.want}`, said `{r.error or r.got}`{' with high confidence' if r.bold else ''}"
        for r in rows
        if not r.root
    ]


def by_area(rows: Sequence[Row]) -> str:
    areas = defaultdict(list)
    for row in rows:
        areas[row.want.split(".")[0]].append(row.root)
    return ", ".join(f"{a} {sum(v)}/{len(v)}" for a, v in sorted(areas.items()))
