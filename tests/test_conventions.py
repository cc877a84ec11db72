"""How the code reads, held by a test: small files, small functions, a sentence for everything public."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "postmortem"
FILES = sorted(SRC.rglob("*.py"))
MOST_LINES, MOST_FUNCTION_LINES = 250, 40
BROAD = ("Exception", "BaseException")


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("path", FILES, ids=[str(p.relative_to(SRC)) for p in FILES])
def test_small_and_told(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert len(text.splitlines()) <= MOST_LINES
    assert [f.name for f in functions(tree) if (f.end_lineno or 0) - f.lineno + 1 > MOST_FUNCTION_LINES] == []
    if text.strip():
        assert ast.get_docstring(tree), "a module says in one sentence what it is for"
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    assert [c.name for c in classes if not c.name.startswith("_") and not ast.get_docstring(c)] == []


def test_a_broad_except_says_why_or_raises_again() -> None:
    unexplained = []
    for path in FILES:
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, ast.ExceptHandler) and (node.type is None or getattr(node.type, "id", "") in BROAD):
                again = any(isinstance(n, ast.Raise) for n in node.body)
                if not again and "  # " not in lines[node.lineno - 1]:
                    unexplained.append(f"{path.relative_to(SRC)}:{node.lineno}")
    assert unexplained == []
