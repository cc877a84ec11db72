"""The folder as a whole: what is in it is used, and every parser says what its lines look like."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import postmortem.parse as package
from clocked import least_cpu
from postmortem.model import Kind
from postmortem.parse import margins, needles, parse, parsers
from postmortem.scan import build
from postmortem.scene import Parser
from reading import reading


def test_every_module_with_a_parser_is_walked() -> None:
    modules = [import_module(f"postmortem.parse.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
    wanted = {p for m in modules for p in (*getattr(m, "PARSERS", ()), *([m.PARSER] if hasattr(m, "PARSER") else []))}
    assert set(parsers()) == wanted
    assert len({p.name for p in parsers()}) == len(parsers())


@pytest.mark.parametrize("parser", parsers(), ids=lambda p: p.name)
def test_every_parser_shows_a_line(parser: Parser) -> None:
    doc = inspect.getdoc(parser.read) or ""
    assert "`" in doc, f"{parser.name}: its docstring shows no line of its format"


@pytest.mark.parametrize("needle", needles())
def test_every_needle_can_be_nominated(needle: str) -> None:
    scanner = build([needle], "plain")
    assert scanner.unselective == (), "a pattern without a literal piece nominates every line"


def test_margins_are_the_widest_that_a_parser_asks_for() -> None:
    assert margins()["invoked oom-killer:"][0] >= 500
    assert all(before >= 0 and after >= 0 for before, after in margins().values())


def test_a_parser_reads_only_its_kinds_and_nominated_sources() -> None:
    seen: list[tuple[str, tuple[int, ...]]] = []

    def read(given):  # type: ignore[no-untyped-def]
        seen.append((given.path, given.nominated))
        return iter(())

    parser = Parser("t", frozenset({Kind.LOG}), read, needles=("needle-a", "needle-b"))
    texts = {"a.log": "x\nneedle-b\nneedle-a needle-b\n", "b.log": "nothing\n"}
    readings = [reading(text, Kind.LOG, path, parser.needles) for path, text in texts.items()]
    readings.append(reading("needle-a\n", Kind.KERNEL, "k.txt", parser.needles))
    parse(readings, (parser,))
    assert seen == [("a.log", (2, 3))]


def test_tables_are_not_loaded_before_such_a_record_is_met() -> None:
    code = (
        "import sys; from postmortem.parse import parsers; parsers();"
        "from postmortem.tables import table; assert table.cache_info().currsize == 0; assert 'yaml' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


HOSTILE = {
    "header": ("x invoked oom-killer: " * 3000, Kind.KERNEL),
    "cue": ("CUDA error " * 6000, Kind.LOG),
    "brackets": ("a" + "(" * 50_000 + '@b:1 failed: "x"', Kind.LOG),
    "traps": ("traps: aaaa " * 3000 + "segfault " + "x[1] " * 5000, Kind.LOG),
    "victims": ("System OOM encountered, victim process: " * 1500, Kind.LOG),
}


@pytest.mark.parametrize(("line", "kind"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_line_takes_no_time(line: str, kind: Kind) -> None:
    given = [reading(line, kind, "x.log")]
    assert least_cpu(lambda: parse(given)) < 2.0
