"""Declared links -> edges between findings, taken only where entity and time order allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from postmortem.clock import year_known
from postmortem.diagnose.entity import VAGUE_S, Match, compare, seconds_apart, slack
from postmortem.diagnose.serving import GRACE_S, serves
from postmortem.model import Edge, Finding, Role
from postmortem.signatures import Link

Proves = Callable[[Link, Finding, Finding], bool | None]  # (link, cause, effect) -> whether its proof holds
FAR_S = 3600.0
SAME_MOMENT_S = 30.0
OF_THE_DEVICE = ("gpu.fell-off-bus", "gpu.gsp-timeout", "gpu.driver-hang", "gpu.ecc-error", "gpu.nvlink-error")
ZONE_STEP_S = 1800.0
NOTICED_LATE_S = 15.0  # a program meets a lost device before the driver has given up waiting for it
RECORD_LINES = 40  # a crash record's own lines
WRAPPERS = ("runtime.", "process.abort", "process.silent-exit", "process.killed")


@dataclass(frozen=True, slots=True)
class Caused:
    """`cause` explains `effect`, and how well that is known."""

    cause: Finding
    effect: Finding
    edge: Edge
    say: str = ""


def unasked(link: Link, cause: Finding, effect: Finding) -> bool | None:
    """The answer where nobody can ask for the proof of a link: unknown."""
    return None


def edges(
    findings: Sequence[Finding], links: Mapping[str, tuple[Link, ...]], proves: Proves = unasked
) -> tuple[Caused, ...]:
    """Every edge that the declared links, their proofs and the records themselves allow."""
    found: list[Caused] = []
    for cause in findings:
        for effect in findings:
            if cause is effect or cause.class_id == effect.class_id:
                continue
            link = next((k for k in links.get(cause.class_id, ()) if k.class_id == effect.class_id), None)
            edge = with_proof(cause, effect, link, proves) if link else same_record(cause, effect)
            gave = serves(cause, effect)
            if serves(effect, cause):
                continue  # the server's end is no effect of what its clients lacked
            say = link.say if link else ""
            if gave and not edge:
                edge = graded(cause, effect, Link(effect.class_id, within_s=GRACE_S))
                say = f"{cause.entity.get('comm') or cause.entity.get('unit')} is what was asked"
            if edge and gave is not False:
                found.append(Caused(cause, effect, edge, say))
    return tuple(found)


def with_proof(cause: Finding, effect: Finding, link: Link, proves: Proves) -> Edge | None:
    """The grade of a link: one that names a proof counts as proven where that holds, as assumed where it is unknown."""
    edge = graded(cause, effect, link)
    if edge is None or link.proof is None:
        return edge
    holds = proves(link, cause, effect)
    if holds is None:
        return Edge.ASSUMED
    return Edge.PROVEN if holds else None


def graded(cause: Finding, effect: Finding, link: Link) -> Edge | None:
    """The grade of a declared link between two findings, or None where keys or order contradict it."""
    match = compare(whom(cause), effect.entity, same_namespace=in_one_namespace(cause, effect))
    gap = seconds_apart(cause.when, effect.when)
    if match is Match.OTHER and other_names(cause, effect, gap):
        return Edge.ASSUMED
    if match is Match.OTHER or any(lacks(cause, effect, key) for key in link.same):
        return None
    if too_early(effect, cause) and not (share_record(cause, effect) and together(cause, effect)):
        return None
    if gap is None and match is not Match.SAME and seems_too_early(effect, cause):
        return None
    if gap is not None and link.within_s and gap > link.within_s:
        return None
    if share_record(cause, effect):
        return Edge.PROVEN
    if match is Match.SAME:
        return Edge.PROVEN if gap is not None else Edge.COMPATIBLE
    if gap is None or gap > FAR_S or beside_an_exception(cause, effect):
        return Edge.ASSUMED
    return Edge.COMPATIBLE


def whom(cause: Finding) -> dict[str, str]:
    """The keys of a cause that its effects must share.

    The driver names the process that met a fault of the device first; the fault is everybody's who uses the device.
    """
    wide = cause.role is Role.ROOT and cause.class_id in OF_THE_DEVICE
    return {k: v for k, v in cause.entity.items() if not (wide and k in ("pid", "comm"))}


def other_names(cause: Finding, effect: Finding, gap: float | None) -> bool:
    """Whether a kernel's kill may be the death that another log tells under a container's pid and another name.

    A thread can rename itself, and a shell names the command: at the same moment the two may be one.
    """
    kill = cause.class_id.startswith("memory.oom-kill") and effect.class_id == "process.killed"
    two_counts = cause.entity.get("pid") != effect.entity.get("pid") and not in_one_namespace(cause, effect)
    return kill and two_counts and gap is not None and abs(gap) <= SAME_MOMENT_S


def too_early(effect: Finding, cause: Finding) -> bool:
    """Whether an effect clearly came before its cause: beyond the clocks' slack, or well above it in one log."""
    gap = seconds_apart(effect.when, cause.when)
    if gap is not None:
        late = NOTICED_LATE_S if cause.class_id in OF_THE_DEVICE else 0.0
        return gap > slack(effect.when, cause.when) + late
    mine, theirs = effect.evidence[0], cause.evidence[0]
    return mine.source == theirs.source and mine.line < theirs.line - RECORD_LINES


def together(cause: Finding, effect: Finding) -> bool:
    """Whether two that quote one line began together, too: a long wait ends in an error, the error did not cause it."""
    gap = seconds_apart(effect.when, cause.when)
    return gap is None or gap <= SAME_MOMENT_S


def seems_too_early(effect: Finding, cause: Finding) -> bool:
    """Whether an effect reads as earlier than its cause, in stamps of which one has no zone, and no zone mends that.

    Zones differ by whole half hours (but for a few by quarters, which is not enough to believe in a cause).
    """
    a, b = effect.when, cause.when
    if a is None or b is None or year_known(a) != year_known(b) or max(a.plus_minus_s, b.plus_minus_s) > VAGUE_S:
        return False
    early = (b.utc - a.utc).total_seconds() - slack(a, b) - NOTICED_LATE_S
    return early > 0 and early % ZONE_STEP_S < ZONE_STEP_S - 2 * (slack(a, b) + NOTICED_LATE_S)


def beside_an_exception(cause: Finding, effect: Finding) -> bool:
    """Whether one log tells both an uncaught error and, elsewhere, a fault that the error does not quote."""
    return effect.class_id.startswith("runtime.") and in_one_namespace(cause, effect)


def lacks(cause: Finding, effect: Finding, key: str) -> bool:
    """Whether a key that the link demands is known on both sides and differs."""
    a, b = cause.entity.get(key), effect.entity.get(key)
    return a is not None and b is not None and compare({key: a}, {key: b}) is Match.OTHER


def in_one_namespace(a: Finding, b: Finding) -> bool:
    """Whether both count pids the same way: told by one source, or neither by the kernel."""
    return a.evidence[0].source == b.evidence[0].source


def share_record(a: Finding, b: Finding) -> bool:
    """Whether the two rest on a line that both quote."""
    lines = {(e.source, e.line) for e in a.evidence if e.line}
    return any((e.source, e.line) in lines for e in b.evidence)


def same_record(cause: Finding, effect: Finding) -> Edge | None:
    """A program's own uncaught error is explained by the class that its text names."""
    wraps = effect.class_id.startswith(WRAPPERS) and effect.role in (Role.MECHANISM, Role.SYMPTOM)
    told_at_length = cause.class_id.startswith("network.") and not together(effect, cause)
    if wraps and (cause.role is Role.ROOT or told_at_length) and share_record(cause, effect):
        return Edge.PROVEN
    return None
