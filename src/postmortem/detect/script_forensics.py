"""Whether the script as collected is what the shell was reading when it complained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from postmortem.detect.looking import base
from postmortem.detect.script_run import changed
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Reading, Scene

_ABOUT_TEXT = frozenset(
    {"syntax", "not-found", "unbound", "substitution", "bad-option", "permission", "no-such-file", "redirect"}
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """A shell's complaint beside the collected text of the script that it names."""

    event: Event
    script: Reading
    line: int
    token: str
    said: str  # the source text that bash printed, if it did

    @property
    def what(self) -> str:
        return self.event.fields.get("what", "")


def find(scene: Scene) -> Iterator[Event | Fact]:
    """Facts script.line_has_token, same_as_run, command_is_line_fragment and changed_during_run, of each script."""
    scripts = {base(r.path): r for r in scene.of_kind(Kind.SCRIPT)}
    asked: set[tuple[str, ...]] = set()
    for event in scene.named("shell.error"):
        name, line = base(event.fields.get("script", "")), event.fields.get("line", "")
        key = (name, line, event.fields.get("what", ""), event.fields.get("token", ""))
        if not name or key in asked:
            continue
        asked.add(key)
        if name in scripts and line.isdigit():
            complaint = Complaint(
                event, scripts[name], int(line), event.fields.get("token", ""), event.fields.get("source_text", "")
            )
            yield from compared(complaint)
        if event.fields.get("what") in ("syntax", "eof", "quote", "not-found"):
            yield from changed(scene, event, name)


def compared(complaint: Complaint) -> Iterator[Fact]:
    """What the collected text says of the complaint."""
    entity = {"script": base(complaint.script.path)}
    at = complaint.script.evidence(complaint.line)
    here = _plain(complaint.script.raw(complaint.line) or "")
    token = _token(complaint)
    there = _has(here, token) if token and complaint.what in _ABOUT_TEXT else None
    if there is not None:
        yield Fact("script.line_has_token", there, "", at, entity)
    piece = fragment(complaint, here, there)
    if piece is not None:
        yield Fact("script.command_is_line_fragment", True, "", complaint.script.evidence(piece), entity)
    same = _same(complaint, here, there, piece)
    if same is not None:
        evidence = complaint.script.evidence(piece) if piece else at
        yield Fact("script.same_as_run", same, "", evidence, entity)


def _plain(text: str) -> str:
    return text.rstrip("\r").strip()


def _token(complaint: Complaint) -> str:
    token = complaint.token.strip("\"'")
    if complaint.what == "unbound":
        token = token.lstrip("$").split("[")[0]
    return re.sub(r"^\$'(.*)'$", r"\1", token)


def _has(text: str, token: str) -> bool:
    """Whether the token stands in the text as a word of its own."""
    edge_left = r"(?<![\w./-])" if re.match(r"\w", token) else ""
    edge_right = r"(?![\w-])" if re.search(r"\w$", token) else ""
    return re.search(edge_left + re.escape(token) + edge_right, text) is not None


def fragment(complaint: Complaint, here: str, there: bool | None) -> int | None:
    """The line of which the shell read only the tail: it went on at an old offset, in the middle of a word."""
    wanted = _plain(complaint.said.replace("␍", ""))
    if wanted:
        return None if wanted in here else _tail_of(complaint.script, wanted)
    if complaint.what == "not-found" and there is False and len(complaint.token) > 1:
        return _word_tail(complaint.script, complaint.token)
    return None


def _tail_of(script: Reading, wanted: str) -> int | None:
    """The line that ends with this text and has more before it than a shell would leave out."""
    for number, raw in script.source.text.kept():
        text = _plain(raw)
        if (
            text != wanted
            and text.endswith(wanted)
            and len(wanted) >= 3
            and not re.search(r"[;&|{(]\s*$", text[: -len(wanted)])
        ):
            return number
    return None


def _word_tail(script: Reading, token: str) -> int | None:
    """The line in which the token is the end of a longer word."""
    pattern = re.compile(rf"[\w./-]{re.escape(token)}(?![\w-])")
    return next((number for number, raw in script.source.text.kept() if pattern.search(raw)), None)


def _same(complaint: Complaint, here: str, there: bool | None, piece: int | None) -> bool | None:
    """Whether the shell read this very text; None where the complaint does not tell."""
    if piece is not None:
        return False
    said = _plain(complaint.said.replace("␍", ""))
    if said:
        return said == here or (len(said) > 2 and said in here)
    if complaint.what in ("eof", "quote"):
        return None if complaint.line <= complaint.script.source.text.count + 1 else False
    return there


DETECTOR = find
