"""All times shifted by 400 days, in every form of stamp that the lines room knows."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from evidence import DoesNotApply, Files

DAYS = 400
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_M, _W = "|".join(MONTHS), "|".join(WEEKDAYS)
_TIME = r"\d{1,2}:\d\d:\d\d(?:[.,]\d+)?"
_FORMS = re.compile(
    rf"(?P<iso>(?<![\d-])(?P<iy>20\d\d)(?P<is>[-/])(?P<im>\d\d)(?P=is)(?P<id>\d\d)(?![\d-]))"
    rf"|(?P<compact>(?<!\d)(?P<cy>20\d\d)(?P<cm>[01]\d)(?P<cd>[0-3]\d)(?=[T_-]\d{{4,6}}(?!\d)|\s+\d\d:\d\d))"
    rf"|(?P<ctime>(?P<tw>{_W})(?P<t1>,? +)(?P<tm>{_M})(?P<t2> +)(?P<td>\d{{1,2}})(?P<tr> {_TIME}(?: [AP]M)?(?: [A-Z+][\w:+]{{1,5}})? )(?P<ty>20\d\d))"
    rf"|(?P<http>(?:(?P<hw>{_W}),? +)?(?<![\d.])(?P<hd>\d{{1,2}})(?P<hs>[-/ ])(?P<hm>{_M})(?P=hs)(?P<hy>20\d\d))"
    rf"|(?P<named>(?:(?P<nw>{_W})(?P<n0>,? +))?(?<![A-Za-z])(?P<nm>{_M})(?P<n1> ?)(?P<nd>[ \d]\d)(?P<n2>,? )(?: ?(?P<ny>20\d\d)(?!\d)|(?=\d\d:\d\d)))"
    rf"|(?P<glog>(?<![A-Za-z\d])(?P<gl>[IWEF])(?P<gm>[01]?\d)(?P<gd>[0-3]\d)(?= \d\d:\d\d:\d\d\.\d))"
    rf"|(?P<two>(?:^|(?<=\n))(?P<wy>\d\d)(?P<wm>[01]\d)(?P<wd>[0-3]\d)(?=  ?\d?\d:\d\d:\d\d))"
    rf"|(?P<short>(?<![\d-])(?P<sm>[01]\d)(?P<ss>[-/])(?P<sd>[0-3]\d)(?= \d\d:\d\d:\d\d))"
    rf"|(?P<epoch>(?:(?<=audit\()|(?<=btime )|(?<=epoch: )|(?<=boot_epoch: )|(?<=@)|(?<=TIMESTAMP=)|(?<=TIMESTAMP\":\")|(?<=TIMESTAMP\" : \")|(?<=\"time\":)|(?<=\"ts\":)|(?<=\"t\":)|(?<=\"timestamp\":)|^|(?<=\n)|(?<=\n\[)|(?<=\()(?=\d{{10}}\)))(?P<es>1[5-9]\d{{8}})(?P<er>(?:\d{{3}}|\d{{6}}|\d{{9}})?)(?=[.\s:\",}})\]]))"
)


def shifted(given: Files) -> Files:
    """Every date and epoch moved by 400 days, in texts and in file names; seconds since boot stay."""
    texts = {p: d.decode("utf-8", "surrogateescape") for p, d in given.items()}
    near = reference("\n".join(texts.values()))
    moved = {move(p, near): move(t, near).encode("utf-8", "surrogateescape") for p, t in texts.items()}
    if moved == dict(given):
        raise DoesNotApply
    return moved


def reference(text: str) -> date:
    """A day of the case: its latest one with a year, else an arbitrary one."""
    days = []
    for m in _FORMS.finditer(text):
        if (m["iso"] or m["ctime"] or m["http"]) and (day := dated(m)):
            days.append(day)
    return sorted(days)[len(days) // 2] if days else date(2025, 6, 15)


def dated(m: re.Match[str]) -> date | None:
    try:
        if m["iso"]:
            return date(int(m["iy"]), int(m["im"]), int(m["id"]))
        if m["ctime"]:
            return date(int(m["ty"]), MONTHS.index(m["tm"]) + 1, int(m["td"]))
        return date(int(m["hy"]), MONTHS.index(m["hm"]) + 1, int(m["hd"]))
    except ValueError:
        return None


def move(text: str, near: date) -> str:
    return _FORMS.sub(lambda m: one(m, near), text)


def plus(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day) + timedelta(days=DAYS)
    except ValueError:
        return None


def yearless(month: int, day: int, near: date) -> date | None:
    """The day in the year that brings it nearest to the others, moved."""
    found = []
    for year in (near.year - 1, near.year, near.year + 1):
        try:
            found.append(date(year, month, day))
        except ValueError:
            continue
    best = min(found, key=lambda d: abs(d - near), default=None)
    return best + timedelta(days=DAYS) if best else None


def one(m: re.Match[str], near: date) -> str:
    """One stamp, moved and written in its own form; what is no date stays."""
    form = next(name for name in WRITERS if m[name])
    return WRITERS[form](m, near) or m[0]


def iso(m: re.Match[str], near: date) -> str | None:
    d = plus(int(m["iy"]), int(m["im"]), int(m["id"]))
    return d and f"{d.year}{m['is']}{d.month:02}{m['is']}{d.day:02}"


def compact(m: re.Match[str], near: date) -> str | None:
    d = plus(int(m["cy"]), int(m["cm"]), int(m["cd"]))
    return d and f"{d:%Y%m%d}"


def ctime(m: re.Match[str], near: date) -> str | None:
    d = plus(int(m["ty"]), MONTHS.index(m["tm"]) + 1, int(m["td"]))
    pad = m["t2"] if len(m["td"]) == 2 else m["t2"][:-1] or " "
    return d and f"{WEEKDAYS[d.weekday()]}{m['t1']}{MONTHS[d.month - 1]}{pad[:1]}{d.day:2}{m['tr']}{d.year}"


def http(m: re.Match[str], near: date) -> str | None:
    d = plus(int(m["hy"]), MONTHS.index(m["hm"]) + 1, int(m["hd"]))
    week = f"{WEEKDAYS[d.weekday()]}, " if d and m["hw"] else ""
    return d and f"{week}{d.day:02}{m['hs']}{MONTHS[d.month - 1]}{m['hs']}{d.year}"


def named(m: re.Match[str], near: date) -> str | None:
    month, day = MONTHS.index(m["nm"]) + 1, int(m["nd"])
    d = plus(int(m["ny"]), month, day) if m["ny"] else yearless(month, day, near)
    if d is None:
        return None
    week = f"{WEEKDAYS[d.weekday()]}{m['n0']}" if m["nw"] else ""
    number = f"{d.day:02}" if m["nd"].startswith("0") else f"{d.day:2}"
    tail = m[0][m.end("nd") - m.start() :]
    return week + MONTHS[d.month - 1] + m["n1"] + number + (tail.replace(m["ny"], str(d.year)) if m["ny"] else tail)


def glog(m: re.Match[str], near: date) -> str | None:
    d = yearless(int(m["gm"]), int(m["gd"]), near)
    return d and f"{m['gl']}{d.month:0{len(m['gm'])}}{d.day:02}"


def two(m: re.Match[str], near: date) -> str | None:
    d = plus(2000 + int(m["wy"]), int(m["wm"]), int(m["wd"]))
    return d and f"{d:%y%m%d}"


def short(m: re.Match[str], near: date) -> str | None:
    d = yearless(int(m["sm"]), int(m["sd"]), near)
    return d and f"{d.month:02}{m['ss']}{d.day:02}"


def epoch(m: re.Match[str], near: date) -> str | None:
    return f"{int(m['es']) + DAYS * 86400}{m['er']}"


WRITERS: dict[str, Callable[[re.Match[str], date], str | None]] = {
    "iso": iso, "compact": compact, "ctime": ctime, "http": http, "named": named, "glog": glog, "two": two,
    "short": short, "epoch": epoch,
}  # fmt: skip
