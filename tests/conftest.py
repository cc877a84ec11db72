"""What all tests share: property tests draw the same examples everywhere, so that a pass here is a pass there."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("same-everywhere", derandomize=True, deadline=None)
settings.load_profile("same-everywhere")
