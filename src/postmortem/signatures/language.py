"""The signature language as values: what a loaded catalogue is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from postmortem.model import Kind, Role, Verdict

Scalar = str | int | float | bool
Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in", "~"]
Order = Literal["", "before", "after"]

OPERATORS: tuple[Operator, ...] = ("==", "!=", "<", "<=", ">", ">=", "in", "~")
ENTITY_KEYS = ("pid", "comm", "cgroup", "gpu", "script", "port", "host", "unit", "container", "mount", "rank", "file")
GRADES_FOR = ("decisive", "strong", "weak")
GRADES_AGAINST = ("refutes", "strong", "weak")
LADDER = (Verdict.SUSPECTED, Verdict.POSSIBLE, Verdict.SUPPORTED, Verdict.CONFIRMED)

# Which kinds of source a line head looks at. Of a journal, `kernel` sees the kernel's lines and `log` the others.
HEADS: Mapping[str, frozenset[Kind]] = {
    "kernel": frozenset({Kind.KERNEL, Kind.JOURNAL}),
    "log": frozenset({Kind.LOG, Kind.JOURNAL}),
    "smi": frozenset({Kind.SMI}),
    "container": frozenset({Kind.CONTAINER}),
    "listing": frozenset({Kind.LISTING}),
    "script": frozenset({Kind.SCRIPT}),
    "config": frozenset({Kind.CONFIG}),
    "probe": frozenset({Kind.PROBE}),
}


@dataclass(frozen=True, slots=True)
class Test:
    """An operator and a literal: `"> 0"`, `"in [13, 31]"`, `"~ ^nvidia"`."""

    __test__: ClassVar[bool] = False  # pytest would take the name for a test class

    operator: Operator
    literal: Scalar | tuple[Scalar, ...]


Where = tuple[tuple[str, Test], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What every item may say; `key` is its address in the catalogue, such as `gpu.ecc-error:when[0].all[1]`."""

    key: str
    grade: str = "strong"
    same: tuple[str, ...] | None = None  # None: not said, so only a key that differs speaks against
    within_s: float | None = None
    order: Order = ""
    say: str = ""
    ask: str = ""  # what a person would bring, where the kind of source does not say it
    place: str = field(default="", compare=False)  # file:line:column


@dataclass(frozen=True, slots=True, kw_only=True)
class LineItem(Common):
    """A line of such a source matches."""

    head: str
    pattern: str
    unless: tuple[str, ...] = ()
    program: str = ""
    where: Where = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventItem(Common):
    """A parser or detector saw such an event."""

    kind: str
    where: Where = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FactItem(Common):
    """Such a fact holds."""

    name: str
    test: Test


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassItem(Common):
    """Another class was found with one of these verdicts."""

    class_id: str
    verdicts: frozenset[Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent(Common):
    """The item did not happen, although its source was collected whole and covers the time."""

    item: LineItem | EventItem


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf(Common):
    """Kleene's and."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf(Common):
    """Kleene's or."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotItem(Common):
    """Kleene's not."""

    item: Item


Item = LineItem | EventItem | FactItem | ClassItem | Absent | AllOf | AnyOf | NotItem


@dataclass(frozen=True, slots=True)
class Link:
    """A says that it causes `class_id`, and where that may be believed."""

    class_id: str
    same: tuple[str, ...] = ()
    within_s: float | None = None
    proof: Item | None = None
    say: str = ""
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample text of one source or of several: (head, text) pairs; head "" is any that the entry's lines have."""

    texts: tuple[tuple[str, str], ...]
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One class of fault: what raises it, what speaks for and against it, and what it causes."""

    id: str
    title: str
    role: Role
    when: tuple[Item, ...]
    suspect: tuple[Item, ...] = ()
    support: tuple[Item, ...] = ()  # the key `for`
    against: tuple[Item, ...] = ()
    cancelled_by: tuple[Item, ...] = ()
    explains: tuple[Link, ...] = ()
    summary: str = ""
    advice: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    outcome: str = ""
    yes: tuple[Sample, ...] = ()
    no: tuple[Sample, ...] = ()
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All signatures that are in force, each class after those that its items ask about."""

    signatures: tuple[Signature, ...]
    by_id: Mapping[str, Signature] = field(default_factory=dict)
    digest: str = ""
    patterns: tuple[str, ...] = ()  # of all line items, for the scanner, sorted


def leaves(items: tuple[Item, ...]) -> Iterator[LineItem | EventItem | FactItem | ClassItem]:
    """The items that look at something, in reading order."""
    for item in items:
        match item:
            case AllOf() | AnyOf():
                yield from leaves(item.items)
            case NotItem() | Absent():
                yield from leaves((item.item,))
            case _:
                yield item


def items_of(signature: Signature) -> tuple[Item, ...]:
    """All items of an entry, those of its links' proofs included."""
    proofs = tuple(link.proof for link in signature.explains if link.proof is not None)
    return (
        *signature.when,
        *signature.suspect,
        *signature.support,
        *signature.against,
        *signature.cancelled_by,
        *proofs,
    )


def line_items(signature: Signature) -> tuple[LineItem, ...]:
    """The line items of an entry, in reading order."""
    return tuple(leaf for leaf in leaves(items_of(signature)) if isinstance(leaf, LineItem))
