"""Failures without a named cause, put together by the masked templates of their first abnormal lines."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from postmortem.lines import split
from postmortem.report.masks import masked

ALIKE = 0.6  # Jaccard of words: measured on the open cases, same failures 0.8 and more, others 0.3 and less
NEAR = 0.25  # from which a named group is worth naming
WORD = re.compile(r"<\w+>|[A-Za-z_][\w.]*")
WORDS_IGNORED = frozenset(
    ("a", "an", "and", "at", "be", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "was", "with",
     "<n>", "<time>", "error", "info", "warn")
)  # fmt: skip
PREFIX = "unknown-"

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Failures that begin alike."""

    id: str
    templates: tuple[str, ...]
    members: tuple[int, ...]  # positions of the rows that were given
    example: int
    nearest: str = ""  # the named group whose evidence reads most like it
    likeness: float = 0.0


@lru_cache(maxsize=65536)
def template(line: str) -> str:
    """The masked message of a raw line."""
    return masked(split(line).message)


def words(templates: Iterable[str]) -> Words:
    found = {w.lower() for t in templates for w in WORD.findall(t)}
    return frozenset(found - WORDS_IGNORED)


def alike(one: Words, two: Words) -> float:
    """The Jaccard index: 1 the same words, 0 none in common."""
    return len(one & two) / len(one | two) if one or two else 0.0


def cluster(rows: Sequence[Sequence[str]], named: Mapping[str, Sequence[str]]) -> list[Cluster]:
    """Clusters of the rows' lines, largest first; `named` are lines of evidence of each named group.

    A row without any abnormal line joins those that have none either: nothing at all is known of them.
    """
    kinds: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, lines in enumerate(rows):
        kinds[tuple(dict.fromkeys(template(line) for line in lines))].append(at)
    leaders = led(kinds)
    known = {name: words(map(template, lines)) for name, lines in named.items()}
    made = [
        finished(leader, [i for kind in kinds_of for i in kinds[kind]], known) for leader, kinds_of in leaders.items()
    ]
    return sorted(made, key=lambda c: (-len(c.members), c.id))


def led(kinds: Mapping[tuple[str, ...], Sequence[int]]) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """Each kind goes to the most frequent one that it is like; only kinds that share a word are compared."""
    order = sorted(kinds, key=lambda k: (-len(kinds[k]), k))
    leaders: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    holding: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    of = {kind: words(kind) for kind in order}
    for kind in order:
        shared = Counter(other for word in of[kind] for other in holding[word])
        best = max(shared, key=lambda o: (alike(of[kind], of[o]), o), default=None)
        if best is not None and alike(of[kind], of[best]) >= ALIKE:
            leaders[best].append(kind)
            continue
        leaders[kind] = [kind]
        for word in of[kind]:
            holding[word].append(kind)
    return leaders


def finished(leader: tuple[str, ...], members: list[int], known: Mapping[str, Words]) -> Cluster:
    digest = hashlib.blake2b("\n".join(leader).encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    own = words(leader)
    nearest = max(known, key=lambda name: (alike(own, known[name]), name), default="")
    likeness = round(alike(own, known[nearest]), 2) if nearest else 0.0
    if likeness < NEAR:
        nearest, likeness = "", 0.0
    return Cluster(PREFIX + digest, leader, tuple(sorted(members)), min(members), nearest, likeness)
