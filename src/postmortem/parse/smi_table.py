"""The table that plain `nvidia-smi` prints, of drivers from 3xx to today."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from postmortem.lazy import lazy
from postmortem.model import Fact
from postmortem.scene import Reading

_BANNER = lazy(
    r"NVIDIA-SMI\s+(?P<smi>\S+)\s+Driver Version:\s*(?P<driver>\S+)(?:\s+CUDA Version:\s*(?P<cuda>[\w./]+))?"
)
_FIRST = lazy(
    r"^\|\s*(?P<index>\d+)\s+(?P<name>\S.*?)\s+(?:On|Off|N/A|ERR!|Unknown Error)?\s*\|\s*"
    r"(?P<bus>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s+\S+\s*\|\s*(?P<ecc>[^|]*?)\s*\|"
)
_SECOND = lazy(
    r"^\|\s*(?P<fan>\d+%|N/A|ERR!)\s+(?P<temp>\d+C|N/A|ERR!)\s+(?P<pstate>P\d+|N/A|ERR!|Unknown\S*)\s+"
    r"(?P<draw>\S+)\s*/\s*(?P<cap>\S+)\s*\|\s*(?P<used>\d+)\s*MiB\s*/\s*(?P<total>\d+)\s*MiB\s*\|"
    r"\s*(?P<util>\S+)\s*(?P<mode>[^|]*?)\s*\|"
)
_THIRD = lazy(r"^\|\s+\|\s+\|\s*(?P<mig>Enabled\*?|Disabled\*?|N/A)\s*\|\s*$")
_PROCESS = lazy(
    r"^\|\s*(?P<index>\d+)\s+(?:(?:N/A|\d+)\s+(?:N/A|\d+)\s+)?(?P<pid>\d+)\s+(?P<type>[CGM](?:\+[CG])?)\s+"
    r"(?P<name>\S.*?)\s+(?P<used>\d+)\s*MiB\s*\|"
)
_NO_PROCESSES = lazy(r"^\|\s*No running processes found")
_BROKEN = lazy(r"ERR!|Unknown Error|GPU is lost|requires reset")


def read_table(reading: Reading, lines: list[tuple[int, str]]) -> Iterator[Fact]:
    """The table's facts; of several tables in one source (a loop) each is read."""
    by_index: dict[str, str] = {}
    entity: Mapping[str, str] = {}
    cards: list[int] = []
    for line, raw in lines:
        if match := _BANNER.search(raw):
            yield from _banner(reading, match, line)
            cards = []
        elif match := _FIRST.match(raw):
            entity = {"gpu": _pci(match["bus"]), "index": match["index"]}
            by_index[match["index"]] = entity["gpu"]
            cards.append(line)
            yield from _first(reading, match, line, entity, _broken(lines, line))
        elif entity and (match := _SECOND.match(raw)):
            yield from _second(reading, match, line, entity)
        elif entity and (match := _THIRD.match(raw)):
            if match["mig"] != "N/A":
                yield reading.fact("gpu.mig", match["mig"].rstrip("*"), line, "", entity)
            entity = {}
        elif (match := _PROCESS.match(raw)) and cards:
            yield from _process(reading, match, line, by_index)
        elif _NO_PROCESSES.match(raw):
            yield reading.fact("gpu.process_count", 0, line, "count")
    if cards:
        yield reading.fact("gpu.count", len(cards), cards[0], "count")


def _pci(bus: str) -> str:
    parts = bus.lower().split(".")[0].split(":")
    return ":".join([parts[0][-4:], *parts[1:]])


def _banner(reading: Reading, match: re.Match[str], line: int) -> Iterator[Fact]:
    yield reading.fact("gpu.driver", match["driver"], line)
    if match["cuda"] and match["cuda"] not in ("N/A", "ERR!"):
        yield reading.fact("gpu.cuda", match["cuda"], line)


def _broken(lines: list[tuple[int, str]], line: int) -> tuple[int, str] | None:
    """The first line of this card's block that shows a broken cell; a block ends at a rule."""
    for number, raw in lines:
        if number >= line:
            if raw.startswith("+"):
                return None
            if _BROKEN.search(raw):
                return number, raw
    return None


def _first(
    reading: Reading, match: re.Match[str], line: int, entity: Mapping[str, str], broken: tuple[int, str] | None
) -> Iterator[Fact]:
    if not _BROKEN.search(match["name"]):
        yield reading.fact("gpu.name", match["name"], line, "", entity)
    if match["ecc"].isdigit():
        yield reading.fact("gpu.ecc_uncorrected", int(match["ecc"]), line, "count", entity)
    if broken is None:
        yield reading.fact("gpu.state", "ok", line, "", entity)
    else:
        state = "lost" if "lost" in broken[1] else "requires-reset" if "requires reset" in broken[1] else "err"
        yield reading.fact("gpu.state", state, broken[0], "", entity)


def _second(reading: Reading, match: re.Match[str], line: int, entity: Mapping[str, str]) -> Iterator[Fact]:
    cells = (
        ("gpu.temperature", match["temp"].rstrip("C"), "C"),
        ("gpu.power_draw", match["draw"].rstrip("W"), "W"),
        ("gpu.power_cap", match["cap"].rstrip("W"), "W"),
        ("gpu.memory_used", match["used"], "MiB"),
        ("gpu.memory_total", match["total"], "MiB"),
    )
    for name, text, unit in cells:
        if text.isdigit():
            yield reading.fact(name, int(text), line, unit, entity)
    if match["pstate"].startswith("P"):
        yield reading.fact("gpu.pstate", match["pstate"], line, "", entity)
    if match["mode"] and match["mode"] != "N/A" and not _BROKEN.search(match["mode"]):
        yield reading.fact("gpu.compute_mode", match["mode"], line, "", entity)


def _process(reading: Reading, match: re.Match[str], line: int, by_index: Mapping[str, str]) -> Iterator[Fact]:
    comm = match["name"].split()[0].rsplit("/", 1)[-1]
    entity = {"pid": match["pid"], "comm": comm, "index": match["index"]}
    if match["index"] in by_index:
        entity["gpu"] = by_index[match["index"]]
    yield reading.fact("gpu.process_memory", int(match["used"]), line, "MiB", entity)
