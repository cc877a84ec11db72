"""Scripts that `set -e` ended on a status that means no failure: told by a trace, or by their last words."""

from __future__ import annotations

from collections.abc import Iterator

from postmortem.detect.looking import SMALL, base, kept
from postmortem.detect.uniform import lines_at
from postmortem.lazy import lazy
from postmortem.lines import Line
from postmortem.model import Event, Evidence, Fact, Kind
from postmortem.scene import Reading, Scene

_TRACE = lazy(r"^(?P<depth>\++) (?P<command>\S.*)$")
_SWITCH = lazy(r"^\++ set (?:-[a-df-z]*e|-o errexit)|\bbash -[a-z]*(?:ex|xe)\b|\bsh -xe\b|\[Pipeline\] sh$")
_STATUS_1 = lazy(
    r"^(?:\(\( ?(?:\w+(?:\+\+|--)|\w+ ?[-+*/%]?= ?[^=].*|\w+) ?\)\)|let [\"']?\w+\s*(?:\+\+|--|[-+*/%]?=).*"
    r"|(?:\w+ )?\[\[? .* \]?\]|test .*|(?:e|f|z)?grep .*|expr .*|diff .*|cmp .*|read\b.*|pgrep .*|pidof .*|which .*"
    r"|command -v .*)$"
)
_ASSIGN = lazy(r"^(?:local |declare )?\w+=\S*$")
_ENDED = lazy(r"(?i)\b(?:exit(?:ed)?|status|code|rc)\b[^\n]{0,30}\b1\b|\bfail(?:ed|ure)\b")
_TROUBLE = lazy(r"(?i)\b(?:error|cannot|can't|not found|denied|no such|unable|fatal|refused|timed out)\b")
_SAYS = lazy(r"^\s*(?:echo|printf|log|info|say|msg|warn|notice|print|logger)\b[^\"']*[\"'](?P<text>[^\"'$`\\]{5,})")
LAST = 40  # lines before the end in which a script's last words are looked for
AFTER = 4  # lines that a wrapper says after the script's last
COUNTS = frozenset({"status-of-count", "grep-count"})


def find(scene: Scene) -> Iterator[Event | Fact]:
    """`script.errexit` events: a trace that ends at `++ grep -c …` with status 1, a script silent after its counter."""
    ends = [e for e in scene.named("exit") if e.fields.get("status") == "1"]
    for reading in scene.of_kind(Kind.LOG, Kind.JOURNAL, Kind.CONTAINER):
        lines = kept(reading) if reading.source.text.may_hold("+ ") else []
        if lines and (event := _traced(scene, reading, lines)):
            yield event
    if not ends:
        return
    hazards = [e for e in scene.named("script.hazard") if e.fields.get("construct") in COUNTS]
    for reading in scene.of_kind(Kind.LOG, Kind.JOURNAL) if hazards else ():
        count = reading.source.text.count
        at = next((e.line for e in ends if e.source == reading.path), count + 1)
        numbers = [number for number, _ in reading.source.text.kept() if number < at] if count <= SMALL else []
        for hazard in hazards:
            if said := _last_words(scene, hazard, lines_at(reading, numbers[-LAST:])):
                yield _event(hazard, (reading.evidence(said.number),))


def _event(hazard: Event, more: tuple[Evidence, ...]) -> Event:
    fields = {k: v for k, v in hazard.fields.items() if k in ("script", "line", "command", "construct")}
    proof = (*hazard.evidence, *more)
    return Event("script.errexit", hazard.source, hazard.line, hazard.text, hazard.when, fields, proof)


def _traced(scene: Scene, reading: Reading, lines: list[Line]) -> Event | None:
    """The last command of an `-x` trace, where it is one whose status 1 means no failure and nothing else was said."""
    traced = [i for i, line in enumerate(lines) if _TRACE.match(line.message)]
    if len(traced) < 2 or not _errexit(scene, lines):
        return None
    last = traced[-1]
    after = [line.message for line in lines[last + 1 :] if line.message.strip()]
    if len(after) > AFTER or any(_TROUBLE.search(text) and not _ENDED.search(text) for text in after):
        return None
    ended = any(_ENDED.search(text) for text in after) or any(
        e.fields.get("status") == "1" for e in scene.named("exit")
    )
    culprit = _culprit(lines, traced) if ended else None
    if culprit is None:
        return None
    command = lines[culprit].message.lstrip("+ ")
    return reading.event("script.errexit", lines[culprit].number, {"command": command[:120], "construct": "trace"})


def _errexit(scene: Scene, lines: list[Line]) -> bool:
    if any(fact.value for fact in scene.facts_of("script.errexit")):
        return True
    return any(_SWITCH.search(line.message) for line in lines)


def _culprit(lines: list[Line], traced: list[int]) -> int | None:
    """The line of the command whose status ended the script: the last, or the substitution that an assignment took."""
    depth, last = _peeled(lines[traced[-1]])
    at = traced[-1]
    if _ASSIGN.match(last):
        at = traced[-2]
        deeper, last = _peeled(lines[at])
        if deeper <= depth:
            return None
    return at if _STATUS_1.match(last) else None


def _peeled(line: Line) -> tuple[int, str]:
    """How deep a traced command stands, and the command: `++ grep -c x f` -> 2, `grep -c x f`."""
    found = _TRACE.match(line.message)
    return (len(found["depth"]), found["command"]) if found else (0, "")


def _last_words(scene: Scene, hazard: Event, lines: list[Line]) -> Line | None:
    """The last line that the script said, where it is what stands right above the hazard in its text."""
    script = scene.reading(hazard.source)
    errexit = scene.facts_of("script.errexit", script=base(hazard.source))
    if script is None or not errexit or not errexit[0].value:
        return None
    says = [(n, m["text"].strip()) for n, raw in script.source.text.kept() if (m := _SAYS.match(raw))]
    above = [text for n, text in says if n < hazard.line]
    for line in reversed(lines):
        told = [n for n, text in says if text in line.message]
        if told:
            near = said_before(hazard.line, told[-1], [n for n, _ in says])
            return line if above and near else None
    return None


def said_before(hazard: int, told: int, says: list[int]) -> bool:
    """Whether no other words stand in the script between those that were told and the hazard."""
    return told < hazard and not any(told < n < hazard for n in says)


DETECTOR = find
