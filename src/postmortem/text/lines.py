"""A member's text: whole for a small one; head, tail and what surrounds a nomination for a big one.

What a line looks like to a reader, wherever it is shown or matched:

* terminal escapes are gone (`strip_escapes`, the same bytes that the scanner sees),
* a carriage return before the line end is gone; one inside the line (a progress bar) shows as `␍`, so that the last
  state of the bar can be seen and every state can be searched,
* any other control character shows as U+FFFD, one for one,
* invalid UTF-8 shows as U+FFFD; a line over `LINE_LIMIT` bytes keeps its head and tail around a marker.

A script (`raw`) keeps its carriage returns and a byte order mark: they are what may be wrong with it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from postmortem.scan.escapes import printable, strip_escapes
from postmortem.text.decoded import Memory, clean, lines_of

LINE_LIMIT = 64 << 10  # bytes of one line
LINE_HEAD, LINE_TAIL = 48 << 10, 15 << 10
SHORT, REMEMBERED = 600, 16_384  # characters of a line that is remembered, and how many are
WHOLE_RUN = 4 << 20  # bytes of a run whose lines are decoded all at once
_MEMORY = Memory()


def shorten(line: bytes) -> bytes:
    """The line, or its head and tail around a marker that says how many bytes are gone."""
    if len(line) <= LINE_LIMIT:
        return line
    cut = b" ...[%d bytes cut]... " % (len(line) - LINE_HEAD - LINE_TAIL)
    return line[:LINE_HEAD] + cut + line[-LINE_TAIL:]


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive lines: the number of the first, their bytes, and where each starts."""

    first: int
    data: bytes
    starts: array[int]

    @property
    def last(self) -> int:
        return self.first + len(self.starts) - 1

    def bytes_of(self, number: int) -> bytes:
        """The line without its newline."""
        index = number - self.first
        end = self.starts[index + 1] - 1 if index + 1 < len(self.starts) else len(self.data)
        line = self.data[self.starts[index] : end]
        return line[:-1] if line.endswith(b"\n") else line


def run_of(first: int, data: bytes) -> Run:
    """A run of the lines in `data`, which begins at a line start."""
    lengths = [len(piece) + 1 for piece in data.split(b"\n")]
    lengths.pop()  # what follows the last newline
    starts = array("Q", accumulate(lengths, initial=0))
    if data.endswith(b"\n") or not data:
        starts.pop()
    return Run(first, data, starts)


@dataclass(frozen=True, slots=True)
class Text:
    """Decoded lines by number (from 1), as far as they were kept."""

    size: int = 0  # bytes of the member
    count: int = 0  # lines of the member
    whole: bool = True  # every line was kept
    ends_with_newline: bool = True
    raw: bool = False  # a script: carriage returns stay
    runs: tuple[Run, ...] = field(default=(), repr=False)  # in order, not overlapping
    long_lines: bool = False  # lines over the limit were kept whole, as structured sources need
    seen: dict[int, str] = field(default_factory=dict, repr=False, compare=False)  # lines that were asked for

    def line(self, number: int) -> str | None:
        """The line without its end, or None where it was not kept or does not exist."""
        if (known := self.seen.get(number)) is not None:
            return known
        at = bisect_right(self.runs, number, key=lambda run: run.first) - 1
        if at < 0 or number > self.runs[at].last:
            return None
        shown = self._shown(self.runs[at].bytes_of(number), number)
        if len(shown) <= SHORT and len(self.seen) < REMEMBERED:
            self.seen[number] = shown
        return shown

    def kept(self) -> Iterator[tuple[int, str]]:
        """(number, line) of every line that was kept, in order."""
        for run in self.runs:
            if len(run.data) <= WHOLE_RUN:
                yield from enumerate(self._lines(run), run.first)
                continue
            for number in range(run.first, run.last + 1):
                yield number, self._shown(run.bytes_of(number), number)

    def plain(self) -> bytes | None:
        """The bytes of a text that is whole and shows as it stands in UTF-8; None for any other."""
        if not self.whole or len(self.runs) != 1 or not clean(self.runs[0].data):
            return None
        return self.runs[0].data

    def may_hold(self, *words: str) -> bool:
        """Whether some kept line may hold one of the words; False is sure."""
        wanted = [word.encode() for word in words]
        return any(b"\x1b" in run.data or any(word in run.data for word in wanted) for run in self.runs)

    def _lines(self, run: Run) -> Sequence[str]:
        """The lines of a run, which many readers walk."""
        how = self.raw + 2 * self.long_lines
        return _MEMORY.of(run.data, how, lambda: self._all_at_once(run) or self._one_by_one(run))

    def _all_at_once(self, run: Run) -> Sequence[str] | None:
        lines = lines_of(run.data, len(run.data) if self.long_lines else LINE_LIMIT)
        if lines and run.first == 1 and not self.raw:
            lines[0] = lines[0].removeprefix("\ufeff")
        return lines

    def _one_by_one(self, run: Run) -> Sequence[str]:
        return [self._shown(run.bytes_of(number), number) for number in range(run.first, run.last + 1)]

    def _shown(self, line: bytes, number: int) -> str:
        if not self.long_lines:
            line = shorten(line)
        if self.raw:
            return line.decode("utf-8", "replace")
        decoded = strip_escapes(line).decode("utf-8", "replace").removesuffix("\r").strip("\0")
        return printable(decoded.removeprefix("\ufeff") if number == 1 else decoded)


def text_of(data: bytes | str, raw: bool = False, long_lines: bool = False) -> Text:
    """The whole of `data` as a text."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    if not data:
        return Text(raw=raw)
    run = run_of(1, data)
    return Text(len(data), len(run.starts), True, data.endswith(b"\n"), raw, (run,), long_lines)
