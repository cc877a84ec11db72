"""The report: one JSON object, and renderers that take it and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Report = Mapping[str, Any]
SCHEMA = "postmortem/diagnosis/v1"

__all__ = ["SCHEMA", "Report"]
