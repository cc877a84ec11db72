"""A FUSE mount for tests: `stuck.log` never answers one operation, `fine.log` answers all.

    python hanger.py FOLDER read|open|lookup|readdir|create|statfs [NAME]      NAME instead of stuck.log, executable

Speaks /dev/fuse itself. Run it in a mount namespace of its own; end it with SIGTERM.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT = 1, 2, 3, 14, 15, 17, 18, 25, 26
OPENDIR, READDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = 27, 28, 29, 36, 42
ROOT, FINE, STUCK = 1, 2, 3
TEXT = b"all is well here\n"
NAMES = {b"fine.log": FINE, b"stuck.log": STUCK}
CREATE = 35
NEVER = {"read": READ, "open": OPEN, "lookup": LOOKUP, "readdir": READDIR, "create": CREATE, "statfs": STATFS}


def attributes(node: int) -> bytes:
    mode, size = (0o40755, 0) if node == ROOT else (0o100755, len(TEXT) if node == FINE else 1 << 20)
    return struct.pack("<6Q10I", node, size, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def listing(offset: int) -> bytes:
    out = b""
    for number, (name, node) in enumerate(NAMES.items(), 1):
        if number > offset:
            entry = struct.pack("<QQII", node, number, len(name), 8) + name
            out += entry + b"\0" * (-len(entry) % 8)
    return out


def answer(code: int, node: int, body: bytes, never: int) -> tuple[int, bytes] | None:
    """(errno, reply), or None for no answer at all."""
    wanted = NAMES.get(body.split(b"\0")[0]) if code == LOOKUP else node
    if code == never and wanted in (STUCK, ROOT if never in (READDIR, CREATE, STATFS) else STUCK):
        return None
    match code:
        case 26:
            return 0, struct.pack("<IIIIHHIIHHI7I", 7, 31, 65536, 0, 16, 12, 131072, 1, 0, 0, 0, *[0] * 7)
        case 1:
            return (0, struct.pack("<QQQQII", wanted, 0, 1, 1, 0, 0) + attributes(wanted)) if wanted else (2, b"")
        case 3:
            return 0, struct.pack("<QII", 1, 0, 0) + attributes(node)
        case 14 | 27:
            return 0, struct.pack("<QIi", 1, 1 if code == OPEN else 0, 0)
        case 28:
            return 0, listing(struct.unpack_from("<QQ", body)[1])
        case 15:
            offset, size = struct.unpack_from("<QQI", body)[1:]
            return 0, TEXT[offset : offset + size] if node == FINE else b""
        case 17:
            return 0, struct.pack("<QQQQQIIII24x", 10, 5, 5, 10, 5, 4096, 255, 4096, 0)
        case 18 | 25 | 29:
            return 0, b""
    return 38, b""


def main(folder: str, operation: str, name: str = "") -> None:
    if name:
        NAMES[name.encode()] = NAMES.pop(b"stuck.log")
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"hanger", folder.encode(), b"fuse", 6, options.encode()):
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")

    def end(*_: object) -> None:
        libc.umount2(folder.encode(), 2)
        os._exit(0)  # the closed device frees every stuck reader

    signal.signal(signal.SIGTERM, end)
    print("mounted", flush=True)
    while True:
        request = os.read(device, 1 << 20)
        _, code, unique, node = struct.unpack_from("<IIQQ", request)
        if code in (FORGET, BATCH_FORGET, INTERRUPT):
            continue
        if (reply := answer(code, node, request[40:], NEVER[operation])) is not None:
            os.write(device, struct.pack("<IiQ", 16 + len(reply[1]), -reply[0], unique) + reply[1])


if __name__ == "__main__":
    main(*sys.argv[1:4])
