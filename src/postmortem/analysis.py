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
from postmortem.diagnose import diagnose
from postmortem.engine import Engine, engine
from postmortem.model import Diagnosis, Probe, Role
from postmortem.news import Baseline, News, as_json, baseline_of, first_look, judged, news_against, seen_before
from postmortem.parse import margins, parse
from postmortem.redact import Redactor
from postmortem.report import Report
from postmortem.report.build import build, redacted
from postmortem.scene import Reading, Scene
from postmortem.signatures import Catalogue, confirm, match, proves
from postmortem.sources import Source, read_sources
from postmortem.watch import Watch


def analyze(
    path: str | Path | Bundle,
    *,
    now: datetime | None = None,
    tz: tzinfo | None = None,
    signatures: Sequence[Path] = (),
    stdin: BinaryIO | None = None,
    baseline: str | Path | None = None,
    watch: Watch | None = None,
) -> Report:
    """The report on a bundle (open or by its path), capture, archive, folder or log file; `-` reads `stdin`.

    What the run in `baseline`, a healthy one of the same kind, has too is not news.

    Raises BundleError when the input cannot be read at all and SignatureError when a signature file is wrong.
    """
    with path if isinstance(path, Bundle) else open_bundle(path, stdin) as bundle:  # unpacked while the rest is read
        made = engine(signatures, watch)
        return examine(made, bundle, now=now, tz=tz, baseline=baseline, watch=watch)[0]


def examine(
    engine: Engine,
    path: str | Path | Bundle,
    *,
    now: datetime | None = None,
    tz: tzinfo | None = None,
    stdin: BinaryIO | None = None,
    baseline: str | Path | None = None,
    watch: Watch | None = None,
) -> tuple[Report, Scene]:
    """The report, and the scene that it was made of. Raises BundleError when the input cannot be read at all."""
    catalogue, watch = engine.catalogue, watch or Watch()
    opened = path if isinstance(path, Bundle) else open_bundle(path, stdin)
    with watch.stage("read and scan"), opened as bundle:
        sources = read_sources(bundle, engine.scanner, margins(), watch.scanned)
    scene = read_scene(bundle, sources, now, tz, watch)
    with watch.stage("signatures"):
        hits = confirm(catalogue, scene.readings)
        findings = match(catalogue, scene, hits)
    watch.signatures.update(hits.seconds)
    with watch.stage("diagnosis"):
        good = healthy_run(engine, baseline) if baseline is not None else None
        if good is not None:
            findings = seen_before(findings, scene, good)
        links = {s.id: s.explains for s in catalogue.signatures}
        diagnosis = diagnose(findings, scene, links, lambda k, cause, effect: proves(k, cause, effect, scene, hits))
        diagnosis, news = with_news(diagnosis, scene, good)
    with watch.stage("report"):
        report = {**build(diagnosis, scene, tool(catalogue), about(bundle), known(bundle)), "news": as_json(news)}
        shown: Report = redacted(report, Redactor().text)
    return shown, scene


def healthy_run(engine: Engine, path: str | Path) -> Baseline:
    """What a healthy run logged. Raises BundleError when it cannot be read at all."""
    with open_bundle(path) as bundle:
        sources = read_sources(bundle, engine.scanner, margins())
        clocks, moment = make_clocks(sources)
        readings = tuple(Reading(s, clocks[s.path]) for s in sources)
        return baseline_of(Scene(readings, now=moment))


def with_news(diagnosis: Diagnosis, scene: Scene, good: Baseline | None) -> tuple[Diagnosis, tuple[News, ...]]:
    """The diagnosis with an outcome where lines tell one that no signature knows, and the lines to read first."""
    if good is not None:
        news = news_against(scene, good)
        return judged(diagnosis, scene, news), news
    diagnosis = judged(diagnosis, scene, None)
    root = diagnosis.root  # a symptom is no cause
    unnamed = root is None or root.role is Role.SYMPTOM or diagnosis.confidence == "low"
    unexplained = diagnosis.status != "healthy" and unnamed
    return diagnosis, first_look(scene, diagnosis) if unexplained else ()


def read_scene(
    bundle: Bundle, sources: Sequence[Source], now: datetime | None, tz: tzinfo | None, watch: Watch | None = None
) -> Scene:
    """Sources -> readings on one time line, with everything that parsers and detectors say of them."""
    watch = watch or Watch()
    ended = bundle.manifest.ended if bundle.manifest else None
    with watch.stage("time line"):
        clocks, moment = make_clocks(sources, now or ended, tz)
    readings = tuple(Reading(s, clocks[s.path]) for s in sources)
    scene = Scene(readings, probes=probes(bundle), damage=tuple(bundle.damage), now=moment)
    with watch.stage("parsers"):
        scene = scene.plus(parse(readings))
    with watch.stage("detectors"):
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
