"""A shell script's syntax tree, by tree-sitter's grammar of bash, and the small questions asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

Node = Any  # tree_sitter.Node: the package has no types


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as prose."""
    return frozenset(text.split())


_STATEMENTS = words(
    """
    command pipeline list if_statement while_statement for_statement c_style_for_statement case_statement
    variable_assignment variable_assignments declaration_command redirected_statement negated_command test_command
    compound_statement subshell function_definition unset_command
    """
)


@cache
def _parser() -> Any:
    import tree_sitter  # here: most inputs have no script, and a build that asks for patterns has no grammar
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse_bash(text: str) -> Node:
    """The root of the tree; it always parses, with ERROR nodes where the grammar does not fit."""
    return _parser().parse(text.encode("utf-8", "replace")).root_node


def line_of(node: Node) -> int:
    """The node's first line, from 1."""
    return int(node.start_point[0]) + 1


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, in the order of the text, without recursion."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        stack.extend(reversed(here.children))


def text_of(node: Node) -> str:
    return node.text.decode("utf-8", "replace") if node.text is not None else ""


_RESERVED = frozenset(["then", "else", "elif", "fi", "do", "done", "esac", "}"])


def first_error(root: Node) -> int | None:
    """The first line that the grammar cannot read, or None; of real scripts it refuses about one in ten wrongly.

    The grammar takes a stray `else` for the name of a command; no shell does.
    """
    strays = (line_of(node) for node in walk(root) if node.type == "command_name" and text_of(node) in _RESERVED)
    broken = (line_of(node) for node in walk(root) if node.type == "ERROR" or node.is_missing) if root.has_error else ()
    return min((*strays, *broken), default=None)


def statements(node: Node) -> list[Node]:
    """The statements among the node's children; a redirection around one is looked through."""
    return [bare(child) for child in node.children if child.type in _STATEMENTS]


def bare(node: Node) -> Node:
    """The statement without a redirection around it."""
    while node.type == "redirected_statement" and node.children:
        node = node.children[0]
    return node


def runs(root: Node) -> Iterator[list[Node]]:
    """Every list of statements that run one after the other: the program, each branch, each body."""
    for node in walk(root):
        if node.type in (
            "program",
            "compound_statement",
            "do_group",
            "subshell",
            "command_substitution",
            "case_item",
            "else_clause",
        ):
            yield statements(node)
        elif node.type in ("if_statement", "elif_clause"):
            yield branch(node)


def branch(node: Node) -> list[Node]:
    """The statements between `then` and the end of this branch."""
    found: list[Node] = []
    seen = False
    for child in node.children:
        if child.type == "then":
            seen = True
        elif child.type in ("elif_clause", "else_clause", "fi"):
            break
        elif seen and child.type in _STATEMENTS:
            found.append(bare(child))
    return found


def condition(node: Node) -> Node | None:
    """The last statement of an `if`, `elif`, `while` or `until` condition: the one whose status counts."""
    found = None
    for child in node.children:
        if child.type in ("then", "do_group"):
            break
        if child.type in _STATEMENTS:
            found = child
    return found


def pipeline(node: Node | None) -> Node | None:
    """The pipeline that this statement is, looking through `!` and redirections."""
    while node is not None and node.type in ("redirected_statement", "negated_command"):
        node = next((child for child in node.children if child.is_named), None)
    return node if node is not None and node.type == "pipeline" else None


def negated(node: Node | None) -> bool:
    return node is not None and text_of(node).lstrip().startswith("! ")


def parts(pipe: Node) -> list[Node]:
    """The commands of a pipeline, without `!` and redirections."""
    found = []
    for child in pipe.children:
        node = bare(child)
        if node.type == "negated_command":
            node = bare(next((c for c in node.children if c.is_named), node))
        if node.is_named:
            found.append(node)
    return found


def name(node: Node | None) -> str:
    """The command's name: of `env X=1 timeout 5 ./run` it is the first word, `env`; empty for anything else."""
    node = bare(node) if node is not None else None
    if node is None or node.type != "command":
        return ""
    named = node.child_by_field_name("name")
    return text_of(named).rsplit("/", 1)[-1].strip("\"'") if named is not None else ""


def asks_status(node: Node) -> bool:
    """Whether the statement reads `$?` (and not PIPESTATUS, which still has the real ones)."""
    return any(
        n.type == "special_variable_name" and text_of(n) == "?" for n in walk(node)
    ) and "PIPESTATUS" not in text_of(node)
