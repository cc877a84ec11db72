"""Kleene's logic, order and distance in time, and the tests of `where` and `is`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenes import at

from postmortem.model import Evidence
from postmortem.signatures.language import Scalar, Test
from postmortem.signatures.truth import Value, before, both, either, negate, passes, within

T, F, U = True, False, None
ALL = (T, F, U)
AND = {(T, T): T, (T, F): F, (T, U): U, (F, F): F, (F, U): F, (U, U): U}
OR = {(T, T): T, (T, F): T, (T, U): T, (F, F): F, (F, U): U, (U, U): U}


@pytest.mark.parametrize("a", ALL)
@pytest.mark.parametrize("b", ALL)
def test_truth_tables(a: Value, b: Value) -> None:
    assert both([a, b]) is AND.get((a, b), AND.get((b, a)))
    assert either([a, b]) is OR.get((a, b), OR.get((b, a)))


def test_nothing_is_true_for_and_and_false_for_or() -> None:
    assert (both([]), either([])) == (True, False)


values = st.lists(st.sampled_from(ALL), max_size=6)


@given(values)
def test_de_morgan(some: list[Value]) -> None:
    assert negate(both(some)) is either(negate(v) for v in some)


@given(values, st.permutations(range(6)))
def test_the_order_of_items_does_not_matter(some: list[Value], order: list[int]) -> None:
    shuffled = [some[i] for i in order if i < len(some)]
    assert both(some) is both(shuffled)
    assert either(some) is either(shuffled)


@given(values, st.integers(0, 5))
def test_learning_what_is_unknown_never_turns_a_known_answer(some: list[Value], index: int) -> None:
    for learnt in (True, False):
        known = [learnt if v is None and i == index else v for i, v in enumerate(some)]
        assert both(some) in (both(known), None)
        assert either(some) in (either(known), None)


def ev(time: float | None, source: str = "a", line: int = 1, plus_minus_s: float = 0.0) -> Evidence:
    return Evidence(source, line, "", None if time is None else at(time, plus_minus_s))


ORDERS = {
    "later": (ev(1), ev(2, "b"), T),
    "earlier": (ev(2), ev(1, "b"), F),
    "tie of two sources": (ev(1), ev(1, "b"), U),
    "inside the uncertainty": (ev(1, plus_minus_s=0.5), ev(2, "b", plus_minus_s=0.5), U),
    "beyond the uncertainty": (ev(1, plus_minus_s=0.5), ev(2.1, "b", plus_minus_s=0.5), T),
    "tie in one source goes by line": (ev(1, line=3), ev(1, line=9), T),
    "no stamps in one source goes by line": (ev(None, line=9), ev(None, line=3), F),
    "no stamps in two sources": (ev(None), ev(None, "b"), U),
    "one stamp in two sources": (ev(1), ev(None, "b"), U),
    "the same line": (ev(1), ev(1), F),
    "a whole source has no line": (ev(None, line=0), ev(None, line=3), U),
}


@pytest.mark.parametrize(("a", "b", "value"), ORDERS.values(), ids=ORDERS)
def test_order(a: Evidence, b: Evidence, value: Value) -> None:
    assert before(a, b) is value


moments = st.builds(
    ev,
    st.none() | st.floats(0, 1000, allow_nan=False),
    st.sampled_from("ab"),
    st.integers(0, 5),
    st.floats(0, 50, allow_nan=False),
)


@given(moments, moments)
def test_two_records_are_never_both_first(a: Evidence, b: Evidence) -> None:
    assert not (before(a, b) and before(b, a))


@given(moments, moments, st.floats(0, 500, allow_nan=False))
def test_distance_does_not_depend_on_the_side(a: Evidence, b: Evidence, seconds: float) -> None:
    assert within(a, b, seconds) is within(b, a, seconds)


@given(moments, moments, st.floats(0, 500, allow_nan=False))
def test_a_wider_window_never_excludes_what_a_narrower_one_holds(a: Evidence, b: Evidence, seconds: float) -> None:
    assert not (within(a, b, seconds) and within(a, b, seconds * 2 + 1) is not True)


DISTANCES = {
    "inside": (ev(0), ev(9, "b"), T),
    "outside": (ev(0), ev(11, "b"), F),
    "on the edge within a small uncertainty": (ev(0, plus_minus_s=1), ev(10.5, "b"), T),
    "outside but for a large uncertainty": (ev(0, plus_minus_s=3600), ev(700, "b"), U),
    "no stamp": (ev(None), ev(1, "b"), U),
    "the same line without a stamp": (ev(None), ev(None), T),
}


@pytest.mark.parametrize(("a", "b", "value"), DISTANCES.values(), ids=DISTANCES)
def test_distance_of_ten_seconds(a: Evidence, b: Evidence, value: Value) -> None:
    assert within(a, b, 10) is value


TESTS = {
    "number as text": (Test("==", 79), "79", T),
    "number of another form": (Test("==", 79), "79.0", T),
    "other number": (Test("==", 79), "97", F),
    "word": (Test("==", "MEMCG"), "MEMCG", T),
    "case counts": (Test("==", "MEMCG"), "memcg", F),
    "yes is a truth": (Test("==", True), "yes", T),
    "no is none": (Test("==", True), "no", F),
    "a true one": (Test("==", True), True, T),
    "another word": (Test("==", True), "reached", F),
    "not yes": (Test("!=", True), "no", T),
    "unequal": (Test("!=", 0), "137", T),
    "unequal is equal": (Test("!=", 0), "0", F),
    "more": (Test(">", 0), 3, T),
    "not more": (Test(">", 0), 0, F),
    "at least": (Test(">=", 0.98), 0.98, T),
    "order of a word": (Test(">", 0), "many", U),
    "member": (Test("in", (13, 31)), "31", T),
    "no member": (Test("in", (13, 31)), "79", F),
    "member by word": (Test("in", ("a", "b")), "b", T),
    "pattern": (Test("~", "^nvidia"), "nvidia_drm", T),
    "pattern elsewhere": (Test("~", "^nvidia"), "my nvidia", F),
    "bool": (Test("==", True), True, T),
    "bool is no number": (Test("==", 1), True, F),
    "bool against its word": (Test("==", "true"), True, T),
    "nothing": (Test("!=", 0), None, U),
}


@pytest.mark.parametrize(("test", "value", "result"), TESTS.values(), ids=TESTS)
def test_tests(test: Test, value: Scalar | None, result: Value) -> None:
    assert passes(test, value) is result
