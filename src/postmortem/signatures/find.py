"""Where the catalogue is: beside the installed package, else at the top of the checkout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from postmortem.errors import SignatureError

NAME = "signatures.yaml"
PACKAGE = Path(__file__).resolve().parent.parent


def shipped(package: Path = PACKAGE) -> Path:
    """The catalogue of this installation. Raises SignatureError when it is in neither place.

    A wheel holds it inside the package; an editable install leaves it two folders up, where an edit is seen at once.
    """
    places = (package / NAME, package.parent.parent / NAME)
    for place in places:
        if place.is_file():
            return place
    where = " and ".join(str(place) for place in places)
    raise SignatureError((f"{places[0]}:1:1: there is no catalogue (looked at {where}); install postmortem again",))


def paths(user: Sequence[Path] = (), package: Path = PACKAGE) -> tuple[Path, ...]:
    """The shipped catalogue and the user's files, which add entries or replace those of the same id."""
    return (shipped(package), *user)
