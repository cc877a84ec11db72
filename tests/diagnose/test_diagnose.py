"""From findings to a diagnosis: outcome first, reach, edges, the head of the chain, and honest doubt."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from postmortem.diagnose import diagnose
from postmortem.diagnose.edges import edges
from postmortem.diagnose.entity import Match, comes_before, compare
from postmortem.diagnose.tries import of_an_earlier_attempt
from postmortem.model import Edge, Evidence, Finding, Instant, Place, Role, Verdict
from postmortem.scene import Scene
from postmortem.signatures.language import EventItem, Link

START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
LINKS: Mapping[str, tuple[Link, ...]] = {
    "gpu.fell-off-bus": (Link("gpu.cuda-error", within_s=120.0),),
    "gpu.cuda-error": (Link("process.abort"),),
    "process.abort": (Link("process.zombie", same=("pid",)),),
    "process.zombie": (Link("network.connection-refused"),),
    "network.connection-refused": (Link("benchmark.zero-throughput"),),
    "memory.oom-kill-cgroup": (Link("process.killed", same=("pid",)),),
}
ROLES = {
    "gpu.fell-off-bus": Role.ROOT,
    "memory.oom-kill-cgroup": Role.ROOT,
    "storage.disk-full": Role.ROOT,
    "gpu.cuda-error": Role.MECHANISM,
    "runtime.python-exception": Role.MECHANISM,
    "process.abort": Role.MECHANISM,
    "process.zombie": Role.MECHANISM,
    "process.killed": Role.SYMPTOM,
    "network.connection-refused": Role.SYMPTOM,
    "benchmark.zero-throughput": Role.SYMPTOM,
    "log.buffer-reorder": Role.CONTEXT,
    "script.exit-code-masked": Role.CONTRIBUTING,
}


def at(seconds: float | None, plus_minus: float = 0.5) -> Instant | None:
    return None if seconds is None else Instant(START + timedelta(seconds=seconds), plus_minus)


def found(
    class_id: str,
    seconds: float | None = 0.0,
    verdict: Verdict = Verdict.CONFIRMED,
    source: str = "",
    line: int = 1,
    outcome: str = "",
    **entity: str,
) -> Finding:
    role = Role.OUTCOME if outcome else ROLES[class_id]
    item = Evidence(source or f"{class_id}.log", line, class_id, at(seconds))
    return Finding(class_id, class_id, role, verdict, (item,), when=at(seconds), entity=entity, outcome=outcome)


def failed(seconds: float | None = 60.0, **entity: str) -> Finding:
    return found("outcome.exit", seconds, source="exit.log", outcome="failed", **entity)


def succeeded(seconds: float | None = 60.0) -> Finding:
    return found("outcome.done", seconds, source="run.log", line=9, outcome="healthy")


def run(*findings: Finding):  # type: ignore[no-untyped-def]
    return diagnose(findings, Scene(()), LINKS)


def test_the_earliest_unexplained_cause_heads_and_the_chain_reaches_the_symptom() -> None:
    story = [
        found("benchmark.zero-throughput", 50),
        found("network.connection-refused", 40),
        found("process.zombie", None, pid="7"),
        found("process.abort", 20, pid="7"),
        found("gpu.cuda-error", 10),
        found("gpu.fell-off-bus", 0, gpu="0000:9b:00"),
    ]
    said = run(*story, failed())
    assert said.root is not None
    assert (said.status, said.root.class_id, said.confidence) == ("failed", "gpu.fell-off-bus", "high")
    assert [k.finding.class_id for k in said.chain if k.place is not Place.CONTEXT] == [
        "gpu.fell-off-bus", "gpu.cuda-error", "process.abort", "network.connection-refused", "benchmark.zero-throughput", "process.zombie",
    ]  # fmt: skip
    assert {k.finding.class_id: k.edge for k in said.chain}["process.zombie"] is Edge.COMPATIBLE


@pytest.mark.parametrize(
    ("findings", "status", "root"),
    [
        ([], "undecided", None),
        ([succeeded()], "healthy", None),
        ([failed()], "failed", None),
        ([failed(10), succeeded(60)], "healthy", None),
        ([succeeded(10), failed(60)], "failed", None),
        ([found("storage.disk-full", 5), succeeded(60)], "healthy", None),
        ([found("storage.disk-full", 70), succeeded(60)], "failed", "storage.disk-full"),
        ([found("storage.disk-full", 5), failed(60)], "failed", "storage.disk-full"),
        ([found("process.killed", 5)], "failed", "process.killed"),
        ([found("process.killed", 5, verdict=Verdict.SUSPECTED), failed()], "failed", None),
        ([found("storage.disk-full", 5, verdict=Verdict.CONTESTED), failed()], "failed", None),
        ([found("log.buffer-reorder", 5), failed()], "failed", None),
    ],
    ids=[
        "nothing read", "a success", "a failure without a cause", "a retry that worked", "a later failure", "passed before the success",
        "after the success", "cause and failure", "a symptom alone", "merely suspected", "contested", "context never heads",
    ],
)  # fmt: skip
def test_outcome_first(findings: list[Finding], status: str, root: str | None) -> None:
    said = run(*findings)
    assert (said.status, said.root.class_id if said.root else None) == (status, root)


@pytest.mark.parametrize(
    ("log", "later", "earlier"),
    [
        ("load/attempt=1.log", "load/attempt=2.log", True),
        ("out.try1", "out.try2", True),
        ("load/attempt=1.log", "load/attempt=1.log", False),
        ("load/attempt=1.log", "sweep/attempt=2.log", False),
        ("db.log", "app.log", False),
    ],
    ids=["airflow", "bazel", "the same", "of another task", "no attempts"],
)
def test_attempts_at_one_thing(log: str, later: str, earlier: bool) -> None:
    assert of_an_earlier_attempt(log, later) is earlier


def test_a_symptom_never_heads_when_its_cause_is_there() -> None:
    said = run(found("process.killed", 1, pid="12"), found("memory.oom-kill-cgroup", 0, pid="12"), failed())
    assert said.root is not None
    assert said.root.class_id == "memory.oom-kill-cgroup"
    assert {k.finding.class_id: (k.because_of and k.because_of.class_id, k.edge) for k in said.chain}[
        "process.killed"
    ] == ("memory.oom-kill-cgroup", Edge.PROVEN)


def test_an_effect_that_came_first_is_no_effect() -> None:
    said = run(found("gpu.cuda-error", 0), found("gpu.fell-off-bus", 600), failed(610))
    assert all(k.because_of is None for k in said.chain)


@pytest.mark.parametrize(
    ("cause", "effect", "linked"),
    [
        (found("gpu.fell-off-bus", 0, pid="7", comm="smi"), found("gpu.cuda-error", 5, pid="9", comm="train"), True),
        (found("gpu.fell-off-bus", 9, pid="7"), found("gpu.cuda-error", 0, pid="9"), True),
        (found("gpu.fell-off-bus", 60, pid="7"), found("gpu.cuda-error", 0, pid="9"), False),
        (found("gpu.fell-off-bus", 0, gpu="0000:9b:00"), found("gpu.cuda-error", 5, gpu="0000:41:00"), False),
        (found("process.abort", 0, pid="7", source="k"), found("process.zombie", 5, pid="9", source="k"), False),
    ],
    ids=["everybody's device", "noticed late", "too late", "another device", "a death is of one process"],
)
def test_a_fault_of_the_device_is_everybodys(cause: Finding, effect: Finding, linked: bool) -> None:
    assert bool(edges((cause, effect), LINKS)) is linked


@pytest.mark.parametrize(
    ("holds", "edge"),
    [(True, Edge.PROVEN), (False, None), (None, Edge.ASSUMED)],
    ids=["holds", "does not hold", "unknown"],
)
def test_a_link_that_names_a_proof_counts_by_it(holds: bool | None, edge: Edge | None) -> None:
    links = {"memory.oom-kill-cgroup": (Link("process.zombie", proof=EventItem(key="c", kind="zombie")),)}
    both = (found("memory.oom-kill-cgroup", 0, pid="7"), found("process.zombie", 5, pid="7"))
    (got,) = edges(both, links, lambda *_: holds) or (None,)
    assert (got.edge if got else None) is edge


def test_another_process_long_before_is_context_and_says_why() -> None:
    old = found("memory.oom-kill-cgroup", -7200, comm="php.bin", pid="9")
    said = run(old, found("process.killed", 55, comm="dockerd"), failed(60, comm="dockerd"))
    assert said.root is not None
    assert said.root.class_id == "process.killed"
    note = next(k.note for k in said.chain if k.finding is old)
    assert "php.bin" in note
    assert "dockerd" in note


def test_refuted_is_ruled_out_and_never_in_the_chain() -> None:
    oom = found("memory.oom-kill-cgroup", 5, verdict=Verdict.REFUTED)
    said = run(oom, found("process.killed", 5), failed())
    assert said.ruled_out == (oom,)
    assert said.root is not None
    assert said.root.class_id == "process.killed"


def test_a_rival_that_the_root_does_not_explain_lowers_the_confidence() -> None:
    said = run(found("storage.disk-full", 5, source="x"), found("gpu.fell-off-bus", 6, source="y"), failed())
    assert said.confidence == "medium"
    assert "not explained" in said.because


def test_a_possible_cause_with_its_effect_seen_is_supported() -> None:
    said = run(found("gpu.fell-off-bus", 0, verdict=Verdict.POSSIBLE), found("gpu.cuda-error", 5), failed())
    assert (said.root.class_id, said.confidence) == ("gpu.fell-off-bus", "medium")


def test_an_exception_that_quotes_a_named_class_is_explained_by_it() -> None:
    said = run(
        found("runtime.python-exception", 5, source="a.log", line=7),
        found("storage.disk-full", 5, source="a.log", line=7, verdict=Verdict.POSSIBLE),
        failed(),
    )
    assert said.root is not None
    assert said.root.class_id == "storage.disk-full"


@pytest.mark.parametrize(
    ("a", "b", "namespace", "match"),
    [
        ({"pid": "7"}, {"pid": "7"}, True, Match.SAME),
        ({"pid": "7"}, {"pid": "8"}, True, Match.OTHER),
        ({"pid": "7"}, {"pid": "8"}, False, Match.OPEN),
        ({"gpu": "PCI:0000:9b:00"}, {"gpu": "00000000:9B:00.0"}, True, Match.SAME),
        ({"gpu": "0000:9b:00"}, {"gpu": "0000:41:00"}, True, Match.OTHER),
        ({"comm": "tokio-runtime-w"}, {"comm": "tokio-runtime-worker"}, True, Match.OPEN),
        ({"comm": "python3"}, {"comm": "cuzk-daemon"}, True, Match.OTHER),
        ({"script": "./run.sh"}, {"script": "/opt/run.sh"}, True, Match.SAME),
        ({"port": "1"}, {"pid": "1"}, True, Match.OPEN),
        ({}, {}, True, Match.OPEN),
    ],
    ids=["same pid", "other pid", "host and container pid", "PCI forms", "other GPU", "comm cut to 15 bytes", "other comm", "base name", "nothing shared", "empty"],
)  # fmt: skip
def test_compare(a: dict[str, str], b: dict[str, str], namespace: bool, match: Match) -> None:
    assert compare(a, b, namespace) is match


@pytest.mark.parametrize(
    ("first", "second", "before"),
    [(0.0, 60.0, True), (60.0, 0.0, False), (0.0, 2.5, None), (0.0, 0.0, None), (None, 60.0, None)],
    ids=["clearly", "clearly not", "within the slack", "tie", "unknown"],
)
def test_order(first: float | None, second: float | None, before: bool | None) -> None:
    assert (
        comes_before(found("process.abort", first, source="x"), found("process.zombie", second, source="y")) is before
    )
