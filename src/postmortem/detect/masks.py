"""Masked statuses that the logs show at work: success claimed for what failed, a dead child in a masked line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from postmortem.detect.looking import base, matching
from postmortem.lazy import lazy
from postmortem.model import Event, Evidence, Fact, Kind
from postmortem.scene import Reading, Scene

ZERO = (
    r"(?i)\b(?:fail(?:ed|ure)?|crash(?:ed)?|died|killed|aborted|error)\b.{0,60}?\b(?:exit|rc|status|code)"
    r"(?:[ =:]| ?[=:] )0\b"
)
STEP = r"##\[group\]Run .*\| *(?:tee|cat|tail|head|ts)\b"
NEEDLES = (ZERO, STEP)
_HEALTHY = lazy(
    r"(?i)\b(?:0|no|zero) (?:fail|error)|fail(?:ed|ures?)?[ =:]+0\b|errors?[ =:]+0\b|not fail|never fail|without error"
)
_GROUP = "##[group]Run "
_SHELL = lazy(r"^shell: .*\b(?:bash|sh) (?P<options>.*)\{0\}")
_FAILURE = lazy(
    r"test result: FAILED|\bFAILED\b|^error(?:\[\w+\])?: |panicked at|npm ERR!|make(?:\[\d+\])?: \*\*\*|"
    r"^Traceback|\bexit status [1-9]"
)


def find(scene: Scene) -> Iterator[Event | Fact]:
    """`script.mask` events with `reached: yes`, and the lines that show it."""
    masks = scene.named("script.mask")
    for reading in scene.of_kind(Kind.LOG):
        for line in matching(reading, ZERO):
            if not _HEALTHY.search(line.message):
                yield from _claimed(reading, line.number, line.message, masks)
        for line in matching(reading, STEP):
            yield from _step(reading, line.number)
    for mask in masks:
        shown = [*_died_there(scene, mask), *_spoken(scene, mask)]
        if shown:
            yield Event(
                "script.mask",
                mask.source,
                mask.line,
                mask.text,
                mask.when,
                {**mask.fields, "reached": "yes"},
                tuple(shown[:6]),
            )


def _claimed(reading: Reading, number: int, message: str, masks: tuple[Event, ...]) -> Iterator[Event]:
    """A script that says `batch failed (exit 0)`: the status was asked for where it was already lost."""
    fields = {"construct": "zero-status-of-failure", "seen": "0", "used": "status", "reached": "yes"}
    one = next((mask for mask in masks if mask.fields.get("seen") == "0" and mask.fields.get("used") == "status"), None)
    if one is not None:
        fields |= {key: one.fields[key] for key in ("script", "line") if key in one.fields}
    yield reading.event("script.mask", number, fields)


def _step(reading: Reading, number: int) -> Iterator[Event]:
    """A step of GitHub Actions: `bash -e {0}` has no pipefail; what failed in the pipe did not end the job."""
    failed: int | None = None
    shell = None
    for at in range(number + 1, min(number + 5000, reading.source.text.count) + 1):
        line = reading.line(at)
        if line is None:
            continue
        if line.message.startswith("##[error]"):
            return
        if line.message.startswith(_GROUP):
            break
        shell = shell or _SHELL.match(line.message)
        if failed is None and _FAILURE.search(line.message):
            failed = at
    else:
        return
    if failed is None or shell is None or "pipefail" in shell["options"]:
        return
    first = reading.line(number)
    command = first.message.removeprefix(_GROUP) if first is not None else ""
    fields = {
        "construct": "pipe-no-pipefail",
        "seen": "0",
        "used": "status",
        "reached": "yes",
        "command": command[:160],
    }
    yield reading.event("script.mask", number, fields, (failed, at))


def _died_there(scene: Scene, mask: Event) -> Iterator[Evidence]:
    """A child that a shell says died in the masked line, or a command that was not found there."""
    script, number = mask.fields.get("script", ""), mask.line
    for event in (*scene.named("exit"), *scene.named("shell.error")):
        told, line = event.fields.get("script", ""), event.fields.get("line", "")
        if not told or base(told) != base(script) or not line.isdigit() or int(line) != number:
            continue
        if event.kind == "exit" or event.fields.get("what") in ("not-found", "no-such-file", "permission"):
            yield event.evidence[0]


def _spoken(scene: Scene, mask: Event) -> Iterator[Evidence]:
    """The words that only the masked branch says, in a log: the branch was entered with the status lost."""
    reading = scene.reading(mask.source)
    if reading is None or mask.fields.get("construct", "") not in (
        "if-not",
        "if-not-pipe",
        "while-not",
        "while-not-pipe",
    ):
        return
    words = [text for number in range(mask.line + 1, mask.line + 5) for text in literals(reading.raw(number) or "")]
    for log in scene.of_kind(Kind.LOG) if words else ():
        for line in matching(log, "|".join(re.escape(text) for text in words)):
            yield log.evidence(line.number)


def literals(source: str) -> list[str]:
    """The fixed beginnings of quoted texts in a line of source, such as `warn "batch failed (exit $rc)"`."""
    found = [re.split(r"[$`\\]", text)[0].rstrip(" (") for text in re.findall(r'"([^"]*)"', source)]
    return [text for text in found if len(text) >= 12 and len(text.split()) >= 2]


DETECTOR = find
