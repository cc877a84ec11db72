"""Decides which lines of a member are kept in memory: the builder of a `Text`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from postmortem.text.lines import Run, Text, run_of, text_of

WHOLE_LIMIT = 4 << 20  # bytes of a member that is kept whole
HEAD, TAIL = 128 << 10, 512 << 10  # bytes of a bigger one, beside what surrounds its nominations
NOMINATED, LATE = 4 << 20, 256 << 10  # bytes around the first nominations, and around the last of too many
TOTAL = 96 << 20  # bytes over all members
WAIT = 16 << 20  # bytes that wait for their last nominations: later ones replace most

Piece = tuple[int, bytes]  # the number of the first line (from 1), and lines
LatePlaces = Callable[[], Sequence["Place"]]  # the sorted places of a block of which later ones may still take the room


class Place(NamedTuple):
    """A line of a block to keep, with its neighbours."""

    line: int  # from 0
    start: int  # offset of its first byte
    before: int = 0  # neighbours, in lines
    after: int = 0


class Budget:
    """The bytes that all texts together may still keep."""

    def __init__(self, left: int = TOTAL) -> None:
        self.left = left

    def take(self, wanted: int) -> bool:
        """Whether that many bytes were still there; they are gone then."""
        if wanted > self.left:
            return False
        self.left -= wanted
        return True


class TextBuilder:
    """Is fed a member's blocks of whole lines in order, and keeps what a `Text` needs."""

    def __init__(self, budget: Budget, raw: bool = False, long_lines: bool = False) -> None:
        self._budget, self._raw, self._long_lines = budget, raw, long_lines
        self._size = self._count = 0
        self._ends = True
        self._all: list[tuple[Piece, Sequence[Place], LatePlaces]] | None = []  # None: too big to keep whole
        self._head: list[Piece] = []
        self._first = _Windows(NOMINATED, budget)
        self._late = _Windows(LATE, None)
        self._waiting: deque[tuple[Piece, bytes, LatePlaces]] = deque()  # late places not asked for yet
        self._waiting_bytes = 0
        self._tail: deque[Piece] = deque()
        self._tail_bytes = 0

    def feed(self, block: bytes, lines: int, first: Sequence[Place] = (), late: LatePlaces = tuple) -> None:
        """A block of `lines` lines, with the sorted places of those to keep.

        Lines in `first` are kept as they come while there is room; of those in `late`, which is asked for when many
        blocks have followed, the last ones are.
        """
        piece = (self._count + 1, block)
        self._size += len(block)
        self._count += lines
        self._ends = block.endswith(b"\n")
        if self._all is not None:
            if self._size <= WHOLE_LIMIT and self._budget.take(len(block)):
                self._all.append((piece, first, late))
                return
            self._turn_big(self._all)
        self._stream(piece, first, late)

    def finish(self) -> Text:
        """What was kept."""
        if self._all is not None:
            return text_of(b"".join(piece[1] for piece, _, _ in self._all), self._raw, self._long_lines)
        self._settle(0)
        runs = tuple(_runs([*self._head, *self._first.windows, *self._late.windows, *self._kept_tail()]))
        whole = sum(len(run.starts) for run in runs) == self._count
        return Text(self._size, self._count, whole, self._ends, self._raw, runs, self._long_lines)

    def _turn_big(self, seen: list[tuple[Piece, Sequence[Place], LatePlaces]]) -> None:
        self._all = None
        self._budget.left += sum(len(piece[1]) for piece, _, _ in seen)
        self._budget.take(HEAD + TAIL + LATE)
        head = b"".join(piece[1] for piece, _, _ in seen)[:HEAD]
        self._head = [(1, head[: head.rfind(b"\n") + 1])]
        for piece, first, late in seen:
            self._stream(piece, first, late)

    def _stream(self, piece: Piece, first: Sequence[Place], late: LatePlaces) -> None:
        if not self._head:
            end = piece[1].find(b"\n", min(HEAD, len(piece[1]) - 1)) + 1
            self._head = [(piece[0], piece[1][: end or len(piece[1])])]
        previous = self._tail[-1][1] if self._tail else b""
        self._first.add(piece, previous, first)
        self._waiting.append((piece, previous, late))
        self._waiting_bytes += len(piece[1])
        self._settle(WAIT)
        self._tail.append(piece)
        self._tail_bytes += len(piece[1])
        while len(self._tail) > 1 and self._tail_bytes - len(self._tail[0][1]) >= TAIL:
            self._tail_bytes -= len(self._tail.popleft()[1])

    def _settle(self, most: int) -> None:
        """Asks for the late places of the oldest blocks, until at most so many bytes wait."""
        while self._waiting and self._waiting_bytes > most:
            piece, previous, late = self._waiting.popleft()
            self._waiting_bytes -= len(piece[1])
            self._late.add(piece, previous, late())

    def _kept_tail(self) -> Iterator[Piece]:
        excess = self._tail_bytes - TAIL
        for start, block in self._tail:
            cut = block.find(b"\n", excess) + 1 if 0 < excess < len(block) else 0
            yield start + block.count(b"\n", 0, cut), block[cut:]
            excess = 0


class _Windows:
    """Nominated lines with their neighbours, in bounded memory: the first ones, or (without a budget) the last."""

    def __init__(self, limit: int, budget: Budget | None) -> None:
        self.windows: deque[Piece] = deque()
        self._limit, self._budget = limit, budget
        self._bytes = 0
        self._until = 0  # lines up to this number are still wanted by an earlier hit

    def add(self, piece: Piece, previous: bytes, hits: Sequence[Place]) -> None:
        start, block = piece
        if self._until >= start:
            self._keep(start, block[: _forward(block, 0, self._until - start + 1)])
        for first, last, begin, end in _stretches(hits):
            back, offset = _backward(block, first.start, first.line - max(0, begin))
            if begin < 0:
                lines, earlier = _backward(previous, len(previous), -begin)
                self._keep(start - lines, previous[earlier:])
            self._keep(start + first.line - back, block[offset : _forward(block, last.start, end - last.line + 1)])
            self._until = max(self._until, start + end)

    def _keep(self, line: int, data: bytes) -> None:
        if not data:
            return
        full = self._bytes + len(data) > self._limit
        if self._budget is not None and (full or not self._budget.take(len(data))):
            return
        self.windows.append((line, data))
        self._bytes += len(data)
        while self._budget is None and self._bytes > self._limit and len(self.windows) > 1:
            self._bytes -= len(self.windows.popleft()[1])


def _stretches(hits: Sequence[Place]) -> Iterator[tuple[Place, Place, int, int]]:
    """(first hit, last hit, first line, last line) of each stretch of hits whose neighbourhoods touch."""
    first: Place | None = None
    last, begin, end = hits[0] if hits else None, 0, 0
    for hit in hits:
        if first is not None and last is not None and hit.line - hit.before > end + 1:
            yield first, last, begin, end
            first = None
        if first is None:
            first, begin, end = hit, hit.line - hit.before, hit.line + hit.after
        last = hit
        begin, end = min(begin, hit.line - hit.before), max(end, hit.line + hit.after)
    if first is not None and last is not None:
        yield first, last, begin, end


def _forward(block: bytes, offset: int, lines: int) -> int:
    """The offset after so many lines from a line start."""
    for _ in range(lines):
        end = block.find(b"\n", offset) + 1
        if not end:
            return len(block)
        offset = end
    return offset


def _backward(block: bytes, offset: int, lines: int) -> tuple[int, int]:
    """(how many, where) of at most so many lines before a line start."""
    done = 0
    while done < lines and offset > 0:
        offset = block.rfind(b"\n", 0, offset - 1) + 1
        done += 1
    return done, offset


def _runs(pieces: Iterable[Piece]) -> Iterator[Run]:
    """The pieces in order, without what two of them share; neighbours become one."""
    begin, data, following = 1, [b""], 1
    for start, block in sorted((piece for piece in pieces if piece[1]), key=lambda piece: (piece[0], len(piece[1]))):
        skip = following - start
        block = block[_forward(block, 0, skip) :] if skip > 0 else block
        if not block:
            continue
        if start > following:
            if data != [b""]:
                yield run_of(begin, b"".join(data))
            begin, data, following = start, [b""], start
        data.append(block)
        following = max(following, start) + block.count(b"\n") + (not block.endswith(b"\n"))
    if data != [b""]:
        yield run_of(begin, b"".join(data))
