"""Level words -> one lower-case vocabulary."""

from __future__ import annotations

BY_NUMBER = ("emergency", "alert", "critical", "error", "warn", "notice", "info", "debug")  # syslog priorities
PINO = {"10": "trace", "20": "debug", "30": "info", "40": "warn", "50": "error", "60": "fatal"}
LETTERS = {
    "I": "info",
    "W": "warn",
    "E": "error",
    "F": "fatal",
    "D": "debug",
    "V": "trace",
    "C": "critical",
}

_SAME = "trace debug info notice warn error fatal critical panic alert emergency"
_OTHER = {
    "warning": "warn", "wrn": "warn", "err": "error", "severe": "error", "crit": "critical", "emerg": "emergency",
    "information": "info", "inf": "info", "note": "notice", "dbg": "debug", "debu": "debug", "erro": "error",
    "fata": "fatal", "fine": "debug", "finer": "trace", "finest": "trace", "verbose": "trace", "system": "notice",
    "log": "info", "dpanic": "panic", "success": "info", "config": "info", "statement": "info", "hint": "info",
    "detail": "info",
}  # fmt: skip
WORDS: dict[str, str] = {w: w for w in _SAME.split()} | _OTHER

# Words that stand bare in front of a message; the rest of WORDS counts only in brackets or as a field's value.
BARE = (
    "TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|ERR|FATAL|CRITICAL|CRIT|PANIC|SEVERE|ALERT|EMERG|SUCCESS|DPANIC"
    "|Trace|Debug|Info|Notice|Warning|Warn|Error|Fatal|Critical|FINE|FINER|FINEST|VERBOSE"
)


def level_of(word: str) -> str:
    """The normal form of a level as a logger prints it (`WARNING`, `Err`, pino's `50`), or "" for another word."""
    return WORDS.get(word.lower()) or PINO.get(word, "")
