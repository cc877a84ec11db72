"""The verdict on a case must not depend on names, times, encodings or noise, and must weaken with its evidence.

The transforms know no case. The fast form takes a fixed sample of the cases for each; the slow form takes all and
writes the table of docs/accuracy.md.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

import dress
import elsewhere
import names
import noise
import pytest
import recoding
import removal
import times
from evidence import DoesNotApply, Transform, answer, base, files, run

from accuracy import write_section
from scoring import Case, cases, share

TRANSFORMS: dict[str, Transform] = {
    "files renamed": names.neutral_files,
    "files in another order": names.other_order,
    "times + 400 days": times.shifted,
    "host names": names.hosts,
    "pids": names.pids,
    "paths": names.paths,
    "GPU addresses": names.gpu_addresses,
    **{f"system logs as {form}": partial(recoding.recoded, form=form) for form in recoding.FORMS},
    "colours": dress.ansi,
    "CRLF": dress.crlf,
    "gzip": dress.gzipped,
    "rotated": dress.rotated,
    "docker JSON": dress.docker_json,
    "noise before and after": noise.mixed_in,
    "another service's log a day later": partial(elsewhere.service_log, days=1),
    "another service's log a day earlier": partial(elsewhere.service_log, days=-1),
}
REMOVALS: dict[str, Callable[[Case], Iterator[tuple[str, str | None]]]] = {
    "each evidence line removed": removal.jumps,
    "refuting sources removed": removal.revivals,
}
STABLE = 97.0  # percent of all checks
SAMPLE = 6
DOZEN = 12


@dataclass(frozen=True, slots=True)
class Check:
    """One transform of one case: what came out wrong, or nothing."""

    case: str
    what: str
    wrong: str = ""


def check(name: str, case: Case) -> list[Check]:
    """The checks of a transform or removal on one case; none where it does not apply."""
    if name in REMOVALS:
        return [Check(case.id, what, f"said {bad}" if bad else "") for what, bad in REMOVALS[name](case)]
    try:
        changed = TRANSFORMS[name](files(case))
    except DoesNotApply:
        return []
    was, is_ = answer(base(case)), answer(run(changed))
    return [Check(case.id, "", "" if was == is_ else f"{was[1] or was[0]} became {is_[1] or is_[0]}")]


def sample(name: str) -> list[Check]:
    """The checks of the first cases, in an order that is fixed and arbitrary, to which this applies."""
    ordered = sorted(cases(), key=lambda c: sha256(f"{name} {c.folder.name}".encode()).digest())
    found: list[Check] = []
    taken = 0
    for case in ordered:
        checks = check(name, case)
        found += checks
        taken += bool(checks)
        if taken == SAMPLE:
            break
    return found


@pytest.mark.parametrize("name", [*TRANSFORMS, *REMOVALS])
def test_a_sample_is_stable(name: str) -> None:
    found = sample(name)
    wrong = [c for c in found if c.wrong]
    assert found
    assert len(wrong) <= max(1, len(found) // 20), wrong


@pytest.mark.parametrize("days", [1, -1])
def test_a_quiet_log_of_another_day_changes_nothing(days: int) -> None:
    dated = sorted((c for c in cases() if base(c)["status"] == "failed"), key=lambda c: sha256(c.id.encode()).digest())
    found: dict[str, bool] = {}
    for case in dated:
        with suppress(DoesNotApply):
            found[case.id] = answer(base(case)) == answer(run(elsewhere.service_log(files(case), days)))
        if len(found) == DOZEN:
            break
    assert [name for name, same in found.items() if not same] == []
    assert len(found) == DOZEN


@pytest.mark.slow
def test_all_cases_are_stable_and_the_table() -> None:
    work = [(name, case) for name in (*TRANSFORMS, *REMOVALS) for case in cases()]
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("fork")) as pool:
        done = list(pool.map(check, *zip(*work, strict=True), chunksize=16))
    found: dict[str, list[Check]] = {}
    for (name, _), checks in zip(work, done, strict=True):
        found.setdefault(name, []).extend(checks)
    write_section("Metamorphic suite", table(found))
    everything = [c for checks in found.values() for c in checks]
    assert stable(everything) >= STABLE


def stable(checks: Sequence[Check]) -> float:
    return share(sum(not c.wrong for c in checks), len(checks))


def table(found: dict[str, list[Check]]) -> str:
    rows = ["| transform | checks | stable |", "|---|---|---|"]
    rows += [f"| {name} | {len(checks)} | {stable(checks):.1f} % |" for name, checks in found.items()]
    everything = [c for checks in found.values() for c in checks]
    rows += [f"| all | {len(everything)} | {stable(everything):.1f} % |", ""]
    return "\n".join(
        rows
        + [
            f"- {name}: `{c.case}` {c.what}: {c.wrong}".replace("  ", " ")
            for name, cs in found.items()
            for c in cs
            if c.wrong
        ]
    )
