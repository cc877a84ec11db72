from __future__ import annotations


def show(wanted, out, start, options, colour):
    return "{}\n"
