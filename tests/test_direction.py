"""No module imports from a later stage (docs/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "postmortem"
STAGES = (
    "errors", "lazy", "model", "naming", "watch", "redact", "scan", "bundle", "text", "lines", "sources", "clock", "scene",
    "tables", "parse", "detect", "signatures", "engine", "prepare", "diagnose", "report", "news", "analysis", "triage", "cli", "__main__",
)  # fmt: skip
COLLECT_MAY = {"errors", "lazy", "model", "redact", "collect"}
ANYWHERE = {""}  # the package itself: its version


def imports(path: Path) -> set[str]:
    """The first-level names below postmortem that a file imports; typing-only and lazy imports count too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        found |= {n.split(".")[1] if "." in n else "" for n in names if n.split(".")[0] == "postmortem"}
    return found - ANYWHERE


def stage(path: Path) -> str:
    first = path.relative_to(SRC).parts[0]
    return first.removesuffix(".py")


FILES = sorted(p for p in SRC.rglob("*.py") if p != SRC / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=[str(p.relative_to(SRC)) for p in FILES])
def test_a_file_imports_earlier_stages_only(path: Path) -> None:
    own = stage(path)
    if own == "collect":
        assert imports(path) <= COLLECT_MAY
        return
    assert own in STAGES, f"{own} has no stage: put it into docs/architecture.md and here"
    allowed = set(STAGES[: STAGES.index(own) + 1]) | ({"collect"} if own == "cli" else set())
    assert imports(path) <= allowed, f"imports {imports(path) - allowed} of a later stage"


def test_the_rule_sees_a_forbidden_import(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("from postmortem.report import build\nimport postmortem.cli\n")
    assert imports(bad) == {"report", "cli"}
