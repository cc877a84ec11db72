"""A program that is there and still "not found": what is missing is the loader that it names."""

from __future__ import annotations

from collections.abc import Iterator

from postmortem.lazy import lazy
from postmortem.model import Event, Evidence, Fact, Kind
from postmortem.scene import Reading, Scene

REFUSED = ("not-found", "no-such-file")
LONGEST = 400  # characters of a line that are looked at
LISTS = (Kind.LISTING, Kind.LOG, Kind.CONFIG)
SMALL = 400  # lines of a text that may be such a listing
# `/usr/bin/x: ELF 64-bit LSB pie executable, x86-64, dynamically linked, interpreter /lib64/ld.so.2, stripped` (file)
_ELF = lazy(r"^(?P<file>/\S+): +ELF .*\binterpreter (?P<interpreter>/[^\s,]+)")
# `-rwxr-xr-x 1 root root 18816044 Apr  2 10:11 /usr/bin/x` (ls -l)
_LISTED = lazy(r"^-[r-][w-][xs]\S* +\d+ +\S+ +\S+ +[1-9]\d* .* (?P<file>/\S+)$")


def detect(scene: Scene) -> Iterator[Event | Fact]:
    """One `loader.missing` for each program that a shell did not find and that another text shows with its loader."""
    refused = [e for e in scene.named("shell.error") if e.fields.get("what") in REFUSED]
    wanted = {e.fields.get("token", ""): e for e in reversed(refused) if e.fields.get("token", "").startswith("/")}
    if not wanted:
        return
    shown = [(r, n, raw[:LONGEST]) for r in small(scene) for n, raw in r.source.text.kept()]
    listed = {m["file"]: r.evidence(n) for r, n, raw in shown if (m := _LISTED.match(raw)) is not None}
    for reading, number, raw in shown:
        match = _ELF.match(raw)
        if match is not None and match["file"] in wanted:
            yield event(wanted[match["file"]], match["interpreter"], reading.evidence(number), listed)


def event(refused: Event, interpreter: str, elf: Evidence, listed: dict[str, Evidence]) -> Event:
    fields = {"file": refused.fields["token"], "interpreter": interpreter}
    more = (elf, listed[fields["file"]]) if fields["file"] in listed else (elf,)
    return Event("loader.missing", refused.source, refused.line, refused.text, refused.when, fields, more)


def small(scene: Scene) -> list[Reading]:
    return [r for r in scene.of_kind(*LISTS) if r.source.text.count <= SMALL]


DETECTOR = detect
