"""Forms of the kernel's own log: dmesg with its options, /dev/kmsg, pstore and serial consoles."""

from __future__ import annotations

from postmortem.lazy import lazy
from postmortem.lines.levels import BY_NUMBER, level_of
from postmortem.lines.stamps import MONTHS, wall
from postmortem.lines.types import Head, Stamp

LONGEST_UPTIME = len("999999999.999999")  # 31 years; with one digit more they are seconds since 1970
_FACILITY = lazy(
    r"(kern|user|mail|daemon|auth|syslog|lpr|news|uucp|cron|authpriv|ftp|res\d|local\d) *:"
    r"(emerg|alert|crit|err|warn|notice|info|debug) *: ?"
)
_KMSG = lazy(r"(\d{1,3}),(\d+),(\d+),([-cf+])[^;]{0,80};")
_PRI = lazy(r"<(\d{1,3})>")
_CALLER = lazy(r"\[ *[TC]\d+\] ?")
_DELTA = lazy(r"\[(?: *(\d+\.\d{6}))? *(?:<|\+|\[) *(\d+\.\d{6})>?\] ?")
_RELTIME = lazy(r"\[([A-Z][a-z]{2}) ?(\d{1,2}) (\d\d:\d\d)\] ?")
_CTIME = lazy(r"\[(?:([^\s\]\d]+) +)?(\S{2,12}) +(\d{1,2})\.? (\d\d:\d\d:\d\d) (\d{4})(?: <[ \d.]+>)?\] ?")
_MONTH_NUMBER = lazy(r"(\d{1,2})(?:月|월|\.)?$")

# Month names as `dmesg -T` prints them in the reader's locale: the first letters that tell them apart.
_FOREIGN = {
    "jän": 1, "janv": 1, "ene": 1, "gen": 1, "янв": 1, "sty": 1, "févr": 2, "fév": 2, "fev": 2, "фев": 2, "lut": 2,
    "mär": 3, "mars": 3, "мар": 3, "mrt": 3, "mrz": 3, "maa": 3, "avr": 4, "abr": 4, "апр": 4, "kwi": 4,
    "mai": 5, "мая": 5, "май": 5, "mag": 5, "mei": 5, "maj": 5, "июн": 6, "juin": 6, "giu": 6, "cze": 6,
    "июл": 7, "juil": 7, "lug": 7, "lip": 7, "août": 8, "aoû": 8, "ago": 8, "авг": 8, "sie": 8, "set": 9, "сен": 9,
    "wrz": 9, "okt": 10, "ott": 10, "out": 10, "окт": 10, "paź": 10, "ноя": 11, "lis": 11, "dez": 12, "dic": 12,
    "déc": 12, "дек": 12, "gru": 12,
}  # fmt: skip


def boot(text: str, seconds: str) -> Stamp:
    """Seconds since boot as a stamp; resolution by the number of decimals."""
    decimals = len(seconds) - seconds.find(".") - 1 if "." in seconds else 0
    return Stamp(text, "boot", None, float(seconds), 10.0**-decimals)


def dmesg(head: Head) -> bool:
    """`[ 1564.395772] text` (dmesg), also with the printk caller `[ 1564.395772][  T312] text`."""
    text = head.text
    end = text.find("]", 1, 24)
    if end < 9 or text[end - 7] != "." or not text[end - 6 : end].isdigit():
        return False
    inner = text[1:end].lstrip()
    if not inner[:-7].isdigit() or len(inner) > LONGEST_UPTIME:
        return False
    head.stamps.append(Stamp(text[: end + 1], "boot", None, float(inner), 1e-6))
    if text.startswith("[", end + 1) and (m := _CALLER.match(text, end + 1)):
        head.text = text[m.end() :]
    else:
        head.text = text[end + 2 if text[end + 1 : end + 2] == " " else end + 1 :]
    head.kernel = True
    return True


def dmesg_delta(head: Head) -> bool:
    """`[  +0.000012] text`, `[Feb23 16:24] text` (dmesg -H, -e), `[    1.234567 <    0.000012>] text` (dmesg -d)."""
    if m := _DELTA.match(head.text):
        stamp = boot(m[0].rstrip(), m[1]) if m[1] else Stamp(m[0].rstrip(), "delta", None, float(m[2]), 1e-6)
        head.stamps.append(stamp)
    elif (m := _RELTIME.match(head.text)) and m[1] in MONTHS:
        found = wall(m[0].rstrip(), (0, MONTHS[m[1]], int(m[2])), m[3] + ":00")
        if not found:
            return False
        head.stamps.append(Stamp(found.text, "wall", found.wall, None, 60.0, has_year=False))
    else:
        return False
    head.text = head.text[m.end() :]
    head.kernel = True
    return True


def month_of(word: str) -> int | None:
    """The month that a word names in some locale (`Feb`, `févr.`, `2月`), or None."""
    if word in MONTHS:
        return MONTHS[word]
    if m := _MONTH_NUMBER.match(word):
        return int(m[1]) if 1 <= int(m[1]) <= 12 else None
    low = word.lower().rstrip(".")
    return MONTHS.get(low[:3].capitalize()) or _FOREIGN.get(low) or _FOREIGN.get(low[:4]) or _FOREIGN.get(low[:3])


def dmesg_ctime(head: Head) -> bool:
    """`[Sun Feb 23 16:24:18 2025] text` (dmesg -T); weekday and month in the reader's language."""
    m = _CTIME.match(head.text)
    month = month_of(m[2]) if m else None
    if not m or month is None:
        return False
    stamp = wall(m[0].rstrip(), (int(m[5]), month, int(m[3])), m[4])
    if stamp is None:
        return False
    head.stamps.append(stamp)
    head.text = head.text[m.end() :]
    head.kernel = True
    return True


def facility(head: Head) -> bool:
    """`kern  :warn  : [ 1564.39] text` (dmesg -x): takes off facility and level."""
    m = _FACILITY.match(head.text)
    if not m:
        return False
    head.level = level_of(m[2])
    head.kernel = True
    head.text = head.text[m.end() :]
    return True


def kmsg(head: Head) -> bool:
    """`6,1234,5678901234,-;text` (/dev/kmsg: priority, sequence, µs since boot, flags)."""
    m = _KMSG.match(head.text)
    if not m:
        return False
    head.level = BY_NUMBER[int(m[1]) & 7]
    head.stamps.append(Stamp(m[0], "boot", None, int(m[3]) / 1e6, 1e-6))
    head.kernel = True
    head.text = head.text[m.end() :]
    return True


def priority(head: Head) -> bool:
    """`<4>[  201.674912] text` (pstore, serial console), `<13>May  6 …`: takes off the priority."""
    m = _PRI.match(head.text)
    if not m or int(m[1]) > 191:
        return False
    head.level = BY_NUMBER[int(m[1]) & 7]
    head.kernel = head.kernel or int(m[1]) < 8
    head.text = head.text[m.end() :]
    return True
