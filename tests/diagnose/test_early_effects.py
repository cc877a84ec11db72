"""No effect came, or reads as if it came, before its cause; a run's own log is never older than the run."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from test_reach import START

from postmortem.diagnose.chain import chain
from postmortem.diagnose.edges import Caused, edges
from postmortem.diagnose.outcome import Outcome
from postmortem.diagnose.reach import Window, out_of_reach
from postmortem.model import Edge, Evidence, Finding, Instant, Role, Verdict
from postmortem.scene import Scene
from postmortem.signatures.language import Link

LINKS = {"process.hung": (Link("network.timeout"),), "runtime.python-exception": (Link("network.refused"),)}
ROOT, MECHANISM, SYMPTOM = Role.ROOT, Role.MECHANISM, Role.SYMPTOM


def one(
    class_id: str, seconds: float, *lines: int, source: str = "a.log", zone: bool = True, role: Role = SYMPTOM
) -> Finding:
    when = Instant(START + timedelta(seconds=seconds), 0.5, zone)
    told = tuple(Evidence(source, n, "x", when) for n in lines or (1,))
    return Finding(class_id, class_id, role, Verdict.CONFIRMED, told, when=when)


@pytest.mark.parametrize(
    ("effect_at", "zone", "linked"),
    [
        (30, True, True),
        (-1, True, True),
        (-600, True, False),
        (-4562, False, False),
        (-600, False, False),
        (-7195, False, True),
        (-1800, False, True),
        (600, False, True),
        (-10, False, True),
    ],
    ids=[
        "after", "as good as together", "before", "reads as before", "ten minutes are no zone", "two hours are a zone",
        "half an hour is one", "no zone, after", "no zone, a clock a little off",
    ],
)  # fmt: skip
def test_an_effect_is_no_earlier_than_its_cause(effect_at: float, zone: bool, linked: bool) -> None:
    cause = one("process.hung", 0, source="kernel.log")
    effect = one("network.timeout", effect_at, zone=zone)
    assert bool(edges([cause, effect], LINKS)) is linked


@pytest.mark.parametrize(("effect_at", "linked"), [(-2, True), (-61, False)], ids=["at once", "a minute of tries"])
def test_the_error_that_ends_a_long_wait_did_not_cause_it(effect_at: float, linked: bool) -> None:
    error = one("runtime.python-exception", 0, 32, 40, role=MECHANISM)
    refused = one("network.refused", effect_at, 1, 40)
    caused = edges([error, refused], LINKS)
    assert any(c.cause is error for c in caused) is linked
    assert any(c.cause is refused for c in caused) is not linked


@pytest.mark.parametrize(("seconds", "kept"), [(-4000, False), (40, True)])
def test_what_a_chain_of_links_leads_to_is_not_before_the_root(seconds: float, kept: bool) -> None:
    root = one("gpu.ecc-error", 0, source="kernel.log", role=ROOT)
    hung = one("process.hung", 60, source="vllm.log", zone=False)
    timeout = one("network.timeout", seconds, 7, source="kernel.log")
    caused = [Caused(root, hung, Edge.ASSUMED), Caused(hung, timeout, Edge.ASSUMED)]
    told = [k.finding for k in chain(root, [root, hung, timeout], caused, [])]
    assert (timeout in told) is kept


@pytest.mark.parametrize(
    ("source", "old"), [("app.log", False), ("other.log", True)], ids=["another writer of its log", "another log"]
)
def test_a_line_of_the_runs_own_log_is_not_older_than_the_run(source: str, old: bool) -> None:
    end = replace(one("outcome.exit", 9000, role=Role.OUTCOME), outcome="failed")
    fault = one("storage.disk-full", 0, source=source)
    span = Window(Instant(START + timedelta(seconds=8000), 0.5), end.when, frozenset({"app.log"}))
    assert ("before the run began" in out_of_reach(fault, Outcome("failed", end), span, Scene(()))) is old
