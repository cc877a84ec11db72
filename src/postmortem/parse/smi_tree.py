"""The tree of `nvidia-smi -q`, from its text or from its XML: one (GPU, path, value) for each leaf."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.parsers import expat

from postmortem.lazy import lazy

_GPU = lazy(r"^GPU (?P<id>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s*$")
_LEAF = lazy(r"^(?P<indent>\s*)(?P<name>[^:]+?)\s*:(?:\s(?P<value>.*))?$")
_BRANCH = lazy(r"^(?P<indent>\s*)(?P<name>\S.*?)\s*$")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value of the tree; `path` is in XML's words: `fb_memory_usage/total`."""

    gpu: str  # as printed; empty for what is said of the machine
    path: str
    value: str
    line: int


class UnsafeXml(ValueError):
    """The XML declares an entity: nvidia-smi never does."""


def of_text(lines: Iterable[tuple[int, str]]) -> Iterator[Leaf]:
    """The leaves of the indented text, such as `        Total                             : 32607 MiB`."""
    gpu = ""
    above: list[tuple[int, str]] = []
    for number, raw in lines:
        if match := _GPU.match(raw):
            gpu, above = match["id"], []
        elif raw.strip() and not raw.startswith("="):
            leaf = _LEAF.match(raw)
            part = leaf or _BRANCH.match(raw)
            assert part is not None
            indent = len(part["indent"].expandtabs())
            above = [branch for branch in above if branch[0] < indent]
            if leaf is None or leaf["value"] is None:
                above.append((indent, word(part["name"])))
            else:
                path = "/".join([*(name for _, name in above), word(leaf["name"])])
                yield Leaf(gpu, path, leaf["value"].strip(), number)


def word(name: str) -> str:
    """A printed name in the form of an XML tag: `FB Memory Usage` -> `fb_memory_usage`."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def of_xml(text: str) -> list[Leaf]:
    """The leaves of `nvidia-smi -q -x`, as far as the text is well-formed; raises UnsafeXml at an entity."""
    reader = _Reader()
    try:
        reader.parser.Parse(text, True)
    except expat.ExpatError:
        return reader.leaves  # cut: what came before the cut is whole
    return reader.leaves


class _Reader:
    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self.path: list[str] = []
        self.gpu = ""
        self.text = ""
        self.parser = expat.ParserCreate()
        self.parser.EntityDeclHandler = _refuse
        self.parser.StartElementHandler = self.start
        self.parser.CharacterDataHandler = self.data
        self.parser.EndElementHandler = self.end

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.text = ""
        if tag == "gpu":
            self.gpu, self.path = attributes.get("id", ""), []
        elif tag != "nvidia_smi_log":
            self.path.append(tag)

    def data(self, text: str) -> None:
        self.text += text

    def end(self, tag: str) -> None:
        if self.text.strip() and self.path:
            self.leaves.append(Leaf(self.gpu, "/".join(self.path), self.text.strip(), self.parser.CurrentLineNumber))
        self.text = ""
        if tag == "gpu":
            self.gpu, self.path = "", []
        elif self.path:
            self.path.pop()


def _refuse(*_: object) -> None:
    raise UnsafeXml("an entity declaration in nvidia-smi's XML")
