"""What was made at build time is what would be made now, or is not used."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from postmortem.engine import patterns_of
from postmortem.errors import SignatureError
from postmortem.prepare import prepare
from postmortem.scan import hyper, needle_of, needles, ready, scanner
from postmortem.signatures import kept, load, load_files, shipped

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src/postmortem"
SAMPLE = ROOT / "samples/syntax-error-zombie/bundle.tar.gz"
SORTS = ["catalogue", "needles", "scan"]
LINES = b"NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus\nOut of memory: Killed process 4 (a)\nok\n" * 3


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "ready"
    prepare(folder)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A copy of the folder, in use."""
    copy = tmp_path / "ready"
    shutil.copytree(made, copy)
    monkeypatch.setattr(ready, "FOLDER", copy)
    forget()
    yield copy
    forget()


def forget() -> None:
    needles._ready.cache_clear()
    scanner._hyperscan.cache_clear()


def never(*args: Any) -> Any:
    raise AssertionError("made anew")


def found(patterns: tuple[str, ...]) -> tuple[Any, ...]:
    one = scanner.build(patterns)
    return one.engine, one.unselective, one.everywhere, one.caseless, one.nominees(LINES)


def used(patterns: tuple[str, ...], cache: Path) -> set[str]:
    """The sorts that are not made anew."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kept, "_read", never)
        patched.setattr(needles, "needle_of", never)
        patched.setattr(scanner, "_compiled", never)
        forget()
        does: dict[str, Callable[[], object]] = {
            "catalogue": lambda: load((), cache),
            "needles": lambda: needles.needles_of(patterns),
            "scan": lambda: scanner.build(patterns),
        }
        return {sort for sort, do in does.items() if quiet(do)}


def quiet(do: Callable[[], object]) -> bool:
    try:
        do()
    except AssertionError:
        return False
    return True


@pytest.fixture(scope="module")
def patterns() -> tuple[str, ...]:
    return patterns_of(load())


def test_ready_needles_are_those_that_would_be_made(folder: Path, patterns: tuple[str, ...]) -> None:
    assert "needles" in used(patterns, folder)
    assert needles.needles_of(patterns) == [needle_of(pattern) for pattern in patterns]


def test_a_pattern_of_the_users_own_is_all_that_is_left_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(needles, "needle_of", lambda pattern: asked.append(pattern) or needle_of(pattern))
    needles.needles_of([*load().patterns, "my own words"])
    assert asked == ["my own words"]


def test_the_ready_catalogue_is_the_one_that_would_be_read(folder: Path, patterns: tuple[str, ...]) -> None:
    cache = folder.parent / "cache"
    assert "catalogue" in used(patterns, cache)
    opened = load((), cache, tested=True)
    assert opened == load()
    assert list(opened.by_id.items()) == list(load().by_id.items())
    assert {s.place.split(":")[0] for s in opened.signatures} == {"signatures.yaml"}
    assert not cache.exists()


def test_a_users_own_file_goes_on_top_of_the_ready_catalogue(folder: Path) -> None:
    entry = "  - {id: %s, title: Mine, role: root, when: [{log: mine}], yes: [mine], no: [other]%s}\n"
    book = folder.parent / "mine.yaml"
    book.write_text("schema: 1\nsignatures:\n" + entry % ("a.mine", "") + entry % ("storage.quota", ""))
    read = load([book])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kept, "_read", never)
        made = load([book], folder.parent / "cache", tested=True)
    assert made == load([book], folder.parent / "cache", tested=True) == read
    assert list(made.by_id) == list(read.by_id)
    book.write_text("schema: 1\nsignatures:\n" + entry % ("a.mine", ", explains: [no.such]"))
    with pytest.raises(SignatureError) as slow:
        load([book])
    with pytest.raises(SignatureError) as quick:
        load([book], folder.parent / "cache", tested=True)
    assert quick.value.mistakes == slow.value.mistakes
    assert "no.such" in str(quick.value)


def test_the_ready_database_finds_what_a_new_one_finds(
    folder: Path, patterns: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "scan" in used(patterns, folder)
    by_ready = found(patterns)
    monkeypatch.setattr(ready, "FOLDER", folder / "nowhere")
    forget()
    assert found(patterns) == by_ready
    assert by_ready[4]


def _flipped(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-40]),
    "a byte changed": _flipped,
    "empty": lambda file: file.write_bytes(b""),
    "of another format": lambda file: file.write_bytes(file.read_bytes().replace(ready.MAGIC, b"postmortem ready 0\n")),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
    "missing": lambda file: file.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("sort", SORTS)
def test_a_damaged_file_is_not_there(
    folder: Path, patterns: tuple[str, ...], sort: str, damage: Callable[[Path], object]
) -> None:
    (file,) = folder.glob(f"{sort}-*")
    damage(file)
    assert used(patterns, folder.parent / "cache") == set(SORTS) - {sort}


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("scan/expression.py", {"needles", "scan"}),
        ("scan/spot.py", {"needles", "scan"}),
        ("lazy.py", {"needles", "scan"}),
        ("signatures/items.py", {"catalogue"}),
        ("model.py", {"catalogue"}),
        ("cli/analyze.py", set()),
    ],
)
def test_what_other_code_made_is_not_there(
    folder: Path, patterns: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, edited: str, stale: set[str]
) -> None:
    package = folder.parent / "package"
    shutil.copytree(SRC, package, ignore=shutil.ignore_patterns("ready", "__pycache__"))
    monkeypatch.setattr(ready, "PACKAGE", package)
    cache = folder.parent / "cache"
    assert used(patterns, cache) == set(SORTS)  # the same content in another place, with other times
    with (package / edited).open("a") as file:
        file.write("# another\n")
    assert used(patterns, cache) == set(SORTS) - stale


@pytest.mark.parametrize(("name", "value"), [("MACHINE", "another"), ("VERSION", "0.0.1")])
def test_a_database_of_another_machine_is_not_there(
    folder: Path, patterns: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setattr(hyper, name, value)
    assert used(patterns, folder) == {"catalogue", "needles"}


def test_hyperscan_refuses_a_database_that_needs_other_instructions(made: Path) -> None:
    (file,) = made.glob("scan-*")
    _, database = scanner.unpacked(ready.unsealed(file.read_bytes(), ready.MAGIC) or b"")
    assert hyper.loaded(database) is not None
    platform = slice(12, 20)  # behind magic, version and length
    assert hyper.loaded(database[:12] + bytes(b ^ 0xFF for b in database[platform]) + database[20:]) is None


def test_an_edited_catalogue_is_seen(folder: Path) -> None:
    book = folder.parent / "signatures.yaml"
    book.write_text(shipped().read_text().replace("title: ", "title: Edited, ", 1))
    cache = folder.parent / "cache"
    assert any(s.title.startswith("Edited, ") for s in load_files([book], cache=cache).signatures)
    assert list(cache.glob("catalogue-*"))


def test_the_report_is_the_same_without_what_is_ready(made: Path, tmp_path: Path) -> None:
    reports = []
    for name in ("with", "without"):
        root = tmp_path / name
        shutil.copytree(SRC, root / "src/postmortem", ignore=shutil.ignore_patterns("ready", "__pycache__"))
        shutil.copy(shipped(), root)
        if name == "with":
            shutil.copytree(made, root / "src/postmortem/ready")
        env = {**os.environ, "PYTHONPATH": str(root / "src"), "XDG_CACHE_HOME": str(root / "cache")}
        command = [sys.executable, "-m", "postmortem", "analyze", SAMPLE, "--format", "json"]
        reports.append(json.loads(subprocess.run(command, check=True, capture_output=True, env=env).stdout))
        assert bool(list(root.glob("cache/postmortem/*"))) is (name == "without")
    assert reports[0] == reports[1]


def test_no_folder_of_the_build_is_told(made: Path) -> None:
    assert sorted(file.name.split("-")[0] for file in made.iterdir()) == SORTS
    for file in made.iterdir():
        assert str(ROOT).encode() not in file.read_bytes()
        assert file.stat().st_mode & 0o044 == 0o044  # for whoever may read the code


def imported(file: Path) -> set[str]:
    """The modules of ours that a file imports."""
    nodes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom) and node.module]
    named = {f"{node.module}.{alias.name}" for node in nodes for alias in node.names} | {str(n.module) for n in nodes}
    return {name for name in named if name.startswith("postmortem.")}


@pytest.mark.parametrize(
    ("start", "code"), [("signatures/reader.py", kept._CODE), ("scan/needles.py", needles.CODE), ("scan/scanner.py", scanner.CODE)]
)  # fmt: skip
def test_the_digest_is_of_all_code_that_makes_it(start: str, code: tuple[str, ...]) -> None:
    seen: set[Path] = set()
    waiting = [SRC / start]
    while waiting:
        file = waiting.pop()
        seen.add(file)
        files = {SRC / f"{name.removeprefix('postmortem.').replace('.', '/')}.py" for name in imported(file)}
        waiting += [other for other in files - seen if other.is_file()]
    assert {f.relative_to(SRC).parts[0] for f in seen} <= set(code)
