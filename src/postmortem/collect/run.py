"""One collection from options to its sinks, and the sealing of a capture that an image's own agent wrote."""

from __future__ import annotations

import os
import re
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import BinaryIO

from postmortem.collect.archive import Archive
from postmortem.collect.drive import Drive
from postmortem.collect.options import CollectOptions, CollectResult
from postmortem.collect.places import AgePlace, FilePlace, StdoutPlace, other_places
from postmortem.collect.seal import About, Sealed, Sealer
from postmortem.collect.sinks import Sink
from postmortem.collect.start import Started
from postmortem.collect.stream import CaptureReader
from postmortem.collect.transport import host_of
from postmortem.errors import CollectError

_SEAL_LIMIT = 1 << 40  # a capture was limited when it was taken
_OPEN_SECONDS = 0.7  # that a folder may take to make a file
_OPEN_SHARE = 0.25  # of the time, that all places together may take
_LATE = 0.2  # seconds past the deadline in which a sink may still answer


def collect(started: Started) -> CollectResult:
    """See `postmortem.collect.collect`."""
    options, targets, until = started.options, list(started.targets), started.collected
    host = host_of(options) or os.uname().nodename
    path = options.output or _name(host, options)
    sinks, trouble = _open_all((path, *options.copies), options, until)
    archive = Archive(sinks, options.max_size)
    transport = started.transport.name
    about = About(host, options.incident or "", options.deadline, options.argv, transport, options.redact)
    sealer = Sealer(archive, about, until=until + _LATE)
    problem = Drive(started, sealer).run()
    sealed = sealer.finish(problem)
    if not _ended(archive):
        sealed = _rescue(path, options, sealer, problem, started.end + _LATE) or sealed
    told = [*trouble, *_sign(options, sealed, started.end)]
    if targets:
        from postmortem.collect.ship import Bundle, ship_all

        data = archive.copy(lambda names, full: sealer.last(problem, names, full))
        receipts = ship_all(Bundle(os.path.basename(sealed.path or path), data, sealed.path), targets, started.end)
        told += [receipt.text for receipt in receipts]
        if not _ended(archive) and any(receipt.done for receipt in receipts):
            sealed = replace(sealed, path=next(receipt.target for receipt in receipts if receipt.done))
    for sink in archive.sinks:
        sink.leave()
    return _result(sealed, archive, told)


def seal_file(capture_path: str, out_path: str) -> CollectResult:
    """See `postmortem.collect.seal_file`."""
    reader = CaptureReader()
    try:
        with open(capture_path, "rb") as stream, one_sink(out_path) as sink:
            sealer = Sealer(Archive([sink], _SEAL_LIMIT), About(transport="capture"))
            for block in _plain(stream):
                for member in reader.feed(block):
                    sealer.take(member)
            if not reader.started:
                sink.discard()
                raise CollectError(f"{capture_path} holds no START member, so it is no capture of the agent")
            sealed = sealer.finish(reader.torn or ("" if sealer.end else "the capture ends before END"))
    except OSError as error:
        raise CollectError(f"cannot read {capture_path}: {error.strerror}") from error
    return _result(sealed, sealer.archive, [])


@contextmanager
def one_sink(path: str) -> Iterator[Sink]:
    """The only output of something that has no deadline. Raises CollectError where it cannot be written."""
    sink = _sink(path, CollectOptions())
    try:
        if path != "-" and not sink.ready(float("inf")):
            raise CollectError(f"cannot write {path}: {sink.full}; give another place with -o")
        yield sink
    finally:
        sink.leave()


def _open_all(paths: tuple[str, ...], options: CollectOptions, until: float) -> tuple[list[Sink], list[str]]:
    """A sink for each output, the first in another place when its own cannot be written; and what went wrong.

    Where no place answers, as on a machine that is starved, the first is kept: it may answer later.
    """
    sinks: list[Sink] = []
    late: list[Sink] = []
    trouble = []
    by = time.monotonic() + max(_OPEN_SECONDS, _OPEN_SHARE * (until - time.monotonic()))
    for number, path in enumerate(paths):
        for place in [path, *(other_places(path) if number == 0 and path != "-" else [])]:
            sink = _sink(place, options)
            if path == "-" or sink.ready(min(time.monotonic() + _OPEN_SECONDS, by, until)):
                sinks.append(sink)
                break
            trouble.append(f"{place} cannot be written: {sink.full or 'it does not answer'}")
            if sink.full or late:
                sink.leave()
            else:
                late.append(sink)
    for sink in late if sinks else ():
        sink.leave()
    return sinks or late, trouble


def _sink(path: str, options: CollectOptions) -> Sink:
    if path == "-":
        return Sink(StdoutPlace(), "-", stdout=True)
    return Sink(AgePlace(path, options.encrypt_to) if options.encrypt_to else FilePlace(path), path)


def _ended(archive: Archive) -> bool:
    """Whether some sink holds a bundle with its end."""
    return any(sink.path for sink in archive.sinks)


def _rescue(path: str, options: CollectOptions, sealer: Sealer, problem: str, until: float) -> Sealed | None:
    """All of it once more, from memory to another place, when every sink hangs or failed without an end."""
    if path == "-" and not options.copies:
        return None
    for place in other_places("postmortem.tar.gz" if path == "-" else path):
        sink = _sink(place, options)
        if not sink.ready(min(time.monotonic() + 0.1, until)):
            sink.leave()
            continue
        if sealer.archive.pour(sink, lambda names, full: sealer.last(problem, names, full), until):
            return Sealed(not sealer.why(problem), sink.path, sealer.why(problem))
    return None


def _sign(options: CollectOptions, sealed: Sealed, until: float) -> list[str]:
    if not options.sign or sealed.path in ("", "-"):
        return []
    from postmortem.collect.sign import sign

    return sign(sealed.path, options.sign, until)


def _result(sealed: Sealed, archive: Archive, told: list[str]) -> CollectResult:
    more = "".join(f"; {one}" for one in told)
    if not sealed.path:
        return CollectResult(1, None, f"nothing could be written: {sealed.why or archive.full}{more}", False)
    what = "complete" if sealed.complete else f"partial: {sealed.why}"
    sink = next((sink for sink in archive.sinks if sink.path == sealed.path), None)
    count = sink.held if sink else len(archive.names) + 2  # the gzip header, the members, and the last two as one
    summary = f"{sealed.path}: {count} members, {what}{more}"
    return CollectResult(0, sealed.path, summary, sealed.complete)


def _name(host: str, options: CollectOptions) -> str:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    parts = ["postmortem", host, stamp, *([options.incident] if options.incident else [])]
    parts += [] if options.redact else ["unredacted"]
    return re.sub(r"[^A-Za-z0-9._-]", "_", "-".join(parts)) + ".tar.gz" + (".age" if options.encrypt_to else "")


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
