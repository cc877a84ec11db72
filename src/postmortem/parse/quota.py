"""Disk quotas: who stands at the limit, as xfs_quota, repquota, quota and lfs quota print it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Parser, Reading

# `#1048577  20971520  0  20971520  00 [--------]` (xfs_quota report: owner, used, soft, hard, in KiB)
_XFS = lazy(r"^#?(?P<owner>[\w.-]+)\s+(?P<used>\d+)\s+(?P<soft>\d+)\s+(?P<hard>\d+)\s+\d\d \[[^\]]{3,20}\]")
# `alice  +-  10485760 10485760 12582912  6days  1203 0 0` (repquota; `+` in front: over the limit of blocks)
_REPQUOTA = lazy(r"^(?P<owner>#?[\w.-]+)\s+(?P<over>[+-])[+-]\s+(?P<used>\d+)\s+(?P<soft>\d+)\s+(?P<hard>\d+)\b")
# `/dev/sdb1 20971520* 20971520 20971520  none` (quota), `/lustre 1073741824* 1073741824 …` (lfs quota); a star: over it
_QUOTA = lazy(r"^\s*(?P<mount>/\S*)\s+(?P<used>\d+)(?P<over>\*?)\s+(?P<soft>\d+)\s+(?P<hard>\d+)\b(?!\s+\d+%)")


def read(reading: Reading) -> Iterator[Event | Fact]:
    """One `quota.full` for each row whose use stands at its limit, such as `#7  5120  0  5120  00 [--------]`."""
    for number, raw in reading.source.text.kept():
        match = _XFS.match(raw) or _REPQUOTA.match(raw) or _QUOTA.match(raw)
        row = match.groupdict() if match else {}
        if row and is_full(row):
            limit = row["hard"] if int(row["hard"]) else row["soft"]
            fields = {
                "owner": row.get("owner", ""),
                "mount": row.get("mount", ""),
                "used_kb": row["used"],
                "limit_kb": limit,
            }
            yield reading.event("quota.full", number, {key: value for key, value in fields.items() if value})


def is_full(row: Mapping[str, str]) -> bool:
    """Whether the use is at the hard limit, or marked as over the soft one."""
    used, hard = int(row["used"]), int(row["hard"])
    return bool(hard and used >= hard) or row.get("over") in ("+", "*")


PARSER = Parser(name="quota", kinds=frozenset({Kind.LISTING}), read=read)
