"""Quota tables: rows at their limit, and rows that have room."""

from __future__ import annotations

import pytest

from postmortem.model import Kind
from postmortem.parse.quota import PARSER
from reading import events

ROWS = {
    "xfs project": ("#7            5242880          0    5242880     00 [--------]", {"owner": "7", "limit_kb": "5242880"}),
    "xfs user": ("alice      10485760   10000000   10485760     00 [6 days]", {"owner": "alice", "used_kb": "10485760"}),
    "repquota": ("bob       +-  10485900 10485760 12582912  6days    1203     0     0", {"owner": "bob"}),
    "repquota hard": ("bob       --  12582912       0 12582912           1203     0     0", {"limit_kb": "12582912"}),
    "quota": ("      /dev/sdb1 20971520* 20971520 22020096   none   81022       0       0", {"mount": "/dev/sdb1"}),
    "lfs": ("        /lustre 1073741824* 1073741824 1073741824       -  912004       0       0       -", {"mount": "/lustre"}),
    "xfs with room": ("#0          690118204          0          0     00 [--------]", None),
    "xfs below": ("#1048576       110480          0   20971520     00 [--------]", None),
    "repquota below": ("bob       --   5485900 10485760 12582912           1203     0     0", None),
    "df": ("/dev/sda1       50254368 18120044  29548900  39% /", None),
    "words": ("Project quota on /var/lib/docker (/dev/mapper/data)", None),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_rows(row: tuple[str, dict[str, str] | None]) -> None:
    line, fields = row
    found = events(PARSER, line + "\n", Kind.LISTING, "quota.txt")
    assert [e["kind"] for e in found] == ["quota.full"] * (fields is not None)
    for event in found:
        assert (fields or {}).items() <= event.items()
