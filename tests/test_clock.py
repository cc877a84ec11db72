"""Stamps of several sources on one time line: years, dates, zones, boot seconds, and what stays unknown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmortem.clock import Clock, before, make_clocks, year_known
from postmortem.clock.calendar import day_steps, with_years
from postmortem.lines import dialect_of
from postmortem.model import Instant, Kind, State
from postmortem.sources import Source
from postmortem.text import text_of


def source(path: str, text: str, kind: Kind = Kind.LOG, state: State = State.WHOLE) -> Source:
    return Source(path, kind, state, text_of(text), dialect_of(text.splitlines()))


def z(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def clock_of(text: str, kind: Kind = Kind.LOG, now: datetime | None = None) -> Clock:
    return make_clocks([source("a", text, kind)], now)[0]["a"]


def utc(clock: Clock, number: int) -> datetime | None:
    got = clock.instant(number)
    return got.utc if got else None


def known(clock: Clock, number: int) -> bool:
    got = clock.instant(number)
    assert got is not None
    return got.zone_known


# ---- zones

ZONED = [
    ("Z", "2026-05-01T12:00:00Z x", z(2026, 5, 1, 12)),
    ("offset", "2026-05-01T12:00:00+02:00 x", z(2026, 5, 1, 10)),
    ("no colon", "2026-05-01T12:00:00-0730 x", z(2026, 5, 1, 19, 30)),
    ("CEST", "Fri May  1 12:00:00 CEST 2026", z(2026, 5, 1, 10)),
    ("CET", "Sun Nov  1 12:00:00 CET 2026", z(2026, 11, 1, 11)),
    ("PDT", "Fri May  1 12:00:00 PDT 2026", z(2026, 5, 1, 19)),
    ("PST", "Thu Jan  1 12:00:00 PST 2026", z(2026, 1, 1, 20)),
    ("AEST", "2026-05-01 12:00:00 AEST x", z(2026, 5, 1, 2)),
    ("ACST", "2026-05-01 12:00:00 ACST x", z(2026, 5, 1, 2, 30)),
]


@pytest.mark.parametrize(("raw", "want"), [r[1:] for r in ZONED], ids=[r[0] for r in ZONED])
def test_a_stamp_with_a_zone_is_converted(raw: str, want: datetime) -> None:
    clock = clock_of(raw)
    assert utc(clock, 1) == want
    assert known(clock, 1)


@pytest.mark.parametrize("raw", ["2026-05-01 12:00:00 x", "Fri May  1 12:00:00 CST 2026", "2026-05-01 12:00:00 IST x"])
def test_an_unknown_zone_is_read_as_utc_and_said_to_be_unknown(raw: str) -> None:
    clock = clock_of(raw)
    assert utc(clock, 1) == z(2026, 5, 1, 12)
    assert not known(clock, 1)


def test_mixed_offsets_in_one_file_each_count_for_themselves() -> None:
    clock = clock_of("2026-05-01T12:00:00+02:00 a\n2026-05-01T12:00:00Z b\n2026-05-01T12:00:00-05:00 c\n")
    assert [utc(clock, n) for n in (1, 2, 3)] == [z(2026, 5, 1, 10), z(2026, 5, 1, 12), z(2026, 5, 1, 17)]


def test_the_given_zone_holds_through_summer_time() -> None:
    text = "2026-03-29 01:30:00 a\n2026-03-29 03:30:00 b\n"
    clocks, _ = make_clocks([source("a", text)], tz=ZoneInfo("Europe/Berlin"))
    assert [utc(clocks["a"], n) for n in (1, 2)] == [z(2026, 3, 29, 0, 30), z(2026, 3, 29, 1, 30)]
    assert known(clocks["a"], 1)


TIMEDATECTL = (
    "               Local time: Fri 2026-05-01 20:31:17 +08\n           Universal time: Fri 2026-05-01 12:31:17 UTC\n"
    "                Time zone: Asia/Manila (PST, +0800)\n"
)
COLLECTOR = "utc: 2026-05-01T12:31:17Z\nepoch: 1777638677\ntz: unset\nlocal: 2026-05-01T20:31:17+0800 PST\n"


@pytest.mark.parametrize("notes", [TIMEDATECTL, COLLECTOR], ids=["timedatectl", "collector"])
def test_the_machines_own_zone_is_used(notes: str) -> None:
    sources = [source("app.log", "2026-05-01 20:12:07.884 panic\n"), source("clock/start", notes, Kind.HOST)]
    clocks, _ = make_clocks(sources)
    assert utc(clocks["app.log"], 1) == z(2026, 5, 1, 12, 12, 7, 884000)
    assert known(clocks["app.log"], 1)


def test_the_machines_zone_is_not_used_where_it_would_lead_past_the_end() -> None:
    zone = "                Time zone: America/New_York (EDT, -0400)\n"
    sources = [source("container.log", "2026-05-01 12:12:07 x\n"), source("timedatectl", zone, Kind.LISTING)]
    clocks, _ = make_clocks(sources, now=z(2026, 5, 1, 12, 31))
    assert utc(clocks["container.log"], 1) == z(2026, 5, 1, 12, 12, 7)
    assert not known(clocks["container.log"], 1)


def test_two_zones_in_one_bundle_say_nothing() -> None:
    other = TIMEDATECTL.replace("Asia/Manila (PST, +0800)", "Europe/Paris (CEST, +0200)")
    sources = [
        source("a", "2026-05-01 20:12:07 x\n"),
        source("t1", TIMEDATECTL, Kind.LISTING),
        source("t2", other, Kind.LISTING),
    ]
    assert not known(make_clocks(sources)[0]["a"], 1)


SHOWS_OFFSET = [
    ("inner stamp", 'Aug 31 23:43:01 h d[1]: time="2015-08-31T21:42:59.1Z" level=info msg=a\nAug 31 23:43:02 h k[1]: b\n', 2, z(2015, 8, 31, 21, 43, 2)),
    ("date line", "2026-05-01 12:00:00 a\nFri May  1 12:00:01 CEST 2026\n2026-05-01 12:00:02 b\n", 3, z(2026, 5, 1, 10, 0, 2)),
    ("neighbours", "2026-05-01 18:00:00 a\n2026-05-01T12:30:00Z b\n2026-05-01 18:00:01 c\n", 3, z(2026, 5, 1, 12, 30, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "number", "want"), [r[1:] for r in SHOWS_OFFSET], ids=[r[0] for r in SHOWS_OFFSET])
def test_the_offset_is_seen_where_a_source_prints_both(text: str, number: int, want: datetime) -> None:
    clock = clock_of(text, Kind.JOURNAL if "Aug 31" in text else Kind.LOG)
    assert utc(clock, number) == want
    assert known(clock, number)


def test_neighbours_that_are_no_whole_offset_apart_show_none() -> None:
    clock = clock_of("2026-05-01 18:07:00 a\n2026-05-01T12:00:00Z b\n2026-05-01 18:09:00 c\n")
    assert not known(clock, 1)


# ---- which came first


def at(seconds: float, plus_minus: float = 0.5, zone: bool = True) -> Instant:
    return Instant(z(2026, 5, 1) + timedelta(seconds=seconds), plus_minus, zone)


BEFORE = [
    ("clear", at(0), at(2), True),
    ("clear, other way", at(2), at(0), False),
    ("overlap", at(0), at(0.9), None),
    ("touching", at(0), at(1), None),
    ("same", at(0), at(0), None),
    ("both without zone", at(0, zone=False), at(2, zone=False), True),
    ("one without zone", at(0, zone=False), at(3600), None),
    ("one without zone, days apart", at(0, zone=False), at(86400), True),
    ("unknown", None, at(0), None),
    ("wide", at(0, 60), at(59), None),
    ("year unknown on one side", Instant(z(1904, 5, 1)), at(0), None),
    ("year unknown on both", Instant(z(1904, 5, 1)), Instant(z(1904, 5, 2)), True),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "want"), [r[1:] for r in BEFORE], ids=[r[0] for r in BEFORE])
def test_order_holds_only_beyond_the_uncertainty(a: Instant | None, b: Instant | None, want: bool | None) -> None:
    assert before(a, b) is want


@given(st.floats(-1e6, 1e6), st.floats(0, 1e4), st.floats(0, 1e4), st.booleans(), st.booleans())
def test_order_is_never_claimed_both_ways(apart: float, p: float, q: float, za: bool, zb: bool) -> None:
    a, b = at(0, p, za), at(apart, q, zb)
    there, back = before(a, b), before(b, a)
    assert (there is None) == (back is None)
    assert there is None or there != back
    assert before(a, at(0, p, za)) is None


# ---- years

YEARS = [
    ("turn of the year", "Dec 31 23:59:59 h a[1]: x\nJan  1 00:00:01 h a[1]: y\n", z(2026, 1, 2), [2025, 2026]),
    ("same year", "Jan  5 00:00:01 h a[1]: x\nMay  5 00:00:01 h a[1]: y\n", z(2026, 5, 6), [2026, 2026]),
    ("all of last year", "Nov  5 00:00:01 h a[1]: x\nDec  5 00:00:01 h a[1]: y\n", z(2026, 5, 6), [2025, 2025]),
    ("quiet winter", "Dec  1 00:00:00 h a[1]: x\nJan 20 00:00:00 h a[1]: y\n", z(2026, 1, 21), [2025, 2026]),
    ("late line", "Dec 31 23:59:58 h a[1]: x\nJan  1 00:00:00 h a[1]: y\nDec 31 23:59:59 h a[1]: z\n", z(2026, 1, 1, 1), [2025, 2026, 2025]),
    ("leap day", "Feb 28 10:00:00 h a[1]: x\nFeb 29 10:00:00 h a[1]: y\nMar  1 10:00:00 h a[1]: z\n", z(2025, 6, 1), [2024, 2024, 2024]),
    ("leap day this year", "Feb 29 10:00:00 h a[1]: y\n", z(2024, 3, 1), [2024]),
    ("a leap day that cannot be", "May  5 10:00:00 h a[1]: x\nFeb 29 10:00:00 h a[1]: y\nMay  6 10:00:00 h a[1]: z\n", z(2026, 6, 1), [2026, None, 2026]),
    ("clock not yet set", "Dec 29 10:00:00 h a[1]: x\nJan  1 00:00:02 h a[1]: y\nDec 30 10:00:00 h a[1]: z\n", z(2026, 12, 30, 12), [2026, None, 2026]),
    ("two turns", "Dec 31 10:00:00 h a[1]: a\nJun  1 10:00:00 h a[1]: b\nDec 31 10:00:00 h a[1]: c\nJan  1 10:00:00 h a[1]: d\n", z(2026, 1, 2), [2025, 2025, 2025, 2026]),
    ("glog", "E1231 23:59:59.000000 1 a.cc:1] x\nE0101 00:00:01.000000 1 a.cc:1] y\n", z(2026, 1, 2), [2025, 2026]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "now", "want"), [r[1:] for r in YEARS], ids=[r[0] for r in YEARS])
def test_years_are_found_from_the_end_back(text: str, now: datetime, want: list[int | None]) -> None:
    clock = make_clocks([source("a", text, Kind.JOURNAL)], now)[0]["a"]
    years = [got.year if (got := utc(clock, n)) else None for n in range(1, len(want) + 1)]
    assert years == want


def test_the_year_comes_from_any_other_source() -> None:
    sources = [source("j", "May  6 00:38:27 h a[1]: x\n", Kind.JOURNAL), source("b", "2024-05-04T12:00:00Z y\n")]
    clocks, now = make_clocks(sources)
    assert utc(clocks["j"], 1) == z(2024, 5, 6, 0, 38, 27)
    assert now is not None
    assert now.utc == z(2024, 5, 6, 0, 38, 27)


def test_one_absurd_year_moves_nothing() -> None:
    good = "".join(f"2024-05-04T12:00:0{i}Z y\n" for i in range(6))
    clocks, now = make_clocks([source("b", good + "2099-01-01T00:00:00Z z\n")])
    assert now is not None
    assert now.utc == z(2024, 5, 4, 12, 0, 5)
    assert utc(clocks["b"], 6) == z(2024, 5, 4, 12, 0, 5)


def test_without_any_year_the_order_is_known_and_the_year_said_to_be_unknown() -> None:
    sources = [
        source("j", "Dec 31 23:59:50 h a[1]: x\n", Kind.JOURNAL),
        source("k", "Jan  1 00:00:10 h a[1]: y\n", Kind.JOURNAL),
    ]
    clocks, now = make_clocks(sources)
    first, second = clocks["j"].instant(1), clocks["k"].instant(1)
    assert first is not None
    assert now is None
    assert not year_known(first)
    assert before(first, second) is True


@given(
    st.datetimes(min_value=datetime(2001, 1, 1), max_value=datetime(2039, 12, 31)).map(
        lambda d: d.replace(microsecond=0)
    ),
    st.lists(st.integers(0, 30 * 86400), max_size=40),
)
def test_years_come_back_when_no_gap_is_over_a_month(end: datetime, gaps: list[int]) -> None:
    days = [end]
    for gap in gaps:
        days.append(days[-1] - timedelta(seconds=gap))
    days.reverse()
    bare = [d.replace(year=4) for d in days]
    assert with_years(bare, end + timedelta(hours=3), timedelta(days=1)) == days


# ---- times of day


def test_times_of_day_take_the_date_of_a_dated_line_and_pass_midnight() -> None:
    clock = clock_of("Fri May  1 23:59:00 UTC 2026\n23:59:58 a\n00:00:02 b\n00:00:01 late\n23:59:59 later still\n")
    want = [z(2026, 5, 1, 23, 59, 58), z(2026, 5, 2, 0, 0, 2), z(2026, 5, 2, 0, 0, 1), z(2026, 5, 1, 23, 59, 59)]
    assert [utc(clock, n) for n in (2, 3, 4, 5)] == want


def test_times_of_day_take_the_date_of_a_later_line() -> None:
    clock = clock_of("23:59:58 a\n00:00:02 b\n2026-05-02 00:01:00 c\n")
    assert [utc(clock, n) for n in (1, 2)] == [z(2026, 5, 1, 23, 59, 58), z(2026, 5, 2, 0, 0, 2)]


def test_times_of_day_take_the_only_date_that_other_sources_allow() -> None:
    sources = [source("a", "[12:00:10] x\n"), source("b", "2026-05-01 12:00:00 y\n2026-05-01 12:30:00 y\n")]
    assert utc(make_clocks(sources)[0]["a"], 1) == z(2026, 5, 1, 12, 0, 10)


def test_times_of_day_stay_open_where_two_dates_would_do() -> None:
    sources = [
        source("a", "[12:00:10] x\n[12:00:20] y\n"),
        source("b", "2026-05-01 12:00:00 y\n2026-05-04 12:30:00 y\n"),
    ]
    clock = make_clocks(sources)[0]["a"]
    assert clock.instant(1) is None
    assert (clock.order(1) or 0) < (clock.order(2) or 0)


@given(st.integers(0, 86399), st.lists(st.integers(0, 11 * 3600), min_size=1, max_size=60))
def test_days_are_counted_over_every_midnight(start: int, gaps: list[int]) -> None:
    moments = [start]
    for gap in gaps:
        moments.append(moments[-1] + gap)
    assert day_steps([float(m % 86400) for m in moments]) == [m // 86400 for m in moments]


# ---- the kernel's seconds

DMESG = "[    0.000000] Linux version 6.1\n[  100.500000] usb 1-1: new device\n[  200.250000] oom-kill:constraint=X\n"
BOOT = [
    ("btime", [source("proc/stat", "cpu  1 2 3\nbtime 1777636800\n", Kind.HOST)], 1777636800),
    ("collector", [source("clock/start", "epoch: 1777637000\nuptime_s: 200.00\n", Kind.HOST)], 1777636800),
    ("collector btime", [source("clock/start", "boot_epoch: 1777636800\n", Kind.HOST)], 1777636800),
    ("syslog", [source("syslog", "2026-05-01T12:00:50.000000+00:00 h kernel: [   10.000000] late\n2026-05-01T12:01:40.500000+00:00 h kernel: [  100.500000] usb\n", Kind.JOURNAL)], 1777636800),
    ("dmesg -T", [source("dmesg-T", "[Fri May  1 12:00:00 2026] Linux version 6.1\n[Fri May  1 12:01:40 2026] usb 1-1: new device\n[Fri May  1 12:03:20 2026] oom-kill:constraint=X\n", Kind.KERNEL)], 1777636800),
]  # fmt: skip


LONG_LINE = "updater: page allocation failure: order:7, mode:0x40cc0(GFP_KERNEL|__GFP_COMP), nodemask=(null)"


@pytest.mark.parametrize(
    ("line", "times", "dated"),
    [(LONG_LINE, 1, True), (LONG_LINE, 2, False), ("usb 1-1: new device", 1, False)],
    ids=["one long line", "a long line that came twice", "one short line"],
)
def test_a_journal_with_one_of_the_kernels_lines(line: str, times: int, dated: bool) -> None:
    dmesg = DMESG + f"[  300.000000] {line}\n" * times
    journal = "May 01 12:00:00 h systemd[1]: Starting x.service - x...\n" + f"May 01 12:05:00 h kernel: {line}\n" * times
    sources = [source("dmesg", dmesg, Kind.KERNEL), source("journal.txt", journal, Kind.JOURNAL)]
    clock = make_clocks(sources, z(2026, 5, 1, 13))[0]["dmesg"]
    got = clock.instant(3)
    assert (got is not None) is dated
    if got is not None:
        assert abs((got.utc - z(2026, 5, 1, 12, 3, 20)).total_seconds()) <= 3


@pytest.mark.parametrize(("others", "boot"), [r[1:] for r in BOOT], ids=[r[0] for r in BOOT])
def test_boot_seconds_become_wall_time(others: list[Source], boot: int) -> None:
    clock = make_clocks([source("dmesg", DMESG, Kind.KERNEL), *others])[0]["dmesg"]
    got = clock.instant(3)
    assert got is not None
    want = datetime.fromtimestamp(boot + 200.25, UTC)
    assert abs((got.utc - want).total_seconds()) <= got.plus_minus_s <= 5


def test_the_kernels_own_audit_records_tell_the_time_best() -> None:
    text = DMESG + "[  210.000000] audit: type=1400 audit(1777637010.500:12): apparmor=x\n"
    clock = clock_of(text, Kind.KERNEL)
    assert utc(clock, 3) == z(2026, 5, 1, 12, 3, 20, 750000)
    assert known(clock, 3)


def test_after_a_suspend_the_later_pair_counts() -> None:
    text = (
        "[  100.000000] audit: type=1400 audit(1777636900.000:1): x\n[  150.000000] before\n"
        "[  200.000000] audit: type=1400 audit(1777640600.000:2): y\n[  250.000000] after\n"
    )
    clock = clock_of(text, Kind.KERNEL)
    assert [utc(clock, n) for n in (2, 4)] == [z(2026, 5, 1, 12, 2, 30), z(2026, 5, 1, 13, 4, 10)]


@pytest.mark.parametrize(
    ("records", "want"),
    [
        ("[    0.300000] audit: type=2000 audit(1777665600.300:1): x\n[  200.000000] audit: type=1400 audit(1777637000.000:2): y\n", 1777637050),
        ("[  100.000000] audit: audit(1781740821.570:1): x\n[ 1963.100000] audit: audit(1794651506.727:2): y\n[ 2900.000000] audit: audit(1793639155.661:3): z\n", None),
        ("[  100.000000] audit: audit(1781740821.570:1): x\n[ 2900.000000] audit: audit(1777639700.000:3): z\n[ 2950.000000] audit: audit(1777639750.000:4): z\n", 1777639850),
    ],
    ids=["set back after the boot", "records of several machines", "set back late, and two agree"],
)  # fmt: skip
def test_audit_records_that_go_back_in_time(records: str, want: int | None) -> None:
    last = 250 if want == 1777637050 else 3050
    clock = clock_of(records + f"[ {last}.000000] last\n", Kind.KERNEL)
    got = clock.instant(len(records.splitlines()) + 1)
    assert (got and got.utc.timestamp()) == want


def test_an_audit_record_of_before_the_clock_was_set_does_not_count() -> None:
    text = "[    0.272913] audit: type=2000 audit(1700000000.118:1): state=initialized\n" + DMESG
    made, _ = make_clocks([source("k", text, Kind.KERNEL), source("proc/stat", "btime 1777636800\n", Kind.HOST)])
    assert made["k"].instant(2).utc.year == 2026  # type: ignore[union-attr]


def test_without_a_pair_boot_seconds_are_ordered_only() -> None:
    clock = clock_of(DMESG, Kind.KERNEL)
    assert clock.instant(3) is None
    assert [clock.order(n) for n in (1, 2, 3)] == [0.0, 100.5, 200.25]


def test_pairs_of_an_earlier_boot_do_not_count() -> None:
    syslog = (
        "2026-04-01T12:00:10.000000+00:00 h kernel: [   10.000000] old\n2026-04-01T13:00:00.000000+00:00 h kernel: [ 3600.000000] old\n"
        "2026-05-01T12:00:10.000000+00:00 h kernel: [   10.000000] new\n"
    )
    clocks, _ = make_clocks([source("dmesg", DMESG, Kind.KERNEL), source("syslog", syslog, Kind.JOURNAL)])
    assert utc(clocks["dmesg"], 1) == z(2026, 5, 1, 12)


def test_the_log_of_an_earlier_boot_is_not_dated_by_this_one() -> None:
    stat = source("proc/stat", "btime 1777636800\n", Kind.HOST)
    clocks, _ = make_clocks([source("pstore/dmesg-ramoops-0", DMESG, Kind.KERNEL), stat])
    assert clocks["pstore/dmesg-ramoops-0"].instant(3) is None


def test_two_boot_times_in_one_bundle_say_nothing() -> None:
    stats = [source(f"n{i}/stat", f"btime {1777636800 + i * 1000}\n", Kind.HOST) for i in (0, 1)]
    assert make_clocks([source("dmesg", DMESG, Kind.KERNEL), *stats])[0]["dmesg"].instant(3) is None


def test_dmesg_with_deltas_counts_on_from_the_last_full_stamp() -> None:
    clock = clock_of("[May 1 12:00] a\n[  +2.500000] b\n[  +0.500000] c\n[May 1 12:01] d\n", Kind.KERNEL, z(2026, 5, 2))
    assert [utc(clock, n) for n in (2, 3, 4)] == [
        z(2026, 5, 1, 12, 0, 2, 500000),
        z(2026, 5, 1, 12, 0, 3),
        z(2026, 5, 1, 12, 1),
    ]
    got = clock.instant(3)
    assert got is not None
    assert got.plus_minus_s >= 60


def test_a_locale_weekday_is_read() -> None:
    clock = clock_of("[金  5月  1 12:00:00 2026] a\n[ven. mai 01 12:00:05 2026] b\n", Kind.KERNEL)
    assert [utc(clock, n) for n in (1, 2)] == [z(2026, 5, 1, 12), z(2026, 5, 1, 12, 0, 5)]
    got = clock.instant(1)
    assert got is not None
    assert got.plus_minus_s >= 1


# ---- lines without a stamp; order within a source


def test_a_line_without_a_stamp_takes_the_one_before_with_more_doubt() -> None:
    clock = clock_of("no stamp yet\n2026-05-01T12:00:00.000Z a\nTraceback:\n  File\n2026-05-01T12:00:09.000Z b\n")
    own, inherited = clock.instant(2), clock.instant(3)
    assert own is not None
    assert inherited is not None
    assert clock.instant(1) is None
    assert clock.order(1) is None
    assert inherited.utc == own.utc
    assert own.plus_minus_s < inherited.plus_minus_s < 3


def test_a_banner_does_not_date_a_long_unstamped_log() -> None:
    clock = clock_of("Fri May  1 12:00:00 UTC 2026\n" + "work\n" * 500)
    late = clock.instant(400)
    assert late is not None
    assert late.plus_minus_s >= 3600


def test_between_two_far_stamps_a_line_may_be_anywhere() -> None:
    clock = clock_of("Fri May  1 12:00:00 UTC 2026\n" + "work\n" * 50 + "Fri May  1 12:30:00 UTC 2026\n")
    middle = clock.instant(25)
    assert middle is not None
    assert middle.plus_minus_s >= 1800


def test_an_nvidia_smi_table_is_of_one_moment() -> None:
    clock = clock_of("Tue Feb 27 10:00:00 2024\n" + "| row |\n" * 80, Kind.SMI)
    last = clock.instant(80)
    assert last is not None
    assert last.plus_minus_s <= 2
    query = clock_of("==NVSMI LOG==\n\nTimestamp                 : Tue Feb 27 10:00:00 2024\nDriver\n", Kind.SMI)
    assert utc(query, 4) == z(2024, 2, 27, 10)


def test_a_late_flush_keeps_its_own_stamps() -> None:
    clock = clock_of("2026-05-01T12:00:05Z a\n2026-05-01T12:00:01Z b\n2026-05-01T12:00:06Z c\n")
    assert [utc(clock, n) for n in (1, 2, 3)] == [z(2026, 5, 1, 12, 0, s) for s in (5, 1, 6)]
    assert (clock.order(2) or 0) < (clock.order(1) or 0)


# ---- the moment of the analysis; sources that have no clock


@pytest.mark.parametrize(
    ("now", "want"),
    [(z(2026, 5, 2), z(2026, 5, 2)), (datetime(2026, 5, 2), z(2026, 5, 2)), (None, z(2026, 5, 1, 12)),
     (datetime(2026, 5, 2, tzinfo=timezone(timedelta(hours=2))), z(2026, 5, 1, 22))],
    ids=["given", "naive", "newest stamp", "converted"],
)  # fmt: skip
def test_now_is_given_or_the_newest_stamp(now: datetime | None, want: datetime) -> None:
    moment = make_clocks([source("a", "2026-05-01T11:00:00Z a\n2026-05-01T12:00:00Z b\n")], now)[1]
    assert moment is not None
    assert moment.utc == want


@pytest.mark.parametrize(
    ("kind", "state"),
    [(Kind.SCRIPT, State.WHOLE), (Kind.CONFIG, State.WHOLE), (Kind.BINARY, State.WHOLE), (Kind.LOG, State.DENIED)],
)
def test_what_is_no_log_has_no_clock(kind: Kind, state: State) -> None:
    clocks, now = make_clocks([source("a", "2026-05-01T11:00:00Z a\n", kind, state)])
    assert clocks["a"].instant(1) is None
    assert now is None


def test_no_sources_no_clocks() -> None:
    assert make_clocks([]) == ({}, None)
    assert Clock().instant(1) is None
    assert Clock().order(1) is None


@given(st.lists(st.sampled_from([
    "2026-05-01T12:00:00Z a", "May  6 00:38:27 h kernel: [ 1564.390000] t", "Feb 29 00:00:00 h a[1]: x", "12:00:00 x", "[  +0.5] y",
    "[ 1564.395772] text", "[Feb23 16:24] x", "plain", "9999-12-31 23:59:59 z", "0001-01-01T00:00:00+14:00 x", "Dec 31 23:59:60 h a[1]: x",
    "[  +1.000000] y", "DEBU[0012] z", "1714564800.123456 x",
]), max_size=12), st.sampled_from([Kind.LOG, Kind.KERNEL, Kind.JOURNAL]), st.booleans())  # fmt: skip
def test_no_mixture_of_stamps_is_an_error(lines: list[str], kind: Kind, with_now: bool) -> None:
    clocks, _ = make_clocks([source("a", "\n".join(lines), kind)], z(2026, 5, 2) if with_now else None)
    for number in range(1, len(lines) + 1):
        clocks["a"].instant(number)
        clocks["a"].order(number)


@pytest.mark.parametrize(
    ("lines", "plus_minus"),
    [
        (
            ["04/11 21:15:57 | INFO step 1", "[rank1]:[W411 21:16:04.551 P.cpp:1] x", "04/11 21:15:57 | ERROR y"],
            [7.551, 0.05, 7.551],
        ),
        (
            ["04/11 21:16:03 | INFO step 1", "[rank1]:[W411 21:16:04.551 P.cpp:1] x", "04/11 21:16:04 | ERROR y"],
            [1.0, 0.05, 1.0],
        ),
        (
            ["04/11 21:16:03 | INFO step 1", "[rank1]:[W411 22:16:04.551 P.cpp:1] x", "04/11 21:16:04 | ERROR y"],
            [1.0, 0.05, 1.0],
        ),
        (["04/11 21:15:57 | INFO step 1", "04/11 21:16:04 | INFO x", "04/11 21:15:57 | ERROR y"], [1.0, 1.0, 1.0]),
    ],
    ids=["a writer seven seconds behind", "within a second", "an hour is a zone", "one writer flushed late"],
)
def test_two_writers_whose_clocks_disagree(lines: list[str], plus_minus: list[float]) -> None:
    clocks, _ = make_clocks([source("a", "\n".join(lines), Kind.LOG)])
    found = [clocks["a"].instant(n) for n in range(1, len(lines) + 1)]
    assert [f.plus_minus_s if f else None for f in found] == plus_minus
