"""Programs whose level stands in front of the stamp: glog, vLLM, logrus on a terminal, tini."""

from __future__ import annotations

from postmortem.lazy import lazy
from postmortem.lines import stamps
from postmortem.lines.levels import BARE, LETTERS, level_of
from postmortem.lines.programs import after_level
from postmortem.lines.types import Head, Stamp

_GLOG = lazy(r"\[?([IWEFDCV])(\d{1,2})(\d\d) (\d\d:\d\d:\d\d)\.(\d{1,9})\s+(?:(\d+)\s+)?(?:[\w./+<>-]+:\d+)\] ?")
_GLOG_EPOCH = lazy(r"([IWEF])0000 00:00:(\d{10})\.(\d{1,9})\s+(\d+) [\w./+-]+:\d+\] ?")
_LEVEL_FIRST = lazy(rf"(?P<b>\[)?(?P<w>{BARE})(?(b)\]|(?=[ :\t])) ?:?[ \t]*")
_VLLM_PLACE = lazy(r" \[[\w./-]+\.\w+:\d+\] ?")
_BASIC = lazy(r"(DEBUG|INFO|WARNING|ERROR|CRITICAL):([\w.]+):")
_TINI = lazy(r"\[([A-Z]{4,5}) +(\w[\w.-]*) \((\d+)\)\] ")
_LOGRUS_TTY = lazy(r"(DEBU|INFO|WARN|ERRO|FATA|PANI|TRAC)\[(\d{4,})\] ?")
_SUBMITIT = lazy(rf"([\w.-]+) ({BARE}) \(([^()]{{19,32}})\) - ")


def glog(head: Head) -> bool:
    """`E1218 20:27:21.426415 12345 file.cc:629] text` (glog, klog), `[W1218 … file.cpp:629] text` (PyTorch)."""
    m = _GLOG.match(head.text)
    if m:
        stamp = stamps.wall(m[0][m.start(2) - m.start() : m.end(5) - m.start()], (0, int(m[2]), int(m[3])), m[4], m[5])
        pid = m[6]
    elif m := _GLOG_EPOCH.match(head.text):
        stamp, pid = stamps.epoch(m[2], m[3]), m[4]
    if not m or stamp is None:
        return False
    head.stamps.append(stamp)
    head.level = LETTERS[m[1]]
    head.pid = pid or head.pid
    head.text = head.text[m.end() :]
    return True


def level_first(head: Head) -> bool:
    """`INFO 05-01 12:00:00 [file.py:12] text` (vLLM), `INFO:root:text`, `[INFO] text`, `INFO[0012] text` (logrus)."""
    text = head.text
    if m := _BASIC.match(text):
        head.level, head.program, head.text = level_of(m[1]), m[2], text[m.end() :]
        return True
    if m := _LOGRUS_TTY.match(text):
        head.level = level_of(m[1])
        head.stamps.append(Stamp(m[2], "start", None, float(m[2]), 1.0))
        head.text = text[m.end() :].lstrip()
        return True
    m = _LEVEL_FIRST.match(text)
    if not m:
        return False
    head.level = level_of(m["w"])
    got = stamps.iso(text, m.end()) or stamps.numeric(text, m.end()) if text[m.end() : m.end() + 1].isdigit() else None
    if got:
        head.stamps.append(got[0])
        head.text = text[got[1] :]
        if place := _VLLM_PLACE.match(head.text):
            head.text = head.text[place.end() :]
        else:
            after_level(head, 0)
    elif m["b"]:
        head.text = text[m.end() :]
    return bool(got or m["b"])


def named_level(head: Head) -> bool:
    """`submitit WARNING (2022-07-12 04:18:45,881) - text`, `[INFO  tini (1)] text`."""
    if m := _TINI.match(head.text):
        head.level, head.program, head.pid = level_of(m[1]), m[2], m[3]
    elif (m := _SUBMITIT.match(head.text)) and (got := stamps.iso(m[3])):
        head.program, head.level = m[1], level_of(m[2])
        head.stamps.append(got[0])
    else:
        return False
    head.text = head.text[m.end() :]
    return True
