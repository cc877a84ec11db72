"""Members of a bundle -> sources: what each is, its text, and the lines that the scanner nominated."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from postmortem.bundle import Bundle
from postmortem.bundle.member import Member
from postmortem.model import READABLE, Kind, State
from postmortem.scan import Scanner, line_count
from postmortem.sources.hits import Hits, Margins
from postmortem.sources.identify import SAMPLE_BYTES, SAMPLE_LINES, Identity, identify
from postmortem.sources.names import kind_of_name
from postmortem.sources.probes import with_probes
from postmortem.sources.scanning import Scanning
from postmortem.sources.shapes import written_by_programs_too
from postmortem.sources.source import Source
from postmortem.text import Text
from postmortem.text.blocks import utf8, whole_lines
from postmortem.text.keep import WHOLE_LIMIT, Budget, TextBuilder

MEMBERS = 5_000  # of one input that are kept whatever is in them
LET_GO = f"nothing known in it; more than {MEMBERS:,} members"
NONE: Mapping[str, Any] = MappingProxyType({})
STRUCTURED = frozenset({Kind.CONFIG, Kind.CONTAINER, Kind.SMI, Kind.PROC, Kind.PROBE})  # a cut line breaks these


def read_sources(
    bundle: Bundle, scanner: Scanner, margins: Margins, scanned: Callable[[int], None] | None = None
) -> tuple[Source, ...]:
    """Every member of the bundle as a source, read once in stream order, and what the manifest says is not there.

    `scanned` hears of the bytes of each block that was scanned.
    """
    budget = Budget()
    scanning, asked = Scanning(scanner, scanned, bundle.on_disk), frozenset(scanner.patterns)
    sources: list[Source] = []
    try:
        for member in bundle.walk():
            many = len(sources) >= MEMBERS
            source = _read(member, scanning, asked, margins, budget, brief=many)
            sources.append(_let_go(source, budget) if many and not source.hits else source)
    finally:
        scanning.close()
    probes = bundle.manifest.probes if bundle.manifest else ()
    return with_probes(sources, probes)


def _let_go(source: Source, budget: Budget) -> Source:
    """One of very many members, in which nothing known stands: that it is there is kept, and its lines are not."""
    if source.state not in READABLE:
        return source
    budget.left += sum(len(run.data) for run in source.text.runs)
    text = Text(source.text.size, source.text.count, False, source.text.ends_with_newline)
    return replace(source, state=State.OVER_BUDGET, text=text, reason=LET_GO, sha256="", hits=NONE, hit_counts=NONE)


def _read(
    member: Member, scanning: Scanning, asked: frozenset[str], margins: Margins, budget: Budget, brief: bool = False
) -> Source:
    """The member as a source; with `brief` what it is matters only where something known stands in it."""
    if member.state not in READABLE:
        return Source(member.path, kind_of_name(member.path), member.state, Text(), reason=member.reason)
    digest = _Digest()
    blocks = whole_lines(utf8(digest.through(member.blocks())))
    head = _head(blocks)
    if brief and digest.size < SAMPLE_BYTES and not any(map(scanning.scanner.nominees, head)):
        scanning.passed(digest.size)
        return Source(member.path, kind_of_name(member.path), member.state, _unread(head), reason=member.reason)
    seen = identify(member.path, b"".join(head)[:SAMPLE_BYTES])
    if seen.kind is Kind.BINARY:
        for _ in blocks:
            pass
        return Source(member.path, Kind.BINARY, member.state, Text(digest.size), "", member.reason, sha256=digest.hex())
    builder = TextBuilder(budget, raw=seen.kind is Kind.SCRIPT, long_lines=seen.kind in STRUCTURED)
    hits = Hits(scanning.scanner, margins)
    for block, found in scanning.found(_chain(head, blocks)):
        hits.feed(block, found, builder)
    text = builder.finish()
    source = replace(_source(member, seen, text), asked=asked, sha256=digest.hex())
    return replace(source, hits=hits.lines(), hit_counts=hits.counts())


def _unread(blocks: Sequence[bytes]) -> Text:
    """A text of which no line is kept."""
    whole = b"".join(blocks)
    return Text(len(whole), line_count(whole), False, whole.endswith(b"\n"))


def _source(member: Member, seen: Identity, text: Text) -> Source:
    state, reason = member.state, member.reason
    if state is State.WHOLE and not text.count:
        state = State.EMPTY
    if seen.state is not None:
        state, reason = seen.state, seen.reason
    reason = reason or seen.reason
    return Source(member.path, _refined(seen.kind, text), state, text, seen.dialect, reason)


def _refined(kind: Kind, text: Text) -> Kind:
    """KERNEL becomes JOURNAL when lines further down are not the kernel's."""
    if kind is not Kind.KERNEL or text.count <= SAMPLE_LINES:
        return kind
    step = max(1, text.count // SAMPLE_LINES)
    lines = [line for number in range(1, text.count + 1, step) if (line := text.line(number))]
    return Kind.JOURNAL if lines and written_by_programs_too(lines) else kind


def _head(blocks: Iterator[bytes]) -> list[bytes]:
    """The first blocks, until they are enough to judge by."""
    head: list[bytes] = []
    size = 0
    for block in blocks:
        head.append(block)
        size += len(block)
        if size >= SAMPLE_BYTES:
            break
    return head


def _chain(head: Sequence[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    yield from head
    yield from rest


class _Digest:
    """The sha256 of a member that is kept whole."""

    def __init__(self) -> None:
        self.size = 0
        self._sum = hashlib.sha256()

    def through(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        for block in blocks:
            self.size += len(block)
            if self.size <= WHOLE_LIMIT:
                self._sum.update(block)
            yield block

    def hex(self) -> str:
        return self._sum.hexdigest() if 0 < self.size <= WHOLE_LIMIT else ""
