"""What the kernel says of its clock: adjtimex(2), read only, in the words of busybox's adjtimex."""

from __future__ import annotations

import ctypes
import errno
import os

_LONGS = ("offset", "freq", "maxerror", "esterror")
_MORE = ("constant", "precision", "tolerance", "sec", "usec", "tick")
_NANO, _UNSYNC = 0x2000, 0x0040
_NAMES = {0: "clock synchronized", 1: "insert leap second", 2: "delete leap second", 3: "leap second in progress",
          4: "leap second has occurred", 5: "clock not synchronized"}  # fmt: skip


class _Timex(ctypes.Structure):
    """struct timex, as far as it is read; the kernel writes all of it."""

    _fields_ = [
        ("modes", ctypes.c_uint),
        *((name, ctypes.c_long) for name in _LONGS),
        ("status", ctypes.c_int),
        *((name, ctypes.c_long) for name in _MORE),
        ("rest", ctypes.c_long * 32),
    ]


def adjtimex() -> str:
    """Lines such as `status: 8193 (PLL)` and `maxerror: 500000 us`; "" where there is no such call."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "adjtimex", None)
    if call is None:
        return ""
    clock = _Timex()
    state = int(call(ctypes.byref(clock)))
    if state < 0:
        number = ctypes.get_errno()
        return f"source: adjtimex(2)\nrefused: {errno.errorcode.get(number, number)} {os.strerror(number)}"
    unit = "ns" if clock.status & _NANO else "us"
    return "\n".join(
        (
            "source: adjtimex(2)",
            f"offset: {clock.offset} {unit}",
            f"freq.adjust: {clock.freq} (65536 = 1ppm)",
            f"maxerror: {clock.maxerror} us",
            f"esterror: {clock.esterror} us",
            f"status: {clock.status}{' (UNSYNC)' if clock.status & _UNSYNC else ''}",
            f"return value: {state} ({_NAMES.get(state, 'unknown')})",
        )
    )
