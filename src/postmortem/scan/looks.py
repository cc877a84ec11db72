"""Two looks at a block: a pass over all of it for spots and whole needles, and a second look at lines with a spot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postmortem.scan import hyper
from postmortem.scan.plan import Plan
from postmortem.scan.second import End, Finder, Second

if TYPE_CHECKING:
    from postmortem.scan.crowd import Numbers


class Looks:
    """What stands in a block, by a plan and the database of its first pass."""

    def __init__(self, plan: Plan, first: Finder) -> None:
        self._first = first
        self.second = Second(plan, lambda wanted: hyper.finder(made) if (made := hyper.compiled(wanted)) else None)

    def first(self, data: bytes) -> hyper.Raw:
        """What the first pass finds: needles, and spots with numbers from `hyper.SPOT` on."""
        return self._first(data)

    def ends(self, data: bytes, raw: hyper.Raw) -> list[End]:
        """The ends of needles, by what the first pass found."""
        found = list(zip(*raw, strict=True))
        spots = [(end, number - hyper.SPOT) for end, number in found if number >= hyper.SPOT]
        if not spots:
            return found
        return [end for end in found if end[1] < hyper.SPOT] + self.second.ends(data, spots)

    def lines(self, data: bytes, newlines: Numbers, raw: hyper.Raw, patterns: int) -> Numbers:
        """The same as `line * patterns + needle`, for many finds."""
        from postmortem.scan.crowd import lines

        return lines(self.second, data, newlines, raw, patterns)

    def search(self, data: bytes) -> list[End]:
        """The ends of needles in a block."""
        return self.ends(data, self._first(data))
