"""Constructs of a script that lose the status of a command, or that end it on a status that means no failure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from postmortem.lazy import lazy
from postmortem.parse.script_tree import (
    Node,
    asks_status,
    branch,
    condition,
    line_of,
    name,
    negated,
    parts,
    pipeline,
    runs,
    statements,
    text_of,
    walk,
    words,
)


@dataclass(frozen=True, slots=True)
class Shell:
    """The shebang and the lines at which an option is set; 0 where it never is."""

    shebang: str = ""
    pipefail: int = 0
    errexit: int = 0
    nounset: int = 0

    @property
    def other(self) -> bool:
        """Whether the file names an interpreter that is no shell."""
        return bool(self.shebang) and not re.search(r"\b(?:ba|da|k|mk|z|a)?sh\b|busybox", self.shebang)


@dataclass(frozen=True, slots=True)
class Mask:
    """One construct: what the reader of the status sees, and what for (`status`, `guard` or `value`)."""

    line: int
    construct: str
    seen: str = ""
    used: str = "status"
    command: str = ""
    more: tuple[int, ...] = ()


# programs whose own failure nobody waits for
_MINOR = words(
    """
    echo printf cat ls grep egrep fgrep zgrep awk sed cut sort uniq head tail wc tr date env ps df free test [ [[ :
    true false basename dirname hostname uname id find seq jq column yes rm mkdir kill pkill killall umount mount
    rmdir unlink read wait sleep source . cd set shopt trap return exit log warn info say command which type stat
    getent lsof
    """
)
# what stands at the end of a pipe and has a good status of its own whatever came in
_SINKS = words(
    """
    tee cat head tail sed awk cut sort uniq wc tr ts logger column while gzip pigz zstd jq xargs
    """
)
_PASSING = frozenset({"tee", "cat", "ts", "logger", "gzip", "pigz", "zstd"})


def masks(root: Node, shell: Shell) -> list[Mask]:
    """The masks of a script in the order of the text."""
    return once(
        [*_conditions(root, shell), *_sequences(root, shell), *_lists(root, shell), *_waits(root), *_exit_traps(root)]
    )


def once(found: list[Mask]) -> list[Mask]:
    by_place = {(mask.line, mask.construct): mask for mask in reversed(found)}
    return sorted(by_place.values(), key=lambda mask: (mask.line, mask.construct))


def is_on(at: int, node: Node) -> bool:
    return 0 < at <= line_of(node)


def _conditions(root: Node, shell: Shell) -> Iterator[Mask]:
    """`if ! f; then rc=$?` (always 0), with a pipe before the `then`, and the same with `while`."""
    for node in walk(root):
        if node.type not in ("if_statement", "elif_clause", "while_statement"):
            continue
        asked = condition(node)
        pipe = pipeline(asked)
        if pipe is not None and not is_on(shell.pipefail, node) and _hides(pipe) and node.type != "while_statement":
            seen = "branch never taken" if negated(asked) else "branch always taken"
            yield Mask(line_of(pipe), "if-pipe-no-pipefail", seen, command=name(parts(pipe)[0]))
        word = text_of(node.children[0]) if node.children else ""
        body = branch(node) if node.type != "while_statement" else _body(node)
        if negated(asked) and word in ("if", "elif", "while") and body and asks_status(body[0]):
            construct = ("while-not" if word == "while" else "if-not") + ("-pipe" if pipe is not None else "")
            yield Mask(line_of(node), construct, "0", command=_first(asked), more=(line_of(body[0]),))


def _first(node: Node | None) -> str:
    """The name of the first command in a condition."""
    return next((name(n) for n in walk(node) if n.type == "command" and name(n)), "") if node is not None else ""


def _body(loop: Node) -> list[Node]:
    group = next((child for child in loop.children if child.type == "do_group"), None)
    return statements(group) if group is not None else []


def _hides(pipe: Node) -> bool:
    """Whether a command that matters stands before one that succeeds anyway."""
    commands = parts(pipe)
    if len(commands) < 2:
        return False
    last = name(commands[-1]) or ("while" if commands[-1].type == "while_statement" else "")
    return last in _SINKS and _matters(commands[0])


def _matters(node: Node) -> bool:
    word = name(node)
    return bool(word) and word not in _MINOR and not word.startswith("$(")


def _sequences(root: Node, shell: Shell) -> Iterator[Mask]:
    """Two statements, one after the other, of which the second reads the status of the first."""
    for run in runs(root):
        for node, after in _pairs(run):
            asked = after is not None and asks_status(after)
            more = (line_of(after),) if asked and after is not None else ()
            yield from _pipes(node, shell, asked, more)
            if asked and node.type == "if_statement" and not any(c.type == "else_clause" for c in node.children):
                yield Mask(line_of(node), "after-if", "0", command=_first(condition(node)), more=more)
            yield from _assignments(node, shell, asked, more)


def _pairs(run: list[Node]) -> Iterator[tuple[Node, Node | None]]:
    """Each statement with the one that runs after it."""
    yield from zip(run, [*run[1:], None], strict=False)


def _background(node: Node) -> bool:
    outer = node.parent if node.parent is not None and node.parent.type == "redirected_statement" else node
    return outer.next_sibling is not None and outer.next_sibling.type == "&"


def _pipes(node: Node, shell: Shell, asked: bool, more: tuple[int, ...]) -> Iterator[Mask]:
    pipe = pipeline(node)
    if pipe is None:
        return
    command = name(parts(pipe)[0])
    if asked and negated(node):
        yield Mask(line_of(pipe), "not-pipe", "0", command=command, more=more)
    elif is_on(shell.pipefail, node) or not _hides(pipe):
        return
    elif asked:
        yield Mask(line_of(pipe), "pipe-no-pipefail", "0", command=command, more=more)
    elif is_on(shell.errexit, node) and name(parts(pipe)[-1]) in _PASSING:
        yield Mask(line_of(pipe), "pipe-no-pipefail", "0", "guard", command)


def _assignments(node: Node, shell: Shell, asked: bool, more: tuple[int, ...]) -> Iterator[Mask]:
    """`local x=$(f)` then `$?`; `x=$(f | wc -l)` whose value is taken for an answer although f did not run."""
    inner = next((n for n in walk(node) if n.type == "command_substitution"), None)
    if inner is None or node.type not in ("declaration_command", "variable_assignment"):
        return
    command = _first(inner)
    if node.type == "declaration_command":
        if asked:
            word = text_of(node.children[0])
            yield Mask(line_of(node), f"{word}-assign", "0", command=command, more=more)
        elif is_on(shell.errexit, node) and _matters(next(n for n in walk(inner) if n.type == "command")):
            yield Mask(line_of(node), f"{text_of(node.children[0])}-assign", "0", "guard", command)
        return
    pipe = next((pipeline(child) for child in inner.children if pipeline(child) is not None), None)
    if pipe is not None and not is_on(shell.pipefail, node) and _hides(pipe):
        yield Mask(line_of(node), "substitution-pipe", "0", "status" if asked else "value", command, more)


def _lists(root: Node, shell: Shell) -> Iterator[Mask]:
    """`f || true`, `f | tee log || rc=$?` without pipefail, `local x=$(f) || die`, `[ $? -ne 0 ] && exit $?`."""
    for node in walk(root):
        if node.type != "list" or len(node.children) < 3:
            continue
        left, operator, right = node.children[0], node.children[1].type, node.children[-1]
        pipe = pipeline(left)
        if operator == "||" and pipe is not None and not is_on(shell.pipefail, node) and _hides(pipe):
            yield Mask(line_of(pipe), "pipe-no-pipefail", "right side never runs", command=name(parts(pipe)[0]))
        elif operator == "||" and name(right) in ("true", ":") and _matters(left):
            yield Mask(line_of(node), "or-true", "0", "guard", name(left))
        elif operator == "||" and left.type == "declaration_command" and "$(" in text_of(left):
            yield Mask(line_of(node), f"{text_of(left.children[0])}-assign", "0", command=_first(left))
        elif left.type == "test_command" and asks_status(left) and asks_status(right):
            yield Mask(line_of(node), "status-of-test", "status of [")


def _waits(root: Node) -> Iterator[Mask]:
    """A bare `wait` is 0 whatever the background commands did."""
    for run in runs(root):
        started: list[Node] = []
        for node, after in _pairs(run):
            inside = walk(node) if node.type in ("for_statement", "while_statement") else (node,)
            started += [n for n in inside if _background(n) and _matters(n)]
            if text_of(node).strip() == "wait" and started:
                asked = after is not None and asks_status(after)
                yield Mask(line_of(node), "background-wait", "0", "status" if asked else "guard", name(started[-1]))
                started = []


_EXIT_TRAP = lazy(r"\bexit 0\b")


def _exit_traps(root: Node) -> Iterator[Mask]:
    """`trap '...; exit 0' EXIT` replaces the status that the script ended with."""
    for node in walk(root):
        if name(node) == "trap" and re.search(r"\s(?:EXIT|0)\b", text_of(node)) and _EXIT_TRAP.search(text_of(node)):
            yield Mask(line_of(node), "exit-trap", "0", "guard")
