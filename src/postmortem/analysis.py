"""The whole line from a path to a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, BinaryIO

from postmortem import __version__
from postmortem.bundle import Bundle, open_bundle
from postmortem.clock import make_clocks
from postmortem.detect import detect
from postmortem.detect import needles as detector_needles
from postmortem.diagnose import diagnose
from postmortem.model import Probe
from postmortem.parse import margins, needles, parse
from postmortem.redact import Redactor
from postmortem.report import Report
from postmortem.report.build import build, redacted
from postmortem.scan import build as build_scanner
from postmortem.scan import user_cache
from postmortem.scene import Reading, Scene
from postmortem.signatures import Catalogue, confirm, load, match
from postmortem.sources import Source, read_sources


def analyze(
    path: str | Path,
    *,
    now: datetime | None = None,
    tz: tzinfo | None = None,
    signatures: Sequence[Path] = (),
    stdin: BinaryIO | None = None,
) -> Report:
    """The report on a bundle, capture, archive, folder or log file; `-` reads `stdin`.

    Raises BundleError when the input cannot be read at all and SignatureError when a signature file is wrong.
    """
    catalogue = load(signatures)
    scanner = build_scanner((*catalogue.patterns, *needles(), *detector_needles()), cache=user_cache())
    with open_bundle(path, stdin) as bundle:
        sources = read_sources(bundle, scanner, margins())
    scene = read_scene(bundle, sources, now, tz)
    findings = match(catalogue, scene, confirm(catalogue, scene.readings))
    diagnosis = diagnose(findings, scene, {s.id: s.explains for s in catalogue.signatures})
    report = build(diagnosis, scene, tool(catalogue), about(bundle), known(bundle))
    shown: Report = redacted(report, Redactor().text)
    return shown


def read_scene(bundle: Bundle, sources: Sequence[Source], now: datetime | None, tz: tzinfo | None) -> Scene:
    """Sources -> readings on one time line, with everything that parsers and detectors say of them."""
    ended = bundle.manifest.ended if bundle.manifest else None
    clocks, moment = make_clocks(sources, now or ended, tz)
    readings = tuple(Reading(s, clocks[s.path]) for s in sources)
    scene = Scene(readings, probes=probes(bundle), damage=tuple(bundle.damage), now=moment)
    scene = scene.plus(parse(readings))
    return scene.plus(detect(scene))


def probes(bundle: Bundle) -> tuple[Probe, ...]:
    return bundle.manifest.probes if bundle.manifest else ()


def tool(catalogue: Catalogue) -> dict[str, str]:
    return {"name": "postmortem", "version": __version__, "catalogue": catalogue.digest}


def about(bundle: Bundle) -> dict[str, Any]:
    return {"path": bundle.name, "kind": bundle.kind, "complete": bundle.complete, "redacted": bundle.redacted}


def known(bundle: Bundle) -> Mapping[str, Any]:
    """What the manifest says of the machine."""
    return {"host": bundle.manifest.host} if bundle.manifest else {}
