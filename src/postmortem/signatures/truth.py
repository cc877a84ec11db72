"""Kleene's three values (None is unknown), order and distance in time, and the tests of `where` and `is`."""

from __future__ import annotations

from collections.abc import Iterable

from postmortem import clock
from postmortem.clock.timeline import ZONE_SPREAD_S
from postmortem.model import Evidence
from postmortem.signatures.language import Scalar, Test
from postmortem.signatures.patterns import search

Value = bool | None


def both(values: Iterable[Value]) -> Value:
    """Kleene's and: false wins over unknown, unknown over true."""
    result: Value = True
    for value in values:
        if value is False:
            return False
        if value is None:
            result = None
    return result


def either(values: Iterable[Value]) -> Value:
    """Kleene's or: true wins over unknown, unknown over false."""
    return negate(both(negate(v) for v in values))


def negate(value: Value) -> Value:
    """Kleene's not."""
    return None if value is None else not value


def before(a: Evidence, b: Evidence) -> Value:
    """Whether a happened before b; within the clocks' uncertainty only the order in one file decides."""
    by_clock = clock.before(a.when, b.when)
    if by_clock is None and a.source == b.source and a.line and b.line:
        return a.line < b.line
    return by_clock


def within(a: Evidence, b: Evidence, seconds: float) -> Value:
    """Whether a and b are at most so far apart; unknown where the clocks' uncertainty is larger than the window."""
    if a.source == b.source and a.line == b.line and a.line:
        return True
    if a.when is None or b.when is None or clock.year_known(a.when) != clock.year_known(b.when):
        return None
    gap = abs((b.when.utc - a.when.utc).total_seconds())
    slack = a.when.plus_minus_s + b.when.plus_minus_s
    slack += 0.0 if a.when.zone_known == b.when.zone_known else ZONE_SPREAD_S
    if gap > seconds + slack:
        return False
    return True if gap + slack <= seconds or slack <= seconds else None


def number(value: Scalar) -> float | None:
    """The value as a number, or None where it is none."""
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def equal(a: Scalar, b: Scalar) -> bool:
    """Whether two values are the same number, or else the same text; `yes` is true, as YAML reads it."""
    if isinstance(a, bool) or isinstance(b, bool):
        mine, other = WORDS.get(_text(a).lower()), WORDS.get(_text(b).lower())
        return mine is not None and mine == other
    x, y = number(a), number(b)
    return x == y if x is not None and y is not None else _text(a) == _text(b)


def passes(test: Test, value: Scalar | None) -> Value:
    """Whether the value passes; unknown for no value, for an order of what is no number, and past the time limit."""
    if value is None:
        return None
    literal = test.literal
    if isinstance(literal, tuple):
        return any(equal(value, member) for member in literal)
    match test.operator:
        case "==":
            return equal(value, literal)
        case "!=":
            return not equal(value, literal)
        case "~":
            found = search(str(literal), _text(value))
            return None if found.gave_up else found.match is not None
        case _:
            return _ordered(test.operator, number(value), number(literal))


def _ordered(operator: str, a: float | None, b: float | None) -> Value:
    if a is None or b is None:
        return None
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]
