"""What must hold for any moments: order, windows, ties and unknown stamps, from single stamps to findings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from postmortem.clock import before, make_clocks
from postmortem.diagnose.entity import comes_before, seconds_apart
from postmortem.model import Evidence, Finding, Instant, Kind, Role, State, Verdict
from postmortem.signatures.truth import within
from postmortem.sources import Source
from postmortem.text import text_of

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

instants = st.builds(
    lambda s, p, z: Instant(START + timedelta(seconds=s), p, z),
    st.integers(-100_000, 100_000),
    st.sampled_from([0.0, 0.05, 1.0, 2.0, 60.0, 3600.0]),
    st.booleans(),
)
stamped = st.builds(lambda i, s, n: Evidence(s, n, "x", i), instants, st.sampled_from("ab"), st.integers(1, 9))
unstamped = st.builds(lambda s, n: Evidence(s, n, "x"), st.sampled_from("ab"), st.integers(1, 9))
findings = st.builds(
    lambda items: Finding("a.b", "T", Role.ROOT, Verdict.POSSIBLE, tuple(items), when=items[0].when),
    st.lists(st.one_of(stamped, unstamped), min_size=1, max_size=3),
)
days = st.integers(-4000, 4000).map(timedelta)


def moved(instant: Instant | None, by: timedelta) -> Instant | None:
    return replace(instant, utc=instant.utc + by) if instant else None


@given(instants, instants, instants)
def test_order_is_transitive_among_clocks_that_know_their_zone_alike(a: Instant, b: Instant, c: Instant) -> None:
    b, c = replace(b, zone_known=a.zone_known), replace(c, zone_known=a.zone_known)
    assert not (before(a, b) and before(b, c)) or before(a, c)


@given(instants, instants, days)
def test_order_does_not_depend_on_the_date(a: Instant, b: Instant, by: timedelta) -> None:
    assert before(moved(a, by), moved(b, by)) is before(a, b)


@given(instants, instants, st.floats(0, 1))
def test_a_better_clock_never_turns_an_answer_round(a: Instant, b: Instant, share: float) -> None:
    finer = replace(a, plus_minus_s=a.plus_minus_s * share)
    assert before(a, b) in (before(finer, b), None)


@given(instants)
def test_a_tie_and_an_unknown_stamp_have_no_order(a: Instant) -> None:
    assert before(a, a) is None
    assert before(a, None) is None
    assert before(None, a) is None
    assert seconds_apart(a, None) is None


@given(stamped, stamped, st.integers(0, 7200), days)
def test_windows_do_not_depend_on_the_date(a: Evidence, b: Evidence, seconds: int, by: timedelta) -> None:
    late = (replace(a, when=moved(a.when, by)), replace(b, when=moved(b.when, by)))
    assert within(*late, seconds) is within(a, b, seconds)


@given(stamped, unstamped, st.integers(0, 7200))
def test_a_window_around_an_unknown_stamp_is_unknown(a: Evidence, b: Evidence, seconds: int) -> None:
    same_line = (a.source, a.line) == (b.source, b.line)
    assert within(a, b, seconds) is (True if same_line else None)


@given(findings, findings, st.booleans())
def test_two_findings_are_never_both_first(a: Finding, b: Finding, ends: bool) -> None:
    there, back = comes_before(a, b, ends), comes_before(b, a, ends)
    assert (there is None) == (back is None)
    assert there is None or there != back


@given(st.lists(st.tuples(st.integers(0, 5000), st.booleans()), min_size=1, max_size=40))
def test_lines_without_a_stamp_lie_between_their_neighbours(steps: list[tuple[int, bool]]) -> None:
    rows, times, now = [], list[datetime | None](), START
    for step, has_stamp in steps:
        now += timedelta(seconds=step)
        rows.append(f"{now:%Y-%m-%dT%H:%M:%SZ} INFO app: x" if has_stamp else "    at frame (file.js:1)")
        times.append(now if has_stamp else None)
    clock = make_clocks([Source("a.log", Kind.LOG, State.WHOLE, text_of("\n".join(rows) + "\n"), "iso")])[0]["a.log"]
    last: datetime | None = None
    for number, time in enumerate(times, 1):
        found = clock.instant(number)
        last = time or last
        assert (found is None) == (last is None)
        assert found is None or found.utc == last
        assert found is None or found.plus_minus_s >= (0 if time else 1) * 0.05
