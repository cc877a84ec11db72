"""postmortem: saves the evidence of a failed machine, and says what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from postmortem.analysis import analyze as analyze
    from postmortem.report import Report as Report

__version__ = "0.1.0"
__all__ = ["Report", "__version__", "analyze"]


def __getattr__(name: str) -> object:
    """`analyze` and `Report` on first use: the command line's help must not wait for the scan engine."""
    if name == "analyze":
        from postmortem.analysis import analyze

        return analyze
    if name == "Report":
        from postmortem.report import Report

        return Report
    raise AttributeError(f"module 'postmortem' has no attribute {name!r}")
