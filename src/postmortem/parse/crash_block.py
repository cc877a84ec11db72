"""What the readers of crash records share: lines under one prefix, and the record they make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from postmortem.lazy import lazy
from postmortem.scene import Reading

# `[rank0]: `, `(Worker pid=77) `, `collector-1  | `, `0: ` of srun -l: what a launcher puts before each line of a child
_PREFIX = lazy(r"^(?:\[[\w.:-]+\]:? ?|\([\w .=:-]+\)\s|[\w.-]+\s*\| ?|\d+: )+")


@dataclass(frozen=True, slots=True)
class Crash:
    """One crash record: the error that ended it and the first error of its chain."""

    language: str
    start: int
    end: int
    exception: str = ""
    message: str = ""
    root_exception: str = ""
    root_message: str = ""
    place: str = ""
    thread: str = ""
    signal: str = ""
    lines: tuple[int, ...] = ()
    kind: str = "traceback"
    uncaught: bool = False
    echo: bool = False

    def fields(self) -> dict[str, str]:
        """The event's fields; what is not known is left out."""
        root = self.root_exception or self.exception
        named = {
            "language": self.language,
            "exception": self.exception,
            "message": self.message,
            "root_exception": root,
            "root_message": self.root_message or (self.message if root == self.exception else ""),
            "place": self.place,
            "thread": self.thread,
            "signal": self.signal,
            "uncaught": "yes" if self.uncaught else "",
            "echo": "yes" if self.echo else "",
        }
        return {key: value for key, value in named.items() if value}


class Block:
    """The lines from a nominated one on, without the prefix that its launcher put before them."""

    def __init__(self, reading: Reading, start: int) -> None:
        self.reading = reading
        self.start = start
        line = reading.line(start)
        self.message = "" if line is None else line.message
        found = _PREFIX.match(self.message)
        self.prefix = found.group() if found else ""

    def text(self, number: int) -> str | None:
        """The message of a line without the prefix, or None where it was not kept."""
        line = self.reading.line(number)
        if line is None:
            return None
        if self.prefix and line.message.startswith(self.prefix.rstrip()):
            return line.message[len(self.prefix) :]
        return line.message

    def holds(self, word: str, limit: int) -> bool:
        """Whether a line below has this word: many blocks are told apart without taking their lines apart."""
        return any(word in (self.reading.raw(self.start + n) or "") for n in range(1, limit + 1))

    def stamped(self, number: int) -> bool:
        line = self.reading.line(number)
        return line is not None and line.stamp is not None

    def stamped_alone(self, number: int, head: int) -> bool:
        """Whether the line has a stamp although the record's head has none: another writer's line in between."""
        return self.stamped(number) and not self.stamped(head)

    @property
    def first(self) -> str:
        return self.text(self.start) or ""

    def below(self, limit: int, start: int | None = None) -> Iterator[tuple[int, str]]:
        """(number, text) of the lines below, as long as they were kept."""
        at = (self.start if start is None else start) + 1
        for number in range(at, at + limit):
            text = self.text(number)
            if text is None:
                return
            yield number, text

    def above(self, limit: int) -> Iterator[tuple[int, str]]:
        for number in range(self.start - 1, max(self.start - 1 - limit, 0), -1):
            text = self.text(number)
            if text is None:
                return
            yield number, text
