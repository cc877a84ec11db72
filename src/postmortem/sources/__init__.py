"""Members of a bundle -> sources: what each is, its text, and the lines that the scanner nominated."""

from __future__ import annotations

from postmortem.sources.identify import Identity, identify
from postmortem.sources.names import rotation, without_compression
from postmortem.sources.read import read_sources
from postmortem.sources.source import Source

__all__ = ["Identity", "Source", "identify", "read_sources", "rotation", "without_compression"]
