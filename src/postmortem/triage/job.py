"""What a worker is given and gives back: small values that cross processes and machines."""

from __future__ import annotations

from dataclasses import dataclass

from postmortem.triage.row import Row


@dataclass(frozen=True, slots=True)
class Item:
    """A bundle to read: its path relative to the root that was given, and where it is (a local path or a URL)."""

    path: str
    place: str
    stamp: str = ""  # an object's ETag and size; empty for local files, whose bytes are hashed instead


@dataclass(frozen=True, slots=True)
class Options:
    """How bundles are read; the same in every worker."""

    catalogue: str  # digest that every worker must have
    wall_s: float = 60.0
    memory_bytes: int = 2 << 30  # of address space, for one bundle
    signatures: tuple[tuple[str, str], ...] = ()  # (name, text) of the user's files
    now: str = ""  # RFC 3339
    tz: str = ""
    reports: str = ""  # a folder for one HTML report of each bundle; empty: none


@dataclass(frozen=True, slots=True)
class Batch:
    """Items for one worker; with `only_identify` their content hashes are all that is wanted."""

    items: tuple[Item, ...]
    options: Options
    only_identify: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """What came of one item: a row (or only its hash), and what is not the same in every run."""

    item: Item
    id: str
    row: Row | None = None
    seconds: float = 0.0
    worker: str = ""
