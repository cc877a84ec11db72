"""Regular expressions that are compiled when they are used: one diagnosis uses few of the hundreds that there are."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "groupindex", "groups")


class _Lazy:
    """Stands in for a compiled pattern; after the first use its methods are the pattern's own."""

    def __init__(self, source: Any, flags: int) -> None:
        self.pattern = source
        self._asked = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._asked)
        self.flags = compiled.flags
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, but compiled later; a mistake in the source (re.error) is found at its first use."""
    return cast("re.Pattern[AnyStr]", _Lazy(source, flags))
