"""Errors that a program makes itself: no fault of a machine and no other process brings them about."""

from __future__ import annotations

from postmortem.model import Finding

BUGS = frozenset(
    [
        "KeyError",
        "ValueError",
        "TypeError",
        "AttributeError",
        "IndexError",
        "NameError",
        "UnboundLocalError",
        "AssertionError",
        "ImportError",
        "ModuleNotFoundError",
        "ZeroDivisionError",
        "NotImplementedError",
        "ReferenceError",
        "SyntaxError",
        "IndentationError",
        "NullPointerException",
        "IllegalArgumentException",
        "ClassCastException",
        "NumberFormatException",
        "NoSuchMethodError",
        "ArrayIndexOutOfBoundsException",
        "IndexOutOfBoundsException",
    ]
)


def is_a_bug(own: Finding) -> bool:
    """Whether an uncaught error is of a kind that no other process can bring about, such as a KeyError."""
    name = str(own.facts.get("root_exception") or own.facts.get("exception") or "").rpartition(".")[2]
    return own.class_id.startswith("runtime.") and name in BUGS
