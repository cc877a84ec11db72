"""Shell scripts as collected: how they are written, whether they parse, and where they lose a status."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.parse.script_hazards import hazards
from postmortem.parse.script_masks import Shell, masks
from postmortem.parse.script_nesting import first_misfit
from postmortem.parse.script_tree import first_error, parse_bash
from postmortem.scene import Parser, Reading
from postmortem.sources import without_compression

_SHEBANG = lazy(r"^#!\s*(?P<command>\S.*?)\s*$")
_SET = lazy(r"^\s*set\s+(?P<options>-[\w-].*?)\s*(?:[;#&|].*)?$")
_LIMIT = 20_000  # lines; a longer "script" is a self-extracting archive


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Shell source, such as `if ! run_batch warmup | tee -a "$RESULTS"; then` with `rc=$?` below it."""
    lines = list(reading.source.text.kept())
    if not lines:
        return
    entity = {"script": PurePosixPath(without_compression(reading.path)).name}
    shell = settings(lines)
    yield from _facts(reading, lines, shell, entity)
    if len(lines) > _LIMIT or not reading.source.text.whole or shell.other:
        return
    tree = parse_bash("\n".join(raw.rstrip("\r") for _, raw in lines))
    yield from _parsed(reading, lines, first_error(tree), entity)
    for mask in masks(tree, shell):
        fields = entity | {"line": str(mask.line), "construct": mask.construct, "seen": mask.seen, "used": mask.used}
        fields |= {"pipefail": "yes" if shell.pipefail else "no", "errexit": "yes" if shell.errexit else "no"}
        fields |= {"command": mask.command}
        yield reading.event("script.mask", mask.line, {key: value for key, value in fields.items() if value}, mask.more)
    for hazard in hazards(tree, shell):
        fields = entity | {"line": str(hazard.line), "construct": hazard.construct, "command": hazard.command}
        yield reading.event("script.hazard", hazard.line, fields)


def _parsed(
    reading: Reading, lines: list[tuple[int, str]], error: int | None, entity: dict[str, str]
) -> Iterator[Fact]:
    """Broken is said only where grammar and nesting agree; where the grammar alone balks it is a doubt."""
    if error is None:
        yield reading.fact("script.parse_ok", True, 0, "", entity)
        return
    misfit = first_misfit(lines)
    if misfit is None or (misfit != error and misfit != lines[-1][0]):
        yield reading.fact("script.parse_doubt", error, error, "line", entity)
        return
    yield reading.fact("script.parse_ok", False, misfit, "", entity)
    yield reading.fact("script.parse_line", misfit, misfit, "line", entity)


def settings(lines: list[tuple[int, str]]) -> Shell:
    """The shebang and the options that the script sets for itself at its top level."""
    match = _SHEBANG.match(lines[0][1].rstrip("\r"))
    shebang = match["command"] if match else ""
    pipefail = errexit = nounset = 0
    for number, raw in lines:
        found = _SET.match(raw.rstrip("\r"))
        if found is None:
            continue
        letters, names = _options(found["options"])
        pipefail = pipefail or (number if "pipefail" in names else 0)
        errexit = errexit or (number if "e" in letters or "errexit" in names else 0)
        nounset = nounset or (number if "u" in letters or "nounset" in names else 0)
    flags = re.findall(r"\s-(\w+)", shebang)
    errexit = errexit or int(any("e" in flag for flag in flags) and "env" not in shebang)
    return Shell(shebang, pipefail, errexit, nounset)


def _options(text: str) -> tuple[set[str], set[str]]:
    """The letters and the long names that `set -euo pipefail` turns on."""
    letters: set[str] = set()
    names: set[str] = set()
    words = text.split()
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("-") and not word.startswith("--"):
            letters |= set(word[1:])
            if word.endswith("o"):
                names.add(following)
    return letters, names


def _facts(reading: Reading, lines: list[tuple[int, str]], shell: Shell, entity: dict[str, str]) -> Iterator[Fact]:
    if shell.shebang:
        yield reading.fact("script.shebang", shell.shebang, 1, "", entity)
    cr = [number for number, raw in lines if raw.endswith("\r")]
    yield reading.fact("script.crlf", bool(cr), cr[0] if cr else 0, "", entity)
    yield reading.fact("script.pipefail", bool(shell.pipefail), shell.pipefail, "", entity)
    yield reading.fact("script.errexit", bool(shell.errexit), shell.errexit, "", entity)
    yield reading.fact("script.nounset", bool(shell.nounset), shell.nounset, "", entity)


PARSER = Parser(name="script", kinds=frozenset({Kind.SCRIPT}), read=read)
