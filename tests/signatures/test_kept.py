"""The kept catalogue: equal to the one read, and never trusted when anything about the file is odd."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from postmortem.errors import SignatureError
from postmortem.scan.cache import keep, kept
from postmortem.signatures import load_files, shipped
from postmortem.signatures.kept import MAGIC, _opened
from postmortem.signatures.patterns import search

TEXT = """
schema: 1
signatures:
  - id: a.one
    title: One
    role: root
    when: [{log: "boom {n}"}]
    yes: ["boom 1"]
    no: ["boom no"]
""".replace("{n}", r"(?P<n>\\d+)")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT)
    return file


def only(folder: Path) -> Path:
    (file,) = folder.glob("catalogue-*")
    return file


def test_the_kept_catalogue_equals_the_one_that_was_read(tmp_path: Path) -> None:
    cache, book = tmp_path / "cache", tmp_path / "all.yaml"
    book.write_text(shipped().read_text() + "# not the one that comes with the package\n")
    read, written, opened = load_files([book]), load_files([book], cache=cache), load_files([book], cache=cache)
    assert opened == written == read
    assert [s.place for s in opened.signatures] == [s.place for s in read.signatures]
    assert only(cache).stat().st_mode & 0o077 == 0


def test_what_is_kept_is_read_without_yaml(tmp_path: Path, book: Path) -> None:
    load_files([book], cache=tmp_path)
    code = (
        "import sys; from pathlib import Path; from postmortem.signatures import load_files;"
        f"load_files([Path({str(book)!r})], cache=Path({str(tmp_path)!r})); sys.exit('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_edit_is_seen_at_once(tmp_path: Path, book: Path) -> None:
    assert load_files([book], cache=tmp_path).signatures[0].title == "One"
    book.write_text(TEXT.replace("title: One", "title: Two"))
    assert load_files([book], cache=tmp_path).signatures[0].title == "Two"


def _write(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda file: file.write_bytes(change(file.read_bytes())) and None


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut": _write(lambda data: data[:-40]),
    "a byte changed": _write(lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]),
    "empty": _write(lambda data: b""),
    "of another format": _write(lambda data: data.replace(b"catalogue 2", b"catalogue 0")),
    "writable by the group": lambda file: file.chmod(0o660),
    "writable by all": lambda file: file.chmod(0o666),
    "in a folder that all can write": lambda file: file.parent.chmod(0o777),
    "a link": lambda file: (file.rename(file.parent / "moved"), file.symlink_to("moved")),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_an_odd_file_is_not_there(tmp_path: Path, book: Path, damage: Callable[[Path], object]) -> None:
    folder = tmp_path / "cache"
    first = load_files([book], cache=folder)
    file = only(folder)
    assert kept(file, MAGIC) is not None
    damage(file)
    assert kept(file, MAGIC) is None
    assert load_files([book], cache=folder) == first


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_not_there(tmp_path: Path, book: Path) -> None:
    load_files([book], cache=tmp_path)
    os.chown(only(tmp_path), 1234, -1)
    assert kept(only(tmp_path), MAGIC) is None


class _Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("made-by-a-pickle",)


STRANGERS = {
    "a call": pickle.dumps((_Evil(), "", ())),
    "a function of an allowed module": b"cpostmortem.model\nnothing\n(tR.",
    "an attribute of a class": b"\x80\x04\x8c\x10postmortem.model\x8c\x0cKind.KERNEL\x93.",
    "another shape": pickle.dumps(7),
    "not a pickle": b"hello",
    "nothing": b"",
}


@pytest.mark.parametrize("body", STRANGERS.values(), ids=STRANGERS)
def test_a_pickle_makes_nothing_but_a_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    monkeypatch.chdir(tmp_path)
    assert _opened(body) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["/proc/nowhere", "/dev/null/x"])
def test_where_nothing_can_be_kept_it_is_read_each_time(book: Path, place: str) -> None:
    assert load_files([book], cache=Path(place)) == load_files([book])


def test_old_files_are_removed(tmp_path: Path) -> None:
    for number in range(30):
        keep(tmp_path / f"catalogue-{number}", MAGIC, b"x")
        keep(tmp_path / f"scan-{number}", MAGIC, b"x")
    assert len(list(tmp_path.glob("catalogue-*"))) == 12
    assert (tmp_path / "catalogue-29").exists()
    assert shipped().exists()


def test_a_pattern_that_was_taken_for_tested_is_named_when_it_cannot_be_compiled() -> None:
    with pytest.raises(SignatureError, match=r"bad pattern 'a\(b': .*run `postmortem signatures check`"):
        search("a(b", "text")


def test_a_tested_file_is_read_without_compiling_its_patterns(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT.replace(r"(?P<n>\\d+)", "("))
    with pytest.raises(SignatureError, match="bad pattern"):
        load_files([file])
    assert load_files([file], tested=file).patterns == ("boom (",)
