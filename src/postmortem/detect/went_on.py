"""A script that went on after a command of it had failed: what it said or traced next stands below the error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from postmortem.detect.looking import base, kept
from postmortem.lazy import lazy
from postmortem.model import Event, Evidence, Fact, Kind
from postmortem.scene import Reading, Scene

SHORTEST = 8  # characters of words that are known again
REFUSED = ("not-found", "no-such-file", "permission")
GUARDS = ("local-assign", "declare-assign", "readonly-assign", "export-assign", "typeset-assign", "pipe-no-pipefail")
_HANDLED = lazy(r"^\s*(?:if|elif|while|until|!)\b|\|\||&&|\bexit\b|\bset \+e\b")
_TROUBLE = lazy(
    r"(?i)\b(?:cannot|can't|could not|couldn't|no such|denied|refused|fail(?:ed|ure)?|invalid|unknown|unrecognized"
    r"|not found|error|missing|unable|timed out|unterminated)\b"
)
_VARIABLE = lazy(r"\$\{?\w+\}?|\$\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Script:
    """A script with what it was set to do on a failure."""

    reading: Reading
    lines: tuple[tuple[int, str], ...]
    errexit: bool
    pipefail: bool


def find(scene: Scene) -> Iterator[Event | Fact]:
    """`script.mask` events with `reached: yes`: the error, and what the script did after it."""
    scripts = [script_of(reading, scene) for reading in scene.of_kind(Kind.SCRIPT)]
    for script in scripts:
        yield from _refused(script, scene)
        for log in scene.of_kind(Kind.LOG):
            yield from _in_a_trace(script, log)
            yield from _guarded(script, log, scene)
        yield from _not_waited_for(script, scene)


def script_of(reading: Reading, scene: Scene) -> Script:
    own = [f for f in scene.facts if f.evidence.source == reading.path]
    on = {f.name for f in own if f.value is True}
    lines = tuple(reading.source.text.kept())
    return Script(reading, lines, "script.errexit" in on, "script.pipefail" in on)


def _refused(script: Script, scene: Scene) -> Iterator[Event]:
    """A shell's `dump.sh: line 5: pg_dump: not found`, and below it what the script prints in a later line."""
    for error in scene.named("shell.error"):
        at = error.fields.get("line", "")
        if error.fields.get("what") not in REFUSED or base(error.fields.get("script", "")) != base(script.reading.path):
            continue
        log, source = scene.reading(error.source), script.reading.raw(int(at)) if at.isdigit() else None
        if log is None or source is None or _HANDLED.search(source) or (script.errexit and "|" not in source):
            continue
        if script.errexit and script.pipefail:
            continue
        later = below(script, int(at), log, error.line)
        if later is not None:
            yield _event(script, int(at), error.fields.get("token", ""), "|" in source, (error.evidence[0], later))


def _in_a_trace(script: Script, log: Reading) -> Iterator[Event]:
    """`+ sed -e s/a/b/c x`, `sed: unknown option to 's'`, and below it the trace of the script's next lines."""
    if script.errexit:
        return
    traced = [line for line in kept(log) if line.raw.startswith("+")]
    if not traced:
        return
    for number, raw in script.lines:
        word = raw.split(maxsplit=1)[0] if raw[:1].isalpha() else ""
        if len(word) < 2 or _HANDLED.search(raw) or not re.fullmatch(r"[\w./-]+", word):
            continue
        runs = [line.number for line in traced if re.match(rf"\++ {re.escape(word)}(?: |$)", line.raw)]
        for at in runs[:1] if len(runs) == 1 else ():
            error = log.raw(at + 1) or ""
            later = below(script, number, log, at + 1, traced=True)
            if re.match(rf"(?:\S*/)?{re.escape(base(word))}: ", error) and _TROUBLE.search(error) and later:
                yield _event(script, number, word, False, (log.evidence(at + 1), later))


def _guarded(script: Script, log: Reading, scene: Scene) -> Iterator[Event]:
    """`local v=$(curl ...)` under `set -e`: curl's own error in a log, and below it the script's next words."""
    for mask in scene.named("script.mask"):
        command = mask.fields.get("command", "")
        if mask.source != script.reading.path or not command or mask.fields.get("construct") not in GUARDS:
            continue
        own = re.compile(rf"(?:^|[\s|]){re.escape(base(command))}: ")
        error = next((x for x in kept(log) if own.search(x.message) and _TROUBLE.search(x.message)), None)
        later = below(script, mask.line, log, error.number) if error is not None else None
        if error is not None and later is not None:
            fields = {**mask.fields, "reached": "yes"}
            more = (log.evidence(error.number), later)
            yield Event("script.mask", mask.source, mask.line, mask.text, mask.when, fields, more)


def _not_waited_for(script: Script, scene: Scene) -> Iterator[Event]:
    """A bare `wait`, a log that a background command wrote and that ends in a panic, and the script's next words."""
    plain = _VARIABLE.sub("", "\n".join(raw for _, raw in script.lines))
    for mask in scene.named("script.mask"):
        if mask.source != script.reading.path or mask.fields.get("construct") != "background-wait":
            continue
        died = next(
            (e for e in (*scene.named("panic"), *scene.named("traceback")) if _written_by(e.source, plain)), None
        )
        said = (below(script, mask.line, log, 0) for log in scene.of_kind(Kind.LOG)) if died is not None else ()
        later = next((e for e in said if e is not None), None)
        if died is not None and later is not None and later.source != died.source:
            fields = {**mask.fields, "reached": "yes"}
            yield Event("script.mask", mask.source, mask.line, mask.text, mask.when, fields, (died.evidence[0], later))


def _written_by(path: str, plain: str) -> bool:
    """Whether a script without its variables, such as `> /var/log/shard-.log`, names this log but for numbers."""
    name = re.sub(r"\d+", "", base(path))
    return len(name) > len(".log") and f"/{name}" in plain


def below(script: Script, number: int, log: Reading, at: int, traced: bool = False) -> Evidence | None:
    """The first line of a log below a line that the script printed, or traced, in a line of its own below `number`."""
    wanted = [words for n, raw in script.lines if n > number for words in ([raw.strip()] if traced else printed(raw))]
    wanted = [words for words in wanted if len(words) >= SHORTEST]
    for line in kept(log) if wanted else ():
        text = line.raw.lstrip("+ ") if traced else line.message
        if line.number > at and any(text == words if traced else words in text for words in wanted):
            return log.evidence(line.number)
    return None


def printed(raw: str) -> list[str]:
    """The fixed parts of what a line prints: `dump: wrote` of `echo "dump: wrote $n bytes"`."""
    if not re.match(r"\s*(?:echo|printf|log|info|say)\b", raw):
        return []
    texts = re.findall(r"\"([^\"]*)\"|'([^']*)'", raw)
    parts = [part.strip() for pair in texts for part in re.split(r"\$\([^)]*\)|[$`\\%]\S*", "".join(pair))]
    return [part for part in parts if len(part.split()) >= 2]


def _event(script: Script, number: int, command: str, pipe: bool, more: tuple[Evidence, ...]) -> Event:
    construct = "pipe-no-pipefail" if pipe else "a script without set -e"
    fields = {"script": base(script.reading.path), "line": str(number), "construct": construct, "reached": "yes"}
    fields |= {"command": command} if command else {}
    fields |= {"seen": "0"} if pipe else {"seen": "nothing"}
    raw = script.reading.raw(number) or ""
    return Event("script.mask", script.reading.path, number, raw, None, fields, more)


DETECTOR = find
