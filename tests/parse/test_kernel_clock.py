"""Whether the clock is kept right, in the words of four programs."""

from __future__ import annotations

import pytest

from postmortem.model import Kind
from postmortem.parse import kernel_clock
from reading import facts

BUSYBOX = """source: busybox adjtimex
    mode:         0
-o  offset:       {offset} {unit}
-f  freq.adjust:  -1182720 (65536 = 1ppm)
    maxerror:     {maxerror}
    esterror:     211
    status:       {status}
-p  timeconstant: 7
    precision:    1 us
    tolerance:    32768000
-t  tick:         10000 us
    time.tv_sec:  1796067325
    time.tv_usec: 532511
    return value: {state}
"""
DRIVER = """source: adjtimex(2)
offset: -412345 ns
freq.adjust: -1182720 (65536 = 1ppm)
maxerror: 22000 us
esterror: 211 us
status: 8193
return value: 0 (clock synchronized)
"""
DEBIAN = """source: adjtimex --print
         mode: 0
       offset: 0
    frequency: 0
     maxerror: 16000000
     esterror: 16000000
       status: 64
time_constant: 2
    precision: 1
    tolerance: 32768000
         tick: 10000
     raw time:  1796067325s 532511us = 1796067325.532511
 return value = 5
"""
SYSTEMD = """source: timedatectl show
Timezone=Etc/UTC
LocalRTC=no
CanNTP=yes
NTP=yes
NTPSynchronized={kept}
TimeUSec=Mon 2026-11-30 19:16:02 UTC
"""
CHRONY = """source: chronyc -n tracking
Reference ID    : A29FC87B (162.159.200.123)
Stratum         : 4
Ref time (UTC)  : Mon Nov 30 19:10:41 2026
System time     : 0.{offset} seconds {side} of NTP time
Last offset     : +0.000021733 seconds
RMS offset      : 0.000102211 seconds
Frequency       : 18.047 ppm slow
Leap status     : {leap}
"""
NTPQ = """source: ntpq -c rv
associd=0 status=0615 leap_none, sync_ntp, 1 event, clock_sync,
version="ntpd 4.2.8p15@1.3728-o", processor="x86_64",
leap=00, stratum=3, precision=-24, rootdelay=1.219, rootdisp=19.105,
tc=10, mintc=3, offset=-0.512, frequency=-18.1, sys_jitter=0.03
"""

CASES: dict[str, tuple[str, dict[str, object]]] = {
    "busybox, kept": (BUSYBOX.format(offset=-312, unit="us", maxerror=22000, status=1, state="0 (clock synchronized)"),
                      {"clock.synchronised": True, "clock.offset": -0.000312, "clock.max_error": 0.022}),
    "busybox, not kept": (BUSYBOX.format(offset=0, unit="us", maxerror=16000000, status="64 (UNSYNC)", state="5 (clock not synchronized)"),
                          {"clock.synchronised": False, "clock.max_error": 16.0, "clock.estimated_error": 0.000211}),
    "the driver, in nanoseconds": (DRIVER, {"clock.synchronised": True, "clock.offset": -0.000412345}),
    "Debian's adjtimex": (DEBIAN, {"clock.synchronised": False, "clock.offset": 0.0}),
    "systemd, kept": (SYSTEMD.format(kept="yes"), {"clock.synchronised": True, "clock.offset": None}),
    "systemd, not kept": (SYSTEMD.format(kept="no"), {"clock.synchronised": False}),
    "chrony, slow": (CHRONY.format(offset="001250000", side="slow", leap="Normal"),
                     {"clock.synchronised": True, "clock.offset": -0.00125}),
    "chrony, fast and lost": (CHRONY.format(offset="400000000", side="fast", leap="Not synchronised"),
                              {"clock.synchronised": False, "clock.offset": 0.4}),
    "ntpq": (NTPQ, {"clock.synchronised": True, "clock.offset": -0.000512}),
    "ntpq in alarm": (NTPQ.replace("leap_none", "leap_alarm"), {"clock.synchronised": False}),
    "refused": ("source: adjtimex(2)\nrefused: EPERM Operation not permitted\n", {"clock.synchronised": None, "clock.offset": None}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_what_the_clock_says(text: str, expected: dict[str, object]) -> None:
    made = facts(kernel_clock.PARSER, text, Kind.PROBE, "clock/sync")
    rounded = {name: round(value, 9) if isinstance(value, float) else value for name, value in made.items()}
    assert {name: rounded.get(name) for name in expected} == expected


def test_no_other_note_is_read() -> None:
    assert facts(kernel_clock.PARSER, DRIVER, Kind.PROBE, "clock/start") == {}
