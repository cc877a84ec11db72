"""Diagnosis and scene -> the JSON report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from postmortem.model import ChainLink, Damage, Diagnosis, Evidence, Finding, Gap, Probe
from postmortem.report import SCHEMA, Report
from postmortem.report.exhibits import exhibits
from postmortem.report.fingerprint import fingerprint
from postmortem.report.machine import machine
from postmortem.report.moment import when
from postmortem.report.safe import plain
from postmortem.report.timeline import timeline
from postmortem.scene import Reading, Scene
from postmortem.sources.hits import FIRST_HITS, LAST_HITS

MOST_EVIDENCE = 12
READ_OF_A_KIND = FIRST_HITS + LAST_HITS  # lines of one pattern in one source


def build(
    diagnosis: Diagnosis,
    scene: Scene,
    tool: Mapping[str, str],
    about: Mapping[str, Any],
    machine_extra: Mapping[str, Any],
) -> Report:
    """The report of schema postmortem/diagnosis/v1; `about` is its `input` without the sources."""
    sources = [source(reading) for reading in scene.readings]
    return {
        "schema": SCHEMA,
        "tool": dict(tool),
        "input": {**about, "sources": sources},
        "machine": machine(scene, machine_extra),
        "status": diagnosis.status,
        "outcome": outcome(diagnosis.outcome),
        "root_cause": root_cause(diagnosis),
        "chain": [link(k) for k in diagnosis.chain],
        "findings": [finding(f) for f in diagnosis.findings],
        "ruled_out": distinct([ruled_out(f) for f in diagnosis.ruled_out]),
        "gaps": [gap(g) for g in diagnosis.gaps],
        "would_decide": [plain(w) for w in diagnosis.would_decide],
        "timeline": timeline(diagnosis, scene),
        "exhibits": exhibits(diagnosis, scene),
        "probes": [probe(p) for p in scene.probes],
        "warnings": [warning(d) for d in scene.damage],
        "fingerprint": fingerprint(diagnosis),
    }


def source(reading: Reading) -> dict[str, Any]:
    """A source and its state; `sampled` where it has more lines of one kind than are read."""
    told = {"path": plain(reading.path), "kind": str(reading.source.kind), "state": str(reading.source.state)}
    most = max(map(len, reading.source.hits.values()), default=0)
    return {**told, "lines": reading.source.text.count, **({"sampled": True} if most >= READ_OF_A_KIND else {})}


def evidence(items: Sequence[Evidence]) -> list[dict[str, Any]]:
    return [
        {"source": plain(e.source), "line": e.line, "text": plain(e.text), "when": when(e.when)}
        for e in items[:MOST_EVIDENCE]
    ]


def facts(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: plain(v) if isinstance(v, str) else v for k, v in sorted(values.items()) if v not in ("", None)}


def outcome(end: Finding | None) -> dict[str, Any] | None:
    if end is None:
        return None
    what = plain(end.summary or end.title).strip()
    return {"what": what, "entity": facts(end.entity), "when": when(end.when), "evidence": evidence(end.evidence)}


def root_cause(diagnosis: Diagnosis) -> dict[str, Any] | None:
    root = diagnosis.root
    if root is None:
        return None
    return {
        "class": root.class_id,
        "title": root.title,
        "summary": plain(root.summary or root.title).strip(),
        "confidence": diagnosis.confidence,
        "because": plain(diagnosis.because),
        "when": when(root.when),
        "facts": facts({**root.entity, **root.facts}),
        "evidence": evidence(root.evidence),
        "advice": [plain(a) for a in root.advice],
        "references": list(root.references),
    }


def link(one: ChainLink) -> dict[str, Any]:
    found = one.finding
    return {
        "class": found.class_id,
        "title": found.title,
        "summary": plain(found.summary or found.title).strip(),
        "class_role": str(found.role),
        "place": str(one.place),
        "when": when(found.when),
        "because_of": one.because_of.class_id if one.because_of else None,
        "edge": str(one.edge) if one.edge else None,
        "note": plain(one.note),
        "facts": facts({**found.entity, **found.facts}),
        "evidence": evidence(found.evidence),
    }


def finding(found: Finding) -> dict[str, Any]:
    return {
        "class": found.class_id,
        "title": found.title,
        "summary": plain(found.summary or found.title).strip(),
        "class_role": str(found.role),
        "confidence": str(found.verdict),
        "when": when(found.when),
        "facts": facts({**found.entity, **found.facts}),
        "evidence": evidence(found.evidence),
    }


def ruled_out(found: Finding) -> dict[str, Any]:
    reasons = "; ".join(dict.fromkeys(plain(sentence) for sentence, _ in found.against))
    return {
        "class": found.class_id,
        "title": found.title,
        "reason": reasons,
        "evidence": evidence(list({(e.source, e.line): e for _, e in found.against}.values())),
    }


def distinct(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each once: one fact speaks against a class however many processes or GPUs it was looked for in."""
    return [one for at, one in enumerate(items) if one not in items[:at]]


def gap(one: Gap) -> dict[str, Any]:
    return {
        "source": plain(one.source),
        "state": str(one.state),
        "reason": plain(one.reason),
        "leaves_open": list(one.leaves_open),
        "ask": one.ask,
    }


def probe(one: Probe) -> dict[str, Any]:
    return {
        "name": plain(one.name),
        "state": str(one.state),
        "seconds": round(one.seconds, 3),
        "bytes": one.bytes,
        "why": plain(one.why),
        "reason": plain(one.reason),
        "member": plain(one.member),
    }


def warning(damage: Damage) -> str:
    return plain(f"{damage.path}: {damage.state}: {damage.reason}")


def redacted(value: Any, hide: Callable[[str], str]) -> Any:
    """The JSON value with every string passed through the redactor; lists, which may be long, change in place."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        return {k: redacted(v, hide) for k, v in value.items()}
    if isinstance(value, list):
        for index, each in enumerate(value):
            value[index] = redacted(each, hide)
    return value
