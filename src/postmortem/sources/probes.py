"""What the manifest says of each probe -> the states of the sources, and sources for what gave nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from postmortem.model import READABLE, Kind, Probe, State
from postmortem.sources.names import kind_of_name
from postmortem.sources.source import Source
from postmortem.text import Text

_KINDS = {
    "kernel.log": Kind.KERNEL, "proc": Kind.PROC, "cgroup": Kind.CGROUP, "host": Kind.HOST, "gpu.smi": Kind.SMI,
    "disk": Kind.DISK, "scripts": Kind.SCRIPT, "logs": Kind.LOG, "container": Kind.CONTAINER,
}  # fmt: skip
_MANY = ("logs", "scripts")  # probes that ask for many files of which most machines have few


def with_probes(sources: Sequence[Source], probes: Sequence[Probe]) -> tuple[Source, ...]:
    """The sources with the states that the collector saw, and one for each probe that was answered with nothing."""
    told = {probe.member: probe for probe in probes if probe.member}
    known = [_judged(source, told.get(source.path)) for source in sources]
    paths = {source.path for source in known}
    answered = {probe.name for probe in probes if probe.state in READABLE}
    for probe in probes:
        path = probe.member or probe.name
        if path not in paths and _worth_a_source(probe, answered):
            paths.add(path)
            known.append(Source(path, _kind(probe), probe.state, Text(), reason=probe.reason))
    return tuple(known)


def _judged(source: Source, probe: Probe | None) -> Source:
    """A source with bytes stays readable, however its probe ended; one without takes the probe's state."""
    if probe is None or probe.state is State.WHOLE or source.state not in (*READABLE, State.EMPTY):
        return source
    if not source.text.count:
        return replace(source, state=probe.state, reason=probe.reason)
    if probe.state is State.CUT or probe.state is State.EMPTY:
        return replace(source, state=State.CUT, reason=probe.reason)
    return replace(source, state=State.CUT, reason=f"{probe.state}: {probe.reason}" if probe.reason else probe.state)


def _worth_a_source(probe: Probe, answered: set[str]) -> bool:
    if probe.state in READABLE or probe.state is State.EMPTY:
        return False
    many = probe.name.startswith(_MANY)
    if probe.state is State.MISSING:
        return not many and probe.name not in answered
    return many or probe.name not in answered


def _kind(probe: Probe) -> Kind:
    if probe.member and (named := kind_of_name(probe.member)) is not Kind.LOG:
        return named
    matching = [name for name in _KINDS if probe.name.startswith(name)]
    return _KINDS[max(matching, key=len)] if matching else kind_of_name(probe.name.replace(".", "/"))
