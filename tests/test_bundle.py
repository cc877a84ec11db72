from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import socket
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.bundle import Bundle, open_bundle, streams
from postmortem.errors import BundleError
from postmortem.model import State

LOG = b"".join(b"2026-06-11 03:40:%02d daemon: line %d\n" % (n % 60, n) for n in range(4000))


def tar_of(*entries: tuple[str, bytes], kind: bytes = tarfile.REGTYPE, form: int = tarfile.USTAR_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, data in entries:
            info = tarfile.TarInfo(name)
            info.type, info.size = kind, len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def special(name: str, kind: bytes, target: str = "") -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info.tobuf(tarfile.USTAR_FORMAT)


def read(bundle: Bundle) -> dict[str, tuple[State, bytes]]:
    with bundle:
        return {m.path: (m.state, data) for m in bundle.walk() for data in (b"".join(m.blocks()),)}


def contents(data: bytes) -> tuple[Bundle, dict[str, bytes]]:
    bundle = open_bundle("-", io.BytesIO(data))
    return bundle, {path: found for path, (_, found) in read(bundle).items()}


def states(bundle: Bundle) -> dict[str, State]:
    """The final state of each member."""
    found = {}
    with bundle:
        for member in bundle.walk():
            b"".join(member.blocks())
            found[member.path] = member.state
    return found


TAR = tar_of(("a.log", LOG), ("empty.txt", b""), ("b/c.txt", b"tail\n"))
MEMBERS = {"a.log": LOG, "empty.txt": b"", "b/c.txt": b"tail\n"}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(TAR, id="tar"),
        pytest.param(gzip.compress(TAR), id="tar-gz"),
        pytest.param(gzip.compress(TAR[:5000]) + gzip.compress(TAR[5000:]), id="several-gzip-members"),
        pytest.param(gzip.compress(TAR) + b"\0" * 512, id="padding-after-gzip"),
        pytest.param(tar_of(*MEMBERS.items(), form=tarfile.GNU_FORMAT), id="gnu"),
        pytest.param(tar_of(*MEMBERS.items(), form=tarfile.PAX_FORMAT), id="pax"),
        pytest.param(tar_of(("a.log", LOG)) + tar_of(("empty.txt", b""), ("b/c.txt", b"tail\n")), id="two-tars"),
        pytest.param(tar_of(*((f"./{name}", data) for name, data in MEMBERS.items())), id="dot-slash"),
    ],
)
def test_a_whole_archive(data: bytes) -> None:
    bundle, found = contents(data)
    assert found == MEMBERS
    assert (bundle.kind, bundle.damage, bundle.complete) == ("tar", [], True)


def test_long_and_odd_names() -> None:
    long = "deep/" * 30 + "x" * 120
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        _, found = contents(tar_of((long, b"1"), ("ünï\x1b[31m.log", b"2"), ("a", b"3"), ("a", b"4"), form=form))
        assert found == {long: b"1", "ünï\ufffd[31m.log": b"2", "a": b"3", "a~2": b"4"}


def test_a_banner_before_the_first_header_is_kept() -> None:
    banner = b"Welcome to ustar GPU cloud\n"
    bundle, found = contents(banner + tar_of(("START", b"redacted: no\n"), ("END", b"complete: yes\n")))
    assert found["before-the-archive.txt"] == banner
    assert (bundle.kind, bundle.redacted, bundle.complete) == ("capture", False, True)


@given(st.integers(512, len(TAR) - 1))
@settings(deadline=None, max_examples=60)
def test_a_cut_tar_gives_what_is_there(cut: int) -> None:
    bundle = open_bundle("-", io.BytesIO(TAR[:cut]))
    found = read(bundle)
    for path, (_, data) in found.items():
        assert MEMBERS.get(path, TAR)[: len(data)] == data or path == "stdin"
    if cut > 512:
        assert len(found["a.log"][1]) == min(len(LOG), cut - 512)
    if 512 < cut < len(LOG):
        assert found["a.log"][1] == LOG[: cut - 512]
        assert any(d.path == "a.log" and f"of {len(LOG)} bytes" in d.reason for d in bundle.damage)
    if 512 < cut <= len(TAR.rstrip(b"\0")):
        assert not bundle.complete


PACKED = gzip.compress(TAR)


@given(st.integers(80, len(PACKED) - 1))
@settings(deadline=None, max_examples=60)
def test_a_cut_gzip_gives_what_is_there(cut: int) -> None:
    bundle = open_bundle("-", io.BytesIO(PACKED[:cut]))
    found = read(bundle)
    for path, (_, data) in found.items():
        assert MEMBERS.get(path, b"")[: len(data)] == data
    if cut > 100:
        assert not bundle.complete
        assert any("cut off" in d.reason for d in bundle.damage)


@given(st.integers(0, len(PACKED) - 1), st.integers(1, 255))
@settings(deadline=None, max_examples=60)
def test_a_damaged_gzip_never_raises_anything_else(at: int, flip: int) -> None:
    data = bytearray(PACKED)
    data[at] ^= flip
    with contextlib.suppress(BundleError):
        read(open_bundle("-", io.BytesIO(bytes(data))))


@given(st.binary(max_size=2000))
@settings(deadline=None)
def test_noise_is_refused_or_read(data: bytes) -> None:
    with contextlib.suppress(BundleError):
        read(open_bundle("-", io.BytesIO(data)))


def test_a_cut_member_says_so() -> None:
    bundle = open_bundle("-", io.BytesIO(gzip.compress(TAR)[:9000]))
    assert states(bundle)["a.log"] is State.CUT


def test_a_foreign_block_between_members() -> None:
    data = tar_of(("a", b"1"))[:1024] + b"\x07noise" * 100 + b"\0" * (1024 - 600) + tar_of(("b", b"2"))
    bundle, found = contents(data)
    assert found == {"a": b"1", "b": b"2"}
    assert any("no tar header" in d.reason for d in bundle.damage)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        pytest.param(special("link", tarfile.SYMTYPE, "/etc/passwd"), "symbolic link", id="symlink"),
        pytest.param(special("hard", tarfile.LNKTYPE, "ok.log"), "hard link", id="hardlink"),
        pytest.param(special("dev", tarfile.CHRTYPE), "character device", id="char-device"),
        pytest.param(special("blk", tarfile.BLKTYPE), "block device", id="block-device"),
        pytest.param(special("pipe", tarfile.FIFOTYPE), "FIFO", id="fifo"),
        pytest.param(special("/etc/cron.d/x", tarfile.REGTYPE), "absolute path", id="absolute"),
        pytest.param(special("a/../../x", tarfile.REGTYPE), "climbs", id="climbing"),
        pytest.param(special("C:\\x", tarfile.REGTYPE), "absolute path", id="drive"),
    ],
)
def test_refused_and_the_rest_goes_on(header: bytes, reason: str) -> None:
    data = header + tar_of(("ok.log", b"fine\n"))
    bundle = open_bundle("-", io.BytesIO(data))
    found = states(bundle)
    assert found.pop("ok.log") is State.WHOLE
    assert set(found.values()) == {State.REFUSED}
    assert [d.state for d in bundle.damage] == [State.REFUSED]
    assert reason in bundle.damage[0].reason


def test_a_bomb_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BOMB_FROM", 1 << 20)
    data = gzip.compress(tar_of(("zeros.log", b"\0" * (64 << 20))))
    bundle = open_bundle("-", io.BytesIO(data))
    read_bytes = sum(len(b) for m in bundle.walk() for b in m.blocks())
    assert read_bytes < 4 << 20
    assert any(d.state is State.REFUSED and "bomb" in d.reason for d in bundle.damage)


def test_too_many_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postmortem.bundle.tarwalk.MEMBERS", 3)
    bundle, found = contents(tar_of(*((f"f{n}", b"x") for n in range(9))))
    assert len(found) == 3
    assert any(d.state is State.REFUSED for d in bundle.damage)


def test_rotated_logs_are_unpacked_in_the_stream() -> None:
    bundle, found = contents(tar_of(("syslog.2.gz", gzip.compress(LOG)), ("next", b"n")))
    assert found == {"syslog.2.gz": LOG, "next": b"n"}
    bundle = open_bundle("-", io.BytesIO(tar_of(("syslog.2.gz", gzip.compress(LOG)[:-100]), ("next", b"n"))))
    assert states(bundle) == {"syslog.2.gz": State.CUT, "next": State.WHOLE}


def test_a_member_that_is_not_read_is_skipped() -> None:
    bundle = open_bundle("-", io.BytesIO(TAR))
    assert [m.path for m in bundle.walk()] == list(MEMBERS)
    assert bundle.damage == []


MANIFEST = {
    "schema": "postmortem/bundle/v1", "host": "gpu-7", "incident": "i-1", "started": "2026-06-11T03:49:00Z",
    "ended": "2026-06-11T05:49:20+02:00", "complete": True, "redacted": True, "argv": ["collect", "-o", "x"],
    "probes": [
        {"name": "kernel", "state": "denied", "seconds": 0.1, "bytes": 0, "why": "kernel log", "reason": "EPERM"},
        {"name": "df", "state": "whole", "seconds": 1, "bytes": 12, "member": "df.txt"},
        {"name": "odd", "state": "exploded"},
        "no probe",
    ],
}  # fmt: skip


def test_the_manifest_of_a_bundle() -> None:
    bundle, _ = contents(tar_of(("df.txt", b"x\n"), ("manifest.json", json.dumps(MANIFEST).encode())))
    manifest = bundle.manifest
    assert manifest is not None
    assert (bundle.kind, bundle.redacted, bundle.complete) == ("bundle", True, True)
    assert manifest.ended is not None
    assert manifest.ended.isoformat() == "2026-06-11T03:49:20+00:00"
    assert (manifest.host, manifest.argv) == ("gpu-7", "collect -o x")
    assert [(p.name, p.state, p.reason) for p in manifest.probes] == [
        ("kernel", State.DENIED, "EPERM"), ("df", State.WHOLE, ""), ("odd", State.MISSING, ""),
    ]  # fmt: skip


@pytest.mark.parametrize("data", [b"{", b"[1]", b'{"schema": "other"}', b"[" * 100_000, b"\xff"])
def test_a_foreign_manifest_is_only_a_file(data: bytes) -> None:
    bundle, _ = contents(tar_of(("manifest.json", data)))
    assert (bundle.kind, bundle.manifest) == ("tar", None)


def test_a_raw_capture() -> None:
    notes = b"# probe\tstate\tseconds\tbytes\tmember\tsource\treason\nkernel\tdenied\t0.02\t0\t-\t/dev/kmsg\tEPERM\n"
    start = b"schema: postmortem/capture/v1\nredacted: no\nhost: gpu-7\nstarted: 2026-06-11T03:49:00Z\n"
    whole = [("START", start), ("df.txt", b"x\n"), ("notes/1", notes), ("END", b"complete: yes\nseconds: 2.5\n")]
    bundle, _ = contents(tar_of(*whole))
    assert (bundle.kind, bundle.redacted, bundle.complete) == ("capture", False, True)
    manifest = bundle.manifest
    assert manifest is not None
    assert manifest.host == "gpu-7"
    probe = manifest.probes[-1]
    assert (probe.name, probe.state, probe.reason, probe.why) == ("kernel", State.DENIED, "EPERM", "/dev/kmsg")
    assert manifest.ended is not None
    assert manifest.ended.isoformat() == "2026-06-11T03:49:02.500000+00:00"
    bundle, _ = contents(tar_of(*whole[:-1]))
    assert not bundle.complete
    assert any("END" in d.reason for d in bundle.damage)


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "z.log").write_bytes(LOG)
    (tmp_path / "b.log").write_bytes(b"b\n")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"a\n"))
    (tmp_path / "inside").symlink_to("b.log")
    (tmp_path / "outside").symlink_to("/etc/passwd")
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "sock"))
    bundle = open_bundle(tmp_path)
    found = read(bundle)
    server.close()
    assert bundle.kind == "folder"
    assert list(found) == ["a.gz", "b.log", "dangling", "outside", "pipe", "sock", "sub/z.log"]
    assert found["a.gz"][1] == b"a\n"
    assert found["sub/z.log"][1] == LOG
    refused = {path for path, (state, _) in found.items() if state is State.REFUSED}
    assert refused == {"outside", "pipe", "sock"} == {d.path for d in bundle.damage if d.state is State.REFUSED}
    assert found["dangling"][0] is State.MISSING


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_denied(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "secret").chmod(0)
    bundle = open_bundle(tmp_path)
    assert read(bundle)["secret"][0] is State.DENIED
    assert "Permission denied" in bundle.damage[0].reason


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_one_log_file(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "daemon.log"
    path.write_bytes(gzip.compress(LOG) if packed else LOG)
    bundle = open_bundle(str(path))
    assert read(bundle)["daemon.log"][1] == LOG
    assert (bundle.kind, bundle.complete, bundle.redacted) == ("file", True, None)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        pytest.param("x.zip", b"PK\x03\x04" + b"x" * 40, "zip", id="zip"),
        pytest.param("x.xz", b"\xfd7zXZ\0" + b"x" * 40, "xz", id="xz"),
        pytest.param("x.bin", bytes(range(256)) * 40, "neither text nor a tar", id="binary"),
    ],
)
def test_what_cannot_be_read_at_all(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BundleError, match=says):
        open_bundle(tmp_path / name)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="No such file"):
        open_bundle(tmp_path / "nothing.tar.gz")
    with pytest.raises(BundleError, match="device"):
        open_bundle("/dev/null")


def test_an_empty_bundle_file(tmp_path: Path) -> None:
    (tmp_path / "b.tar.gz").write_bytes(b"\x1f\x8b\x08")
    bundle = open_bundle(tmp_path / "b.tar.gz")
    assert read(bundle) == {}
    assert not bundle.complete
