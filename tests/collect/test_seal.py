"""Redaction fails closed, hashes are of what is stored, and a raw capture becomes a bundle."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import time
from pathlib import Path

import pytest
from collecting import read

from clocked import Stopwatch
from postmortem.collect import CollectOptions, agent_script, seal_file
from postmortem.collect.archive import Archive, _tar
from postmortem.collect.places import FilePlace
from postmortem.collect.seal import About, Sealer
from postmortem.collect.sinks import Sink
from postmortem.collect.stream import CaptureReader, Member
from postmortem.errors import CollectError

SECRET = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345"
START = Member("START", b"schema: postmortem/capture/v1\nredacted: no\nhost: box\n")
END = Member("END", b"complete: yes\nreason: end of the plan\n")
NOTES = b"# probe\tstate\tseconds\tbytes\tmember\tsource\treason\n"


class Broken:
    """A redactor that cannot finish where the bytes say so."""

    def text(self, text: str) -> str:
        return text

    def data(self, data: bytes, name: str = "") -> tuple[bytes, dict[str, int]]:
        if b"bomb" in data:
            raise RuntimeError("boom")
        return data, {}


def archive_of(path: Path) -> Archive:
    sink = Sink(FilePlace(str(path)), str(path))
    assert sink.ready(time.monotonic() + 5)
    return Archive([sink], 10_000_000)


def sealed(tmp_path: Path, *members: Member, redactor: Broken | None = None) -> Path:
    sealer = Sealer(archive_of(tmp_path / "b.tar.gz"), About("box"), redactor)
    for member in (START, *members, END):
        sealer.take(member)
    sealer.finish()
    sealer.archive.sinks[0].leave()
    return tmp_path / "b.tar.gz"


def test_a_redactor_that_fails_withholds(tmp_path: Path) -> None:
    notes = NOTES + b"a\twhole\t0.10\t4\tlogs/tail/a\t/a\t-\nb\twhole\t0.10\t4\tlogs/tail/b\t/b\t-\n"
    bundle = read(
        sealed(
            tmp_path,
            Member("logs/tail/a", b"a bomb"),
            Member("logs/tail/b", b"fine"),
            Member("notes/1", notes),
            redactor=Broken(),
        )
    )
    assert "logs/tail/a" not in bundle.members
    assert bundle.text("logs/tail/b") == "fine"
    assert (bundle.probe("a")["state"], bundle.probe("a")["member"], bundle.probe("a")["bytes"]) == ("withheld", "", 0)
    assert bundle.probe("b")["state"] == "whole"


@pytest.mark.parametrize(
    "head",
    [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh9", b"PK\x03\x04"],
    ids=["gzip", "zstd", "xz", "bzip2", "zip"],
)
def test_compressed_logs_are_withheld(head: bytes, tmp_path: Path) -> None:
    notes = NOTES + b"a\twhole\t0.10\t4\tlogs/tail/a.gz\t/a.gz\t-\n"
    bundle = read(sealed(tmp_path, Member("logs/tail/a.gz", head + b"rest"), Member("notes/1", notes)))
    assert "logs/tail/a.gz" not in bundle.members
    assert bundle.probe("a")["state"] == "withheld"


def test_secrets_go_from_members_names_notes_and_argv(tmp_path: Path) -> None:
    sealer = Sealer(archive_of(tmp_path / "b.tar.gz"), About("box", argv=("collect", "--log", f"/x/{SECRET}.log")))
    row = f"logs.tail:/x/{SECRET}.log\twhole\t0.1\t3\tlogs/tail/x/{SECRET}.log\t/x/{SECRET}.log\tfound {SECRET}\n"
    for member in (
        START,
        Member(f"logs/tail/x/{SECRET}.log", f"token {SECRET}\n".encode()),
        Member("notes/1", NOTES + row.encode()),
        END,
    ):
        sealer.take(member)
    sealer.finish()
    sealer.archive.sinks[0].leave()
    bundle = read(tmp_path / "b.tar.gz")
    everything = b"".join(name.encode() + body for name, body in bundle.members.items())
    assert SECRET.encode() not in everything
    log = next(probe for probe in bundle.manifest["probes"] if probe["name"].startswith("logs.tail"))
    assert log["member"] in bundle.members
    assert log["sha256"] == hashlib.sha256(bundle.members[log["member"]]).hexdigest()
    assert sum(sum(receipt.values()) for receipt in bundle.manifest["receipts"].values()) >= 1


def test_a_probe_that_nobody_reported_is_told(tmp_path: Path) -> None:
    bundle = read(sealed(tmp_path))
    assert bundle.probe("gpu.pci")["state"] == "over-budget"
    assert bundle.probe("kernel.log")["why"]


@pytest.fixture(scope="module")
def raw() -> bytes:
    script = agent_script(CollectOptions(deadline=20))
    return subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, timeout=60, check=True).stdout


@pytest.mark.parametrize(
    "pack",
    [bytes, gzip.compress, lambda data: gzip.compress(data[:5000]) + gzip.compress(data[5000:])],
    ids=["plain", "gzip", "two-gzips"],
)
def test_a_raw_capture_is_sealed(pack: object, raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "capture").write_bytes(pack(raw))  # type: ignore[operator]
    result = seal_file(str(tmp_path / "capture"), str(tmp_path / "b.tar.gz"))
    bundle = read(tmp_path / "b.tar.gz")
    assert (result.code, result.complete) == (0, True)
    assert bundle.manifest["complete"] is True
    assert "redacted: yes\n" in bundle.text("START")
    assert bundle.manifest["host"] == bundle.text("START").split("host: ")[1].split("\n")[0]


@pytest.mark.parametrize("share", [0.05, 0.3, 0.7, 0.99])
def test_a_cut_capture_gives_what_is_whole(share: float, raw: bytes, tmp_path: Path) -> None:
    (tmp_path / "capture").write_bytes(raw[: int(len(raw) * share)])
    result = seal_file(str(tmp_path / "capture"), str(tmp_path / "b.tar.gz"))
    assert (result.code, result.complete) == (0, False)
    manifest = read(tmp_path / "b.tar.gz").manifest
    assert manifest["complete"] is False
    assert manifest["reason"] == "the capture ends before END"


def test_what_is_no_capture_says_so(tmp_path: Path) -> None:
    (tmp_path / "capture").write_bytes(b"hello\n" * 100)
    with pytest.raises(CollectError, match="so it is no capture"):
        seal_file(str(tmp_path / "capture"), str(tmp_path / "b.tar.gz"))
    with pytest.raises(CollectError, match="cannot read"):
        seal_file(str(tmp_path / "nothing"), str(tmp_path / "b.tar.gz"))


@pytest.mark.parametrize("step", [1, 7, 511, 512, 513, 100_000])
def test_members_come_out_whatever_the_chunks(step: int) -> None:
    data = b"Welcome to the machine\nSTART\0 not yet\n" + b"".join(
        _tar(name, body, 1)
        for name, body in [
            ("START", b"host: x\n"),
            ("a/" + "b" * 120 + "/" + "c" * 60, b"1" * 1000),
            ("empty", b""),
            ("END", b"x: y\n"),
        ]
    )
    reader = CaptureReader()
    found = [member for at in range(0, len(data), step) for member in reader.feed(data[at : at + step])]
    assert [member.name.rpartition("/")[2] for member in found] == ["START", "c" * 60, "empty", "END"]
    assert reader.take_banner() == b"Welcome to the machine\nSTART\0 not yet\n"
    assert found[1].data == b"1" * 1000


@pytest.mark.parametrize(
    ("at", "byte"), [(0, b"X"), (124, b"9"), (257, b"x"), (150, b"7")], ids=["name", "size", "magic", "checksum"]
)
def test_a_damaged_header_ends_the_stream(at: int, byte: bytes) -> None:
    second = bytearray(_tar("a", b"1", 1))
    second[at : at + 1] = byte
    reader = CaptureReader()
    assert [member.name for member in reader.feed(_tar("START", b"", 1) + bytes(second))] == ["START"]
    assert reader.torn


def test_the_archive_is_one_gzip_stream_flushed_after_each_member(tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "b.tar.gz")
    sizes = []
    for n in range(5):
        assert archive.add(f"m{n}", b"%d\n" % n * 5000, 0) == ""
        assert archive.sinks[0].settle(time.monotonic() + 5)
        sizes.append((tmp_path / "b.tar.gz.partial").stat().st_size)
        assert list(read(tmp_path / "b.tar.gz.partial").members) == [f"m{k}" for k in range(n + 1)]
    archive.close(lambda names, full: [("manifest.json", b"{}", 0)])
    archive.sinks[0].leave()
    assert gzip.decompress((tmp_path / "b.tar.gz").read_bytes())  # the trailer's sum and length are right
    assert json.loads(read(tmp_path / "b.tar.gz").members["manifest.json"]) == {}
    assert sizes == sorted(set(sizes))


class Stuck(FilePlace):
    """A disk that dies behind the first member."""

    def write(self, data: bytes) -> None:
        if data and self._end > 10:
            time.sleep(60)
        super().write(data)


@pytest.mark.parametrize("order", [(Stuck, FilePlace), (FilePlace, Stuck)], ids=["the first hangs", "the second hangs"])
def test_a_sink_that_hangs_costs_the_other_nothing(order: tuple[type[FilePlace], ...], tmp_path: Path) -> None:
    sinks = [Sink(place(str(tmp_path / f"{n}.tar.gz")), str(n)) for n, place in enumerate(order)]
    assert all(sink.ready(time.monotonic() + 5) for sink in sinks)
    watch, until = Stopwatch(), time.monotonic() + 1.5
    sealer = Sealer(Archive(sinks, 10_000_000), About("box"), Broken(), until)
    for member in (START, Member("logs/tail/a", b"fine" * 1000), END):
        sealer.take(member)
    result = sealer.finish()
    for sink in sinks:
        sink.leave()
    assert watch.seconds() <= 1.5 + 0.2
    good = tmp_path / f"{order.index(FilePlace)}.tar.gz"
    assert (result.complete, result.path) == (True, str(good))
    assert list(read(good).members) == ["START", "logs/tail/a", "manifest.json", "END"]
