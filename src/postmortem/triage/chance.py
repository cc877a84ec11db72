"""How likely a count is by chance: exact tails, and a correction for having looked in many places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, lgamma, log


def choose(n: int, k: int) -> float:
    """The logarithm of n over k."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def binomial_tail(k: int, n: int, p: float) -> float:
    """P(X >= k) of n trials of chance p."""
    if k <= 0 or p >= 1:
        return 1.0
    if p <= 0 or k > n:
        return 0.0
    return added(choose(n, i) + i * log(p) + (n - i) * log(1 - p) for i in range(k, n + 1))


def fisher_tail(k: int, drawn: int, marked: int, total: int) -> float:
    """P(X >= k) marked ones among `drawn` of `total`, of which `marked` are (hypergeometric)."""
    least, most = max(k, drawn + marked - total, 0), min(drawn, marked)
    if k <= max(0, drawn + marked - total):
        return 1.0
    base = choose(total, drawn)
    return added(choose(marked, i) + choose(total - marked, drawn - i) - base for i in range(least, most + 1))


def added(logs: Iterable[float]) -> float:
    """The sum of what these are the logarithms of, in [0, 1]."""
    return min(1.0, sum(exp(value) for value in logs))


def holm(values: Sequence[float]) -> list[float]:
    """p values corrected for their number (Holm's step-down): the chance of even one false alarm among all."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected, highest = [1.0] * len(values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[at]))
        corrected[at] = highest
    return corrected
