"""df, df -i and mount tables -> facts of each mount."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from postmortem.lazy import lazy
from postmortem.model import Event, Fact, Kind
from postmortem.scene import Parser, Reading

# File systems that hold people's files; the others (proc, cgroup, squashfs …) are read-only by nature or hold none.
WRITABLE = lazy(
    r"ext[234]|xfs|btrfs|zfs|f2fs|jfs|reiserfs|bcachefs|ubifs|jffs2|vfat|exfat|ntfs\w*|nfs\d?|cifs|smb3|overlay|aufs"
    r"|9p|virtiofs|ceph|lustre|gpfs|glusterfs|beegfs|fuse(?:blk|\..*)?"
)

_SYSTEM = lazy(r"/(?:proc|sys|dev|run)(?:/|$)")  # noexec there is how systems are set up
_HEADER = lazy(r"^Filesystem\s.*\bMounted on$")
_ROW = lazy(
    r"^(?P<device>\S.*?)?\s+(?:(?P<type>[a-z]\S*)\s+)?(?P<size>[\d.]+[KMGTP]?)\s+(?P<used>[\d.]+[KMGTP]?)\s+"
    r"(?P<free>-?[\d.]+[KMGTP]?)\s+(?P<percent>\d+)%\s+(?P<mount>/.*)$"
)
_MOUNT = lazy(r"^(?P<device>\S.*?) on (?P<mount>/.*?) type (?P<type>\S+) \((?P<options>[^)]*)\)")
_MOUNTS = lazy(r"^(?P<device>\S+) (?P<mount>/\S*) (?P<type>\S+) (?P<options>(?:rw|ro)\b\S*) \d+ \d+$")
_MOUNTINFO = lazy(
    r"^\d+ \d+ \d+:\d+ \S+ (?P<mount>/\S*) (?P<options>(?:rw|ro)\b\S*).*? - "
    r"(?P<type>\S+) (?P<device>\S+) (?P<super>\S+)$"
)
_FINDMNT = lazy(r"^[├└─│| `-]*(?P<mount>/\S*)\s+(?P<device>\S+)\s+(?P<type>\S+)\s+(?P<options>(?:rw|ro)\b\S*)$")
_OCTAL = lazy(r"\\([0-7]{3})")


def read(reading: Reading) -> Iterator[Event | Fact]:
    """Facts of the mounts: percent used, of blocks and of inodes; read-only or not.

    `/dev/nvme1n1p1   47G   47G     0 100% /mnt/params`, by df; `/dev/sdb1 /mnt ext4 ro,relatime 0 0`, by the kernel.
    """
    inodes: bool | None = None  # what the table at hand counts; None outside a table
    device = ""  # df of old writes a long device name on a line of its own
    for line in reading.lines():
        raw = line.raw.rstrip()
        if _HEADER.match(raw):
            inodes = "Inodes" in raw or "IUse%" in raw
        elif inodes is not None and (row := _ROW.match(device + " " + raw if device else raw)):
            device = ""
            yield from _row(reading, line.number, row, inodes)
        elif inodes is not None and raw and " " not in raw:
            device = raw
        else:
            device = ""
            yield from _mount(reading, line.number, raw)


def _row(reading: Reading, number: int, row: re.Match[str], inodes: bool) -> Iterator[Fact]:
    entity = {"mount": row["mount"]}
    yield reading.fact("disk.inode_use" if inodes else "disk.use", int(row["percent"]), number, "percent", entity)


def _mount(reading: Reading, number: int, raw: str) -> Iterator[Fact]:
    forms = (_MOUNT, _MOUNTS, _MOUNTINFO, _FINDMNT)
    found = next((match for form in forms if (match := form.match(raw))), None)
    if found is None:
        return
    entity: Mapping[str, str] = {"mount": _OCTAL.sub(lambda code: chr(int(code.group(1), 8)), found["mount"])}
    options = found["options"].split(",") + (found.groupdict().get("super") or "").split(",")
    if WRITABLE.fullmatch(found["type"]):
        yield reading.fact("disk.read_only", "ro" in options, number, "", entity)
    if "noexec" in options and not _SYSTEM.match(entity["mount"]):
        yield reading.fact("disk.noexec", True, number, "", entity)


PARSER = Parser(name="disk", kinds=frozenset({Kind.DISK}), read=read)
