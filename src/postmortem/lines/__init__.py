"""One raw line of a log -> its stamp, writer and message.

A line is peeled from the outside in: what carried it (docker's JSON, a compose prefix), who logged it (syslog, the
kernel), what the program itself put in front (stamp, level, target). Each layer is a small function in the file of its
family of dialects; the name of the outermost layer that has one is the dialect.
"""

from __future__ import annotations

from postmortem.lines.peel import best_stamp, dialect_of, split, stamps_of
from postmortem.lines.types import Line, Stamp

__all__ = ["Line", "Stamp", "best_stamp", "dialect_of", "split", "stamps_of"]
