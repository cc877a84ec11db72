"""What must hold for the catalogue as a whole, and for every verdict that it gives on the labelled cases."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

from postmortem.analysis import Engine, engine, examine
from postmortem.signatures import load, warnings
from postmortem.signatures.language import Absent, AllOf, AnyOf, Catalogue, Item, LineItem, NotItem, leaves
from scoring import Case, Report, cases, report_on, said

CATALOGUE = load()

# Classes that facts, parsers' events and detectors find where no pattern is left: at least one case each.
WITHOUT_PATTERNS = (
    "gpu.arch-mismatch", "gpu.device-assert", "gpu.ecc-error", "gpu.fell-off-bus", "gpu.gsp-timeout",
    "gpu.illegal-access", "gpu.launch-failed", "gpu.nvlink-error", "gpu.out-of-memory", "gpu.thermal",
    "memory.oom-kill-cgroup", "memory.oom-kill-host", "memory.oom-kill-userspace", "memory.pinned-failed",
    "process.abort", "process.illegal-instruction", "process.killed", "process.segfault", "process.terminated",
    "process.zombie", "runtime.go-panic", "runtime.python-exception", "script.command-not-found", "script.crlf",
    "script.modified-while-running", "script.pipefail-sigpipe", "script.syntax-error", "script.unbound-variable",
    "script.wrong-shell", "storage.inodes-full",
)  # fmt: skip


def test_every_branch_of_every_pattern_has_a_sample() -> None:
    assert warnings(CATALOGUE) == ()


def test_links_have_no_cycle() -> None:
    causes = {s.id: [link.class_id for link in s.explains] for s in CATALOGUE.signatures}
    assert list(TopologicalSorter(causes).static_order())


def test_links_lead_to_classes_that_exist() -> None:
    assert {link.class_id for s in CATALOGUE.signatures for link in s.explains} <= set(CATALOGUE.by_id)


@pytest.mark.parametrize("case", cases("open")[::4], ids=lambda c: c.id)
def test_every_claim_rests_on_lines_that_stand_in_the_input(case: Case) -> None:
    report = report_on(case)
    claims = [*report["chain"], *report["findings"], *(report[k] for k in ("root_cause", "outcome") if report[k])]
    assert all(claim["evidence"] for claim in claims)
    for claim in claims:
        for item in claim["evidence"]:
            if item["line"]:
                assert stands(case, item), item


def stands(case: Case, item: dict[str, Any]) -> bool:
    """Whether the quoted line is that line of that file, as far as it is shown and nothing in it was hidden."""
    rows = (case.folder / "files" / item["source"]).read_text("utf-8", "replace").split("\n")
    there, shown = rows[item["line"] - 1], item["text"].partition("[hidden")[0][:80]
    return "".join(c for c in there if c.isalnum()).startswith("".join(c for c in shown if c.isalnum())[:60])


def without_lines(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items that need no pattern."""
    kept: list[Item] = []
    for item in items:
        if isinstance(item, AnyOf):
            item = replace(item, items=without_lines(item.items))
            kept += [item] if item.items else []
        elif not (
            isinstance(item, LineItem | AllOf | NotItem | Absent)
            and any(isinstance(i, LineItem) for i in leaves((item,)))
        ):
            kept.append(item)
    return tuple(kept)


def without_patterns(catalogue: Catalogue, class_id: str) -> Catalogue:
    """The catalogue with every pattern of one class removed."""
    old = catalogue.by_id[class_id]
    new = replace(
        old, when=without_lines(old.when), suspect=without_lines(old.suspect), support=without_lines(old.support),
        against=without_lines(old.against), cancelled_by=without_lines(old.cancelled_by),
    )  # fmt: skip
    signatures = tuple(new if s.id == class_id else s for s in catalogue.signatures)
    return replace(catalogue, signatures=signatures, by_id={s.id: s for s in signatures})


@cache
def whole() -> Engine:
    return engine()


def answer_without_patterns(case: Case, class_id: str) -> str | None:
    tool = Engine(without_patterns(whole().catalogue, class_id), whole().scanner)

    def run(folder: Path) -> Report:
        return examine(tool, folder)[0]

    return said(report_on(case, run))


@pytest.mark.parametrize("class_id", WITHOUT_PATTERNS)
def test_a_class_is_found_from_facts_and_detectors_alone(class_id: str) -> None:
    labelled = [c for c in cases() if c.expect["root_cause"] == class_id]
    assert any(answer_without_patterns(case, class_id) == class_id for case in labelled)


def test_the_removal_of_patterns_removes_something() -> None:
    stripped = without_patterns(CATALOGUE, "network.port-in-use").by_id["network.port-in-use"]
    assert not any(isinstance(i, LineItem) for i in leaves((*stripped.when, *stripped.suspect)))
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "a.log").write_text("bind 127.0.0.1:9820: Address already in use (os error 98)\n")
        report, _ = examine(Engine(without_patterns(whole().catalogue, "network.port-in-use"), whole().scanner), place)
    assert said(report) != "network.port-in-use"
