"""One collection from options to a file, and the sealing of a capture that an image's own agent wrote."""

from __future__ import annotations

import os
import re
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import BinaryIO

from postmortem.collect.archive import Archive
from postmortem.collect.drive import Drive
from postmortem.collect.options import CollectOptions, CollectResult, with_config
from postmortem.collect.seal import About, Sealer
from postmortem.collect.stream import CaptureReader
from postmortem.collect.transport import transport_for
from postmortem.errors import CollectError

_SEAL_LIMIT = 1 << 40  # a capture was limited when it was taken


def collect(options: CollectOptions) -> CollectResult:
    """See `postmortem.collect.collect`."""
    begin = time.monotonic()
    options = with_config(options)
    transport = transport_for(options)
    if transport.is_local:
        options = replace(options, logs=tuple((os.path.join(os.getcwd(), glob), label) for glob, label in options.logs))
        options = replace(options, scripts=tuple(os.path.join(os.getcwd(), path) for path in options.scripts))
    host = (options.ssh or "").rpartition("@")[2].partition(":")[0] or os.uname().nodename
    path = None if options.output == "-" else options.output or _name(host, options.incident)
    try:
        archive = Archive(path, options.max_size)
    except CollectError as error:
        return CollectResult(1, None, str(error), False)
    about = About(host, options.incident or "", options.deadline, options.argv, transport.name)
    sealer = Sealer(archive, about)
    problem = Drive(transport, options, sealer, begin + options.deadline).run()
    return _result(sealer, problem)


def seal_file(capture_path: str, out_path: str) -> CollectResult:
    """See `postmortem.collect.seal_file`."""
    reader = CaptureReader()
    try:
        with open(capture_path, "rb") as stream:
            sealer = Sealer(Archive(None if out_path == "-" else out_path, _SEAL_LIMIT), About(transport="capture"))
            for block in _plain(stream):
                for member in reader.feed(block):
                    sealer.take(member)
    except OSError as error:
        raise CollectError(f"cannot read {capture_path}: {error.strerror}") from error
    if not reader.started:
        sealer.archive.drop()
        raise CollectError(f"{capture_path} holds no START member, so it is no capture of the agent")
    return _result(sealer, reader.torn or ("" if sealer.end else "the capture ends before END"))


def _result(sealer: Sealer, problem: str) -> CollectResult:
    try:
        path, complete = sealer.finish(problem)
    except OSError as error:
        return CollectResult(1, None, f"the bundle could not be written: {error.strerror}", False)
    count = len(sealer.archive.names)
    if count == 0:
        return CollectResult(1, None, f"nothing could be written: {sealer.archive.full or problem}", False)
    why = problem or sealer.archive.full or "a probe had no time or no room"
    what = "complete" if complete else f"partial: {why}"
    return CollectResult(0, path, f"{path}: {count + 2} members, {what}", complete)


def _name(host: str, incident: str | None) -> str:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    parts = ["postmortem", host, stamp, *([incident] if incident else [])]
    return re.sub(r"[^A-Za-z0-9._-]", "_", "-".join(parts)) + ".tar.gz"


def _plain(stream: BinaryIO) -> Iterator[bytes]:
    """The capture's bytes, unpacked if it is gzipped (one stream or several, as far as they go)."""
    head = stream.read(1 << 16)
    if not head.startswith(b"\x1f\x8b"):
        while head:
            yield head
            head = stream.read(1 << 16)
        return
    unpack = zlib.decompressobj(31)
    while head:
        try:
            yield unpack.decompress(head)
        except zlib.error:
            return
        if unpack.eof and unpack.unused_data.startswith(b"\x1f\x8b"):
            head, unpack = unpack.unused_data, zlib.decompressobj(31)
        else:
            head = stream.read(1 << 16)
