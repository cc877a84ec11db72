"""A healthy run of the same kind: what it has too is not news."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from postmortem.model import Evidence, Finding, Instant, Role, Verdict
from postmortem.news.news import LOGS, News, first
from postmortem.news.templates import Shape, Templates, is_trouble, log_lines, templates_of, without_names
from postmortem.scene import Scene

ENDING = 3  # templates at the end of the healthy run that tell how far it got
NAME = "baseline/"  # in front of the healthy run's files


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a healthy run logged."""

    templates: Templates
    ending: tuple[tuple[str, Evidence], ...]  # the last templates of its longest log, first to last


def baseline_of(scene: Scene) -> Baseline:
    """What there is to know of a healthy run."""
    return Baseline(templates_of(scene), tuple(ending(scene)))


def ending(scene: Scene) -> list[tuple[str, Evidence]]:
    """The last templates of the log that most speaks of the run: a program's before the system's, then the longest."""
    logs = sorted(scene.of_kind(*LOGS), key=lambda r: (LOGS.index(r.source.kind), -r.source.text.count))
    if not logs:
        return []
    known = Templates()
    last: dict[str, Evidence] = {}
    for line in logs[0].lines():
        if line.message.strip():
            template = known.add(line, logs[0].path)
            last.pop(template, None)
            last[template] = logs[0].evidence(line.number)
    return list(last.items())[-ENDING:]


def news_against(scene: Scene, good: Baseline) -> tuple[News, ...]:
    """The lines of a run that the healthy one has nothing like, and where it did not get as far; most telling first."""
    return first([*new_lines(scene, good), *other_numbers(scene, good), *not_reached(scene, good)])


def new_lines(scene: Scene, good: Baseline) -> Iterator[News]:
    """The first line of each template that the healthy run does not have, in the order of time where it is known."""
    mine = Templates()
    found: list[tuple[Instant | None, int, News]] = []
    for reading, line in log_lines(scene):
        before = len(mine.shapes)
        template = mine.add(line, reading.path)
        if len(mine.shapes) == before or template in good.templates.shapes:
            continue
        grave = is_trouble(line)
        if grave or not good.templates.near(template):
            item = reading.evidence(line.number)
            found.append((item.when, len(found), News(item, "no line of the healthy run is like it", "new", grave)))
    yield from in_order(found)


def in_order(found: Sequence[tuple[Instant | None, int, News]]) -> Iterator[News]:
    """By time where all are dated, else as they were read."""
    dated = all(at is not None for at, _, _ in found)
    yield from (n for _, _, n in (sorted(found, key=lambda f: (f[0].utc if f[0] else 0, f[1])) if dated else found))


def other_numbers(scene: Scene, good: Baseline) -> Iterator[News]:
    """Lines whose number is 0 where the healthy run never has 0, or is not where it always has."""
    for template, shape in templates_of(scene).shapes.items():
        theirs = good.templates.shapes.get(template)
        said = differs(shape, theirs) if theirs else ""
        reading = scene.reading(shape.last[0])
        if said and reading is not None:
            yield News(reading.evidence(shape.last[1]), said, "number", True)


def differs(mine: Shape, theirs: Shape) -> str:
    """What is different in kind between the numbers of two occurrences of a template, as a sentence."""
    if len(mine.ranges) != len(theirs.ranges):
        return ""
    for (low, high), (good_low, good_high) in zip(mine.ranges, theirs.ranges, strict=True):
        if high == 0 and low == 0 and good_low > 0:
            return f"0 where the healthy run has {good_low:g}" + (f" to {good_high:g}" if good_high > good_low else "")
        if good_low == good_high == 0 and low > 0 and mine.count <= theirs.count:
            return f"{low:g} where the healthy run has 0"
    return ""


def not_reached(scene: Scene, good: Baseline) -> Iterator[News]:
    """How the healthy run ended, where this one has no such line."""
    mine = templates_of(scene)
    missing = [(t, e) for t, e in good.ending if t not in mine.shapes and not mine.near(t)]
    for _, item in missing[:1]:
        shown = replace(item, source=NAME + item.source)
        yield News(shown, "the healthy run gets as far as this line, this one does not", "missing")


def seen_before(findings: Sequence[Finding], scene: Scene, good: Baseline) -> tuple[Finding, ...]:
    """The findings, with those ruled out that rest only on lines which the healthy run has word for word."""
    return tuple(ruled_out(f) if is_old(f, scene, good) else f for f in findings)


def is_old(finding: Finding, scene: Scene, good: Baseline) -> bool:
    if finding.role is Role.OUTCOME or finding.verdict is Verdict.REFUTED:
        return False
    for item in finding.evidence:
        reading = scene.reading(item.source)
        line = reading.line(item.line) if reading and item.line and reading.source.kind in LOGS else None
        if line is None or without_names(line.message) not in good.templates.exact:
            return False
    return True


def ruled_out(finding: Finding) -> Finding:
    against = (("the healthy run has the same line", finding.evidence[0]),)
    return replace(finding, verdict=Verdict.REFUTED, against=against)
