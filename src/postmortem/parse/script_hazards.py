"""Constructs that end a script on a status that means no failure: a count under errexit, early ends under pipefail."""

from __future__ import annotations

import re
from collections.abc import Iterator

from postmortem.lazy import lazy
from postmortem.parse.script_masks import Mask, Shell, is_on, once
from postmortem.parse.script_tree import Node, line_of, name, parts, runs, text_of, walk

_COUNT = lazy(r"^\(\(\s*(?:\w+\+\+|\w+--|\w+\s*[+-]?=[^=].*)\s*\)\)$|^let\s")


def hazards(root: Node, shell: Shell) -> list[Mask]:
    """`((n++))` from 0 and `grep -c` under errexit; `| head` and `| grep -q` under pipefail."""
    return once(list(_hazards(root, shell)))


def _hazards(root: Node, shell: Shell) -> Iterator[Mask]:
    for run in runs(root):
        for node in run:
            text = text_of(node).strip()
            if is_on(shell.errexit, node) and (
                _COUNT.match(text) or re.match(r"^(?:\w+=\$\()?grep (?:-\w+ )*-\w*c", text)
            ):
                yield Mask(
                    line_of(node), "status-of-count" if text[0] in "(l" else "grep-count", command=text.split()[0]
                )
            if is_on(shell.pipefail, node):
                yield from _early_readers(node)


def _early_readers(node: Node) -> Iterator[Mask]:
    for inner in walk(node):
        if inner.type != "pipeline" or node.type in (
            "if_statement",
            "while_statement",
            "for_statement",
            "function_definition",
        ):
            continue
        for before, command in zip(parts(inner), parts(inner)[1:], strict=False):
            text = text_of(command)
            if name(before) in ("echo", "printf"):
                continue
            if name(command) == "head" or re.match(r"^grep\b.*\s-\w*q", text) or re.match(r"^grep\b.*\s-m\s*\d", text):
                yield Mask(line_of(inner), "early-reader", command=name(before))
