"""Runs the samples of every entry, and names patterns that cannot work or that cost too much."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from postmortem.clock import Clock
from postmortem.model import Finding, Kind, State, Verdict
from postmortem.scan import needle_of
from postmortem.scene import Reading, Scene
from postmortem.signatures.branches import branches
from postmortem.signatures.confirm import confirm
from postmortem.signatures.language import (
    HEADS,
    AllOf,
    AnyOf,
    Catalogue,
    Item,
    LineItem,
    Sample,
    Signature,
    leaves,
    line_items,
)
from postmortem.signatures.match import match
from postmortem.signatures.patterns import LINE_TIMEOUT_S, search
from postmortem.sources import Source
from postmortem.text import text_of

SLOW_S = LINE_TIMEOUT_S / 2  # for a line of STRESS, 4 KiB long; ordinary lines take microseconds
STRESS = ("a" * 4096, "a " * 2048, "1" * 4096, "0123456789abcdef:" * 240, "/usr/lib/x.so " * 290, '{"a": "b", ' * 370)
ORDINARY = (
    "Started Session 4 of user root.",
    "INFO main: server is listening on 0.0.0.0:8080",
    "GET /healthz 200 1.2ms",
    "usb 1-1: new high-speed USB device number 2 using xhci_hcd",
    "step 1200 loss 0.4312 throughput 812 tokens/s error=0 failed=0",
    "Reading package lists... Done",
)
# The kind of source that a sample of a head is; of a journal's kernel lines a kernel log shows the same.
KIND = {head: Kind.LOG if head == "log" else min(kinds - {Kind.JOURNAL}) for head, kinds in HEADS.items()}


def check(catalogue: Catalogue) -> tuple[str, ...]:
    """Every problem as `file:line:column: what; what to do`; none for a catalogue that works."""
    return tuple(p for s in catalogue.signatures for p in (*_samples(s), *_patterns(s)))


def warnings(catalogue: Catalogue) -> tuple[str, ...]:
    """What is probably a mistake: an alternative of a pattern that no sample reaches."""
    return tuple(w for s in catalogue.signatures for w in _dead(s))


def found_in(signature: Signature, sample: Sample) -> tuple[Finding, ...]:
    """What the entry alone makes of a sample, refuted findings included.

    Where lines of `when` can raise it, a sample is about those: that `suspect` catches a look-alike is its purpose.
    """
    if any(isinstance(leaf, LineItem) for leaf in leaves(signature.when)):
        signature = replace(signature, suspect=())
    alone = Catalogue((signature,), {signature.id: signature})
    found: list[Finding] = []
    for readings in _sources(signature, sample):
        found += match(alone, Scene(readings), confirm(alone, readings))
    return tuple(found)


def _sources(signature: Signature, sample: Sample) -> Iterator[tuple[Reading, ...]]:
    """The sources that a sample stands for: those that it names, or one of each kind that the entry's lines have."""
    heads = dict.fromkeys(item.head for item in _lines_of(signature) or line_items(signature))
    if all(head for head, _ in sample.texts):
        yield tuple(_reading(signature, head, text) for head, text in sample.texts)
    else:
        yield from ((_reading(signature, head, sample.texts[0][1]),) for head in heads)


def _reading(signature: Signature, head: str, text: str) -> Reading:
    made = text_of(text, raw=head == "script")
    numbers = tuple(range(1, made.count + 1))
    hits = {item.pattern: numbers for item in line_items(signature)}
    return Reading(
        Source(f"sample.{head}", KIND[head], State.WHOLE, made, hits=hits), Clock()
    )  # no times: a sample's order is that of its lines


def _samples(signature: Signature) -> Iterator[str]:
    for sample in signature.yes:
        if fault := _missed(signature, sample):
            yield f"{sample.place}: the yes sample of {signature.id} {fault}"
    for sample in signature.no:
        raised = [f for f in found_in(signature, sample) if f.verdict is not Verdict.REFUTED]
        if raised:
            what = f"raises it by: {raised[0].evidence[0].text.strip()[:120]}"
            yield f"{sample.place}: the no sample of {signature.id} {what}; narrow the pattern, or add `unless`"


def _missed(signature: Signature, sample: Sample) -> str:
    """Why a yes sample does not raise the entry, or ""."""
    found = found_in(signature, sample)
    if any(f.verdict is not Verdict.REFUTED for f in found):
        return ""
    if found:
        return f"is refuted: {found[0].against[0][0][:120]}; correct `against`, or the sample"
    seen = [confirm(Catalogue((signature,)), readings) for readings in _sources(signature, sample)]
    raising = {leaf.key for leaf in _lines_of(signature) if any(hits[leaf.key] for hits in seen)}
    could = [i for i in signature.when if _lines_suffice(i) and raising & {leaf.key for leaf in leaves((i,))}]
    if raising and not could:
        return ""  # the line is there; the rest of the `all` is a fact or event that no sample line shows
    if raising:
        return "has the line, but not what goes with it; look at where, same and order"
    seen_as = {line for readings in _sources(signature, sample) for _, line in _searched(readings)}
    todo = "correct the pattern, or name the kind of source: {kernel: ...}"
    return f"does not match{_as_message(sample, seen_as)}; {todo}"


def _as_message(sample: Sample, seen: set[str]) -> str:
    """What patterns see of a one-line sample, where it is not the line itself."""
    line = sample.texts[0][1]
    others = sorted(seen - {line})
    return f" (its message is '{others[0][:120]}')" if others and "\n" not in line.strip() else ""


def _lines_of(signature: Signature) -> list[LineItem]:
    """The lines that a sample is about: those of `when`, and without any those of `suspect`."""
    raising = [i for i in leaves(signature.when) if isinstance(i, LineItem)]
    return raising or [i for i in leaves(signature.suspect) if isinstance(i, LineItem)]


def _lines_suffice(item: Item) -> bool:
    """Whether lines alone can make the item true."""
    match item:
        case LineItem():
            return True
        case AllOf():
            return all(_lines_suffice(i) for i in item.items)
        case AnyOf():
            return any(_lines_suffice(i) for i in item.items)
        case _:
            return False


def _patterns(signature: Signature) -> Iterator[str]:
    raising = {leaf.key for leaf in leaves((*signature.when, *signature.suspect))}
    longest = _stress(signature)
    for item in line_items(signature):
        pattern, shown = item.pattern, item.pattern[:80]
        if not needle_of(pattern).selective:
            todo = "put a literal piece of three characters or more into every branch"
            yield f"{item.place}: the scanner cannot look for '{shown}'; {todo}"
        if (
            item.key in raising
            and signature.outcome != "healthy"
            and any(search(pattern, line).match for line in ORDINARY)
        ):
            yield f"{item.place}: '{shown}' matches ordinary lines; ask for more of the message"
        for used in (pattern, *item.unless):
            if any(_slow(used, line) for line in longest):
                yield f"{item.place}: '{used[:80]}' is slow on long lines; nest no repeats, bound `.*` in the middle"


def _stress(signature: Signature) -> tuple[str, ...]:
    """Long lines, alone and around what the entry looks for: a pattern is slow only where its literals are."""
    samples = [text.splitlines()[0] for sample in signature.yes[:3] for _, text in sample.texts]
    return STRESS + tuple(line for s in samples for long in STRESS for line in (f"{long}{s}", f"{s}{long}"))


def _slow(pattern: str, line: str) -> bool:
    # The best of three: a busy machine is no fault of the pattern.
    return all(_seconds(pattern, line) > SLOW_S for _ in range(3))


def _seconds(pattern: str, line: str) -> float:
    began = time.perf_counter()
    search(pattern, line)
    return time.perf_counter() - began


def _dead(signature: Signature) -> Iterator[str]:
    lines = [pair for sample in signature.yes for sources in _sources(signature, sample) for pair in _searched(sources)]
    for item in _lines_of(signature):
        for branch in branches(item.pattern):
            if not any(kind == KIND[item.head] and search(branch, line).match for kind, line in lines):
                yield f"{item.place}: no yes sample of {signature.id} reaches the alternative '{branch[:100]}'; add one"


def _searched(sources: tuple[Reading, ...]) -> Iterator[tuple[Kind, str]]:
    """What patterns see of each line of a sample."""
    for reading in sources:
        for line in reading.lines():
            kind = reading.source.kind
            yield kind, line.message if kind in (Kind.KERNEL, Kind.LOG) else line.raw
