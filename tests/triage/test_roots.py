"""Which files and folders are bundles, and what they are called."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from postmortem.errors import UsageError
from postmortem.triage.roots import items, labels
from postmortem.triage.since import parse_since

LAYOUTS: dict[str, tuple[list[str], str, list[str]]] = {
    "archives in folders": (["a/1.tar.gz", "b/2.tgz", "b/c/3.tar"], ".", ["a/1.tar.gz", "b/2.tgz", "b/c/3.tar"]),
    "a partial one": (["1.tar.gz.partial"], ".", ["1.tar.gz.partial"]),
    "other files beside archives": (["1.tar.gz", "README.md", "list.csv"], ".", ["1.tar.gz"]),
    "a file beside folders of archives": (["README", "a/1.tar.gz"], ".", ["a/1.tar.gz"]),
    "a folder of logs": (["dmesg.txt", "sub/app.log"], ".", ["FOLDER"]),
    "folders of logs": (["x/dmesg.txt", "y/app.log"], ".", ["x", "y"]),
    "an unpacked bundle": (["x/manifest.json", "x/files/old.tar.gz", "1.tgz"], ".", ["1.tgz", "x"]),
    "a rotated log is no archive": (["x/syslog.2.gz", "x/syslog"], ".", ["x"]),
    "one file": (["a/1.tar.gz"], "a/1.tar.gz", ["1.tar.gz"]),
    "one file of any name": (["a/run.log"], "a/run.log", ["run.log"]),
    "a pattern": (["a/1.tar.gz", "a/2.log", "b/3.tar.gz"], "*/*.tar.gz", ["a/1.tar.gz", "b/3.tar.gz"]),
    "a pattern of folders": (["a/x/1.tar.gz", "a/y/d.log"], "a/*", ["x/1.tar.gz", "y"]),
    "nothing at all": ([], ".", []),
}


@pytest.mark.parametrize(("files", "root", "want"), LAYOUTS.values(), ids=LAYOUTS)
def test_layouts(tmp_path: Path, files: list[str], root: str, want: list[str]) -> None:
    top = tmp_path / "FOLDER"
    for name in ["", *files]:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).touch() if name else top.mkdir(exist_ok=True)
    found = list(items([str(top / root) if root != "." else str(top)]))
    assert [i.path for i in found] == want
    assert all(os.path.exists(i.place) and os.path.isabs(i.place) for i in found)


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/1.tar.gz").touch()
    (tmp_path / "in/loop").symlink_to(tmp_path)
    assert [i.path for i in items([str(tmp_path / "in")])] == ["1.tar.gz"]


@pytest.mark.parametrize("root", ["nothing/here", "*.tar.gz", "http://h/x"], ids=["path", "pattern", "web"])
def test_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"s3://"):
        list(items([root]))


LABELS = {
    "one": (["/a/b"], [""]),
    "two": (["/a/b", "s3://bucket/c/"], ["b", "c"]),
    "of one name": (["/a/x", "/b/x", "/c/x"], ["x", "x~2", "x~3"]),
}


@pytest.mark.parametrize(("roots", "want"), LABELS.values(), ids=LABELS)
def test_several_roots_have_names(roots: list[str], want: list[str]) -> None:
    assert labels(roots) == want


def test_older_files_are_left_out(tmp_path: Path) -> None:
    for name, when in (("old.tar.gz", 1_700_000_000), ("new.tar.gz", 1_800_000_000)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (when, when))
    since = datetime.fromtimestamp(1_750_000_000, UTC)
    assert [i.path for i in items([str(tmp_path)], since)] == ["new.tar.gz"]


NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TIMES = {
    "36h": "2026-11-29T00:00:00+00:00", "7d": "2026-11-23T12:00:00+00:00", "2026-11-01": "2026-11-01T00:00:00+00:00",
    "2026-11-01T10:00:00+02:00": "2026-11-01T10:00:00+02:00",
}  # fmt: skip


@pytest.mark.parametrize(("text", "want"), TIMES.items(), ids=TIMES)
def test_since(text: str, want: str) -> None:
    assert parse_since(text, NOW).isoformat() == want


@pytest.mark.parametrize("text", ["soon", "7", "d", "-3d", "2026-13-01"])
def test_no_since(text: str) -> None:
    with pytest.raises(ValueError, match="no time like"):
        parse_since(text, NOW)
