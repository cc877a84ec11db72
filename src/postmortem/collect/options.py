"""What a collection is asked to do, and the configuration file that says the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from postmortem.collect.plan import load_plan
from postmortem.errors import UsageError

ALLOWABLE = ("signals", "vendor")
MOST_BYTES = 4 << 20  # of a member, which passes through memory as a whole


@dataclass(frozen=True, slots=True)
class Extra:
    """A probe of the user's own: a file to read, or lines of shell whose output is kept."""

    name: str
    file: str = ""
    run: str = ""
    seconds: float = 2.0
    bytes: int = 65536
    why: str = "asked for in the configuration"


@dataclass(frozen=True, slots=True)
class Attach:
    """A command that runs here, beside the collection, such as `vastai show instance 7 --raw`."""

    name: str
    run: str


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """One collection; times in seconds, sizes in bytes."""

    output: str | None = None  # None: a name of its own; "-": standard output
    copies: tuple[str, ...] = ()  # more outputs, filled at the same time
    deadline: float = 25.0
    max_size: int = 10_000_000
    logs: tuple[tuple[str, str], ...] = ()  # (glob, label or "")
    scripts: tuple[str, ...] = ()
    config: str | None = None
    incident: str | None = None
    ssh: str | None = None  # [user@]host[:port]
    ssh_options: tuple[str, ...] = ()
    docker: str | None = None  # container
    kubectl: str | None = None  # [namespace/]pod[:container]
    kubectl_options: tuple[str, ...] = ()
    profile: str = ""
    attach: tuple[Attach, ...] = ()
    ship: tuple[str, ...] = ()  # URLs, env:NAME or @FILE
    redact: bool = True
    encrypt_to: tuple[str, ...] = ()  # public keys of age
    sign: str | None = None  # a minisign secret key's file
    spent: float = 0.0  # seconds of the deadline that are gone already
    sample: float = 0.0  # take the counters a second time after so long
    extras: tuple[Extra, ...] = ()
    enabled: tuple[str, ...] = ()  # probes or tiers: only these; none: all
    disabled: tuple[str, ...] = ()  # but not these
    allow: tuple[str, ...] = ()  # classes of probes that do more than read: ALLOWABLE
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectResult:
    """How a collection ended; `code` 0 when a bundle was written, however partial, else 1."""

    code: int
    path: str | None
    summary: str
    complete: bool


def split_label(text: str) -> tuple[str, str]:
    """A `GLOB[:label]` argument as (glob, label)."""
    glob, _, label = text.rpartition(":")
    return (glob, label) if glob and label and "/" not in label else (text, "")


def attach_of(text: str) -> Attach:
    """A `NAME=COMMAND` argument. Raises UsageError."""
    name, _, command = text.partition("=")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name) or not command.strip():
        raise UsageError(f"--attach {text!r} is no NAME=COMMAND; a name has letters, digits, '.', '_' and '-'")
    return Attach(name, command)


def with_config(options: CollectOptions) -> CollectOptions:
    """The options with what their configuration file adds. Raises UsageError naming every mistake as file:line."""
    if not options.config:
        return options
    import yaml

    try:
        root = yaml.compose(Path(options.config).read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except OSError as error:
        raise UsageError(f"{options.config}: {error.strerror}; give another file with --config") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"{options.config}:{line}: {error.problem or 'not YAML'}") from error
    reader = _Reader(options.config)
    found = reader.file(root)
    if reader.mistakes:
        raise UsageError("\n".join(reader.mistakes))
    return replace(
        options,
        logs=options.logs + tuple(found["logs"]),
        scripts=options.scripts + tuple(found["scripts"]),
        extras=options.extras + tuple(found["probes"]),
        enabled=options.enabled + tuple(found["enabled"]),
        disabled=options.disabled + tuple(found["disabled"]),
    )


class _Reader:
    """Reads the YAML nodes, which know their lines, and gathers every mistake."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.mistakes: list[str] = []

    def wrong(self, node: Any, what: str) -> None:
        self.mistakes.append(f"{self.path}:{node.start_mark.line + 1}: {what}")

    def file(self, root: Any) -> dict[str, list[Any]]:
        readers = {
            "logs": self.log,
            "scripts": self.scalar,
            "probes": self.probe,
            "enabled": self.named,
            "disabled": self.named,
        }
        found: dict[str, list[Any]] = {key: [] for key in readers}
        for key, node in self.pairs(root, "the file", tuple(readers)):
            if node.id != "sequence":
                self.wrong(node, f"{key} must be a list")
                continue
            found[key] = [value for item in node.value if (value := readers[key](item)) is not None]
        return found

    def pairs(self, node: Any, where: str, known: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if node is None:
            return
        if node.id != "mapping":
            self.wrong(node, f"{where} must be a mapping with the keys {', '.join(known)}")
            return
        for key, value in node.value:
            if key.value in known:
                yield key.value, value
            else:
                self.wrong(key, f"{where} has no key {key.value!r}; it may have {', '.join(known)}")

    def scalar(self, node: Any) -> str | None:
        if node.id == "scalar" and node.value and "\n" not in node.value:
            return str(node.value)
        self.wrong(node, "must be one line of text")
        return None

    def named(self, node: Any) -> str | None:
        """`gpu.nvidia-smi-q`, `gpu.*`, or a tier such as `kernel`."""
        text = self.scalar(node)
        if text and not load_plan().named(text):
            from difflib import get_close_matches

            near = get_close_matches(text, [name for spec in load_plan().specs for name in (spec.name, spec.tier)], 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            self.wrong(node, f"no probe and no tier is called {text!r}{hint}")
            return None
        return text

    def log(self, node: Any) -> tuple[str, str] | None:
        """`/var/log/my*.log`, or `{path: /var/log/my*.log, label: mine}`."""
        if node.id == "scalar":
            text = self.scalar(node)
            return split_label(text) if text else None
        entry = {key: self.scalar(value) or "" for key, value in self.pairs(node, "a log", ("path", "label"))}
        if not entry.get("path"):
            self.wrong(node, "a log needs a path")
            return None
        return entry["path"], entry.get("label", "")

    def probe(self, node: Any) -> Extra | None:
        """`{name: ports, run: ss -ltnp, seconds: 2, bytes: 65536, why: who listens}`."""
        entry: dict[str, Any] = {}
        for key, value in self.pairs(node, "a probe", ("name", "file", "run", "seconds", "bytes", "why")):
            if value.id != "scalar":
                self.wrong(value, f"{key} must be one value")
                continue
            try:
                entry[key] = {"seconds": float, "bytes": int}.get(key, str)(value.value)
            except ValueError:
                self.wrong(value, f"{key} must be a number, not {value.value!r}")
        if entry.get("bytes", 0) > MOST_BYTES:
            self.wrong(node, f"bytes must be at most {MOST_BYTES}: a member is held in memory")
            return None
        if not entry.get("name") or bool(entry.get("file")) == bool(entry.get("run")):
            self.wrong(node, "a probe needs a name, and either file or run")
            return None
        return Extra(**entry)
