"""How likely a count is by chance: exact tails, and a correction for having looked in many places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, lgamma, log, log1p


def choose(n: int, k: int) -> float:
    """The logarithm of n over k."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def binomial_tail(k: int, n: int, p: float) -> float:
    """P(X >= k) of n trials of chance p."""
    if k <= 0 or p >= 1:
        return 1.0
    if p <= 0 or k > n:
        return 0.0

    def term(i: int) -> float:
        return exp(choose(n, i) + i * log(p) + (n - i) * log1p(-p))

    if k > (n + 1) * p:
        return falling(term(k), ((n - i) * p / ((i + 1) * (1 - p)) for i in range(k, n)))
    return 1.0 - falling(term(k - 1), (i * (1 - p) / ((n - i + 1) * p) for i in range(k - 1, 0, -1)))


def fisher_tail(k: int, drawn: int, marked: int, total: int) -> float:
    """P(X >= k) marked ones among `drawn` of `total`, of which `marked` are (hypergeometric)."""
    least, most, others = max(0, drawn + marked - total), min(drawn, marked), total - marked - drawn
    if k <= least:
        return 1.0
    if k > most:
        return 0.0

    def term(i: int) -> float:
        return exp(choose(marked, i) + choose(total - marked, drawn - i) - choose(total, drawn))

    if k > (drawn + 1) * (marked + 1) / (total + 2):
        return falling(term(k), ((marked - i) * (drawn - i) / ((i + 1) * (others + i + 1)) for i in range(k, most)))
    down = (i * (others + i) / ((marked - i + 1) * (drawn - i + 1)) for i in range(k - 1, least, -1))
    return 1.0 - falling(term(k - 1), down)


def falling(first: float, ratios: Iterable[float]) -> float:
    """The sum of terms that fall from the first one by these ratios, as far as they count in a double; in [0, 1]."""
    total = term = first
    for ratio in ratios:
        term *= ratio
        total += term
        if term < total * 1e-18:
            break
    return min(1.0, total)


def holm(values: Sequence[float]) -> list[float]:
    """p values corrected for their number (Holm's step-down): the chance of even one false alarm among all."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected, highest = [1.0] * len(values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[at]))
        corrected[at] = highest
    return corrected
