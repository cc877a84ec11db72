"""Errors that only the program itself can have made: where one ended the run alone, nothing more is needed."""

from __future__ import annotations

from collections.abc import Sequence

from postmortem.diagnose.outcome import HELD
from postmortem.lazy import lazy
from postmortem.model import Finding, Role, Verdict

# what stands for a mistake in the source whatever the data or the machine: of Python, Java and Node
MISTAKES = frozenset(
    (
        "KeyError", "TypeError", "AttributeError", "IndexError", "NameError", "UnboundLocalError", "ZeroDivisionError",
        "NotImplementedError", "ReferenceError", "NullPointerException", "ClassCastException", "ArithmeticException",
        "IndexOutOfBoundsException", "ArrayIndexOutOfBoundsException", "StringIndexOutOfBoundsException",
        "ConcurrentModificationException", "NoSuchElementException",
    )
)  # fmt: skip
# and what else no other process can bring about: data and packages of the program's own
BUGS = MISTAKES | frozenset(
    (
        "ValueError", "AssertionError", "ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError",
        "IllegalArgumentException", "NumberFormatException", "NoSuchMethodError",
    )
)  # fmt: skip
# the same in the words of Go, Rust and Node
_WORDS = lazy(
    r"nil pointer dereference|index out of range \[|slice bounds out of range|assignment to entry in nil map"
    r"|index out of bounds: the len is|attempt to (?:add|subtract|multiply|divide) (?:with overflow|by zero)"
    r"|called `Option::unwrap\(\)` on a `None` value|integer divide by zero|concurrent map (?:writes|read)"
    r"|Cannot read propert(?:y|ies) of (?:undefined|null)|all goroutines are asleep - deadlock"
)


def is_a_bug(own: Finding) -> bool:
    """Whether an uncaught error is of a kind that no other process can bring about, such as a KeyError."""
    return own.class_id.startswith("runtime.") and error_of(own) in BUGS


def error_of(finding: Finding) -> str:
    """The name of the error without its package: `NullPointerException` of `java.lang.NullPointerException`."""
    return str(finding.facts.get("root_exception") or finding.facts.get("exception") or "").rpartition(".")[2]


def is_own_fault(root: Finding, near: Sequence[Finding]) -> bool:
    """Whether an uncaught error is the program's own mistake, and no other cause was found."""
    if not root.class_id.startswith("runtime.") or root.verdict not in (Verdict.POSSIBLE, Verdict.SUPPORTED):
        return False
    others = [f for f in near if f.role is Role.ROOT and f is not root and f.verdict in HELD]
    return not others and is_mistake(root)


def is_mistake(finding: Finding) -> bool:
    """Whether an error's name or words are those of a mistake in the source."""
    said = (str(finding.facts.get(key) or "") for key in ("root_message", "message"))
    return error_of(finding) in MISTAKES or any(
        _WORDS.search(text) for text in (*said, *(e.text for e in finding.evidence))
    )
