"""Where the catalogue is, in a wheel and in an editable install."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import entry

from postmortem.errors import SignatureError
from postmortem.signatures import load_files, paths, shipped

TOP = "schema: 1\nsignatures:\n"


def package(root: Path, beside: bool = False, on_top: bool = False) -> Path:
    """`src/postmortem` below root, with a catalogue in it, at the top, or both."""
    folder = root / "src" / "postmortem"
    folder.mkdir(parents=True)
    for there, place, title in ((beside, folder, "beside"), (on_top, root, "top")):
        if there:
            (place / "signatures.yaml").write_text(TOP + entry(f"title: {title}\nwhen: [{{event: exit}}]"))
    return folder


@pytest.mark.parametrize(
    ("beside", "on_top", "title"),
    [(True, False, "beside"), (False, True, "top"), (True, True, "beside")],
    ids=["wheel", "editable install", "a wheel inside a checkout"],
)
def test_the_catalogue_of_the_installation(tmp_path: Path, beside: bool, on_top: bool, title: str) -> None:
    place = package(tmp_path, beside, on_top)
    assert [s.title for s in load_files(paths((), place)).signatures] == [title]


def test_an_edit_at_the_top_of_the_checkout_is_seen(tmp_path: Path) -> None:
    place = package(tmp_path, on_top=True)
    (tmp_path / "signatures.yaml").write_text(TOP + entry("title: Edited\nwhen: [{event: exit}]"))
    assert [s.title for s in load_files(paths((), place)).signatures] == ["Edited"]


def test_no_catalogue_names_both_places(tmp_path: Path) -> None:
    place = package(tmp_path)
    with pytest.raises(SignatureError, match="there is no catalogue") as caught:
        shipped(place)
    assert all(str(p / "signatures.yaml") in str(caught.value) for p in (place, tmp_path))


def test_user_files_come_after_the_shipped_one(tmp_path: Path) -> None:
    place = package(tmp_path, on_top=True)
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        TOP + entry("id: c.d\ntitle: Added\nwhen: [{event: exit}]") + entry("title: Mine\nwhen: [{event: exit}]")
    )
    book = load_files(paths([mine], place))
    assert {s.id: s.title for s in book.signatures} == {"a.b": "Mine", "c.d": "Added"}
