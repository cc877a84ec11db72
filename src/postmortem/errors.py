"""The exception tree.

PostmortemError
├── BundleError       the input cannot be read at all
├── SignatureError    a signature file is wrong; carries every mistake as file:line:column
├── ReportError       a saved report cannot be used
├── CollectError      nothing could be collected or written
└── UsageError        arguments that cannot be meant
"""

from __future__ import annotations


class PostmortemError(Exception):
    """A failure that the command line turns into one sentence and an exit status."""


class BundleError(PostmortemError):
    """The input cannot be read at all."""


class SignatureError(PostmortemError):
    """A signature file is wrong; `mistakes` holds one `file:line:column: what; what to do` line each."""

    def __init__(self, mistakes: tuple[str, ...]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


class ReportError(PostmortemError):
    """A saved report cannot be used."""


class CollectError(PostmortemError):
    """Nothing could be collected, or nothing could be written."""


class UsageError(PostmortemError):
    """Arguments that cannot be meant."""
