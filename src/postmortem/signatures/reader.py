"""Signature files -> `Catalogue`, or one `SignatureError` with every mistake."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import yaml

from postmortem.errors import SignatureError
from postmortem.signatures.entries import entry_of
from postmortem.signatures.language import Catalogue, ClassItem, Signature, items_of, leaves, line_items
from postmortem.signatures.mistakes import Mistakes, sentence
from postmortem.signatures.nodes import elements, fields_of

Entry = tuple[yaml.Node, Signature | None]
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml reads the catalogue ten times as fast


def load(paths: Sequence[Path], partial: bool = False, tested: Path | None = None) -> Catalogue:
    """Reads the files; an entry of a later file replaces one of the same id. Raises SignatureError.

    A `partial` catalogue may name classes that it does not have, as one file of several does. The patterns of the file
    `tested` are known to compile.
    """
    texts, unread = [], []
    for path in paths:
        try:
            texts.append((str(path), path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            unread.append(f"{path}:1:1: the file cannot be read: {reason}; name a signature file")
    if unread:
        raise SignatureError(tuple(unread))
    return parse(texts, partial, str(tested) if tested else "")


def parse(
    texts: Sequence[tuple[str, str]], partial: bool = False, tested: str = "", known: Catalogue | None = None
) -> Catalogue:
    """The catalogue of (name, text) files; the first of them may be `known`.

    Raises SignatureError with every mistake of all of them.
    """
    merged: dict[str, Signature] = dict(known.by_id) if known else {}
    names: set[str] = set(merged)  # of all entries, those with mistakes among them
    wrong: list[str] = []
    digest = hashlib.sha256("".join(text for _, text in texts).encode())
    for name, text in texts[1:] if known else texts:
        mistakes = Mistakes(name, name == tested)
        for node, signature in _entries(text, mistakes):
            names.add(_name(node))
            if signature is not None:
                merged[signature.id] = signature
        wrong += mistakes.lines()
    wrong += () if partial else _unknown(merged, names)
    wrong += _circles(merged)
    if wrong:
        raise SignatureError(tuple(wrong))
    patterns = {item.pattern for s in merged.values() for item in line_items(s)}
    ordered = _sorted({s.id: _asked(s) for s in merged.values()})
    return Catalogue(
        tuple(merged[i] for i in ordered), MappingProxyType(merged), digest.hexdigest()[:16], tuple(sorted(patterns))
    )


def _entries(text: str, mistakes: Mistakes) -> list[Entry]:
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        what = f"this is not YAML: {getattr(error, 'problem', None) or error}"
        mistakes.add_at(line, column, what, "put patterns, tests and sentences in quotes")
        return []
    if root is None:
        mistakes.add_at(1, 1, "the file is empty", "begin with `schema: 1` and `signatures:`")
        return []
    fields = fields_of(root, mistakes, ("schema", "signatures"), "a signature file")
    if fields is None:
        return []
    _schema(root, fields["schema"][1] if "schema" in fields else None, mistakes)
    if "signatures" not in fields:
        mistakes.add(root, "'signatures' is missing", "add a list of entries")
        return []
    return _listed(fields["signatures"][1], mistakes)


def _schema(root: yaml.Node, node: yaml.Node | None, mistakes: Mistakes) -> None:
    if node is None:
        mistakes.add(root, "'schema' is missing", "add `schema: 1` at the top")
    elif node.value != "1":
        mistakes.add(node, f"unknown schema '{node.value}'", "this program reads schema: 1")


def _listed(node: yaml.Node, mistakes: Mistakes) -> list[Entry]:
    found: list[Entry] = []
    seen: dict[str, int] = {}
    for entry in elements(node, mistakes, "signatures"):
        signature = entry_of(entry, mistakes)
        name = _name(entry)
        if name in seen:
            mistakes.add(entry, f"a second entry '{name}'", f"the first is in line {seen[name]}: make one of the two")
        elif name:
            seen[name] = entry.start_mark.line + 1
        found.append((entry, signature))
    return found


def _name(entry: yaml.Node) -> str:
    pairs = entry.value if isinstance(entry, yaml.MappingNode) else []
    return next((str(v.value) for k, v in pairs if k.value == "id"), "")


def _unknown(merged: Mapping[str, Signature], names: set[str]) -> list[str]:
    """Classes that an entry names and that no entry is of."""
    named = [(link.place, link.class_id) for s in merged.values() for link in s.explains]
    named += [(i.place, i.class_id) for s in merged.values() for i in leaves(items_of(s)) if isinstance(i, ClassItem)]
    todo = "use the id of an entry, or add one"
    return [f"{at}: {sentence(f'unknown class {i!r}', todo, i, names)}" for at, i in named if i not in names]


def _asked(signature: Signature) -> tuple[str, ...]:
    """The classes that must be judged before this one; a link's proof is asked afterwards."""
    own = (*signature.when, *signature.suspect, *signature.support, *signature.against, *signature.cancelled_by)
    return tuple(leaf.class_id for leaf in leaves(own) if isinstance(leaf, ClassItem))


def _circles(merged: Mapping[str, Signature]) -> list[str]:
    links = {s.id: tuple(link.class_id for link in s.explains) for s in merged.values()}
    asks = {s.id: _asked(s) for s in merged.values()}
    told = _told(merged, links, "explains", "a cause cannot be its own effect: remove one of the links")
    return told + _told(merged, asks, "class items", "two classes cannot wait for each other: ask a fact instead")


def _told(merged: Mapping[str, Signature], edges: Mapping[str, tuple[str, ...]], key: str, todo: str) -> list[str]:
    """One sentence for the shortest circle through each class that is on one."""
    paths = {frozenset(path): path for name in sorted(edges, reverse=True) if (path := _circle(name, edges))}
    return [
        f"{_place(merged[p[0]], p[1])}: {key} make a circle: {' -> '.join(p)}; {todo}" for p in reversed(paths.values())
    ]


def _place(signature: Signature, other: str) -> str:
    """Where an entry names another class as its effect, else where it stands."""
    return next((link.place for link in signature.explains if link.class_id == other), signature.place)


def _circle(start: str, edges: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The shortest path from a class back to itself, or ()."""
    queue: deque[tuple[str, ...]] = deque([(start,)])
    seen: set[str] = set()
    while queue:
        path = queue.popleft()
        for other in edges.get(path[-1], ()):
            if other == start:
                return (*path, other)
            if other not in seen:
                seen.add(other)
                queue.append((*path, other))
    return ()


def _sorted(edges: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The ids, each after those that it points to."""
    done: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in edges and name not in done:
            for other in edges[name]:
                visit(other)
            done[name] = None

    for name in edges:
        visit(name)
    return tuple(done)
