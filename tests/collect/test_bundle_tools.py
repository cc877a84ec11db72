"""verify, redact, sign, encrypt: a bundle is what was written, with or without its secrets."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from collecting import command, read, run
from test_seal import archive_of

from postmortem.collect import CollectOptions
from postmortem.collect.archive import _tar
from postmortem.collect.verify import verify

PM = (sys.executable, "-m", "postmortem")
SECRET = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "b.tar.gz"
    run(CollectOptions(str(path), deadline=15, profile="minimal"))
    return path


def rewritten(bundle: Path, to: Path, change: str) -> Path:
    members = list(read(bundle).members.items())
    names = [name for name, _ in members]
    at = names.index("host/meminfo")
    match change:
        case "a byte":
            members[at] = (names[at], members[at][1].replace(b"MemTotal", b"MemTotaL"))
        case "a member less":
            del members[at]
        case "a member more":
            members.insert(at, ("host/extra", b"x"))
        case "another order":
            members[at], members[at + 1] = members[at + 1], members[at]
        case "the manifest":
            members[-2] = (names[-2], members[-2][1].replace(b'"complete": true', b'"complete":  true'))
        case "twice":
            members.insert(at, members[at])
        case "no END":
            del members[-1]
        case "cut":
            del members[at:]
    to.write_bytes(gzip.compress(b"".join(_tar(name, data, 0) for name, data in members) + b"\0" * 1024))
    return to


def test_a_whole_bundle(bundle: Path) -> None:
    verdict = verify(str(bundle))
    assert (verdict.damage, verdict.missing, verdict.redacted) == ([], [], True)
    assert subprocess.run([*PM, "verify", bundle], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("a byte", "host/meminfo is not what was written"),
        ("a member less", "host/meminfo is missing"),
        ("a member more", "host/extra is not in the manifest"),
        ("another order", "another order"),
        ("the manifest", "the manifest is not what was written"),
        ("twice", "host/meminfo is there twice"),
    ],
)
def test_damage_is_seen(change: str, words: str, bundle: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [*PM, "verify", rewritten(bundle, tmp_path / "x.tar.gz", change)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert words in done.stdout


@pytest.mark.parametrize("change", ["no END", "cut"])
def test_a_part_is_sound_and_partial(change: str, bundle: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [*PM, "verify", rewritten(bundle, tmp_path / "x.tar.gz", change)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stdout
    assert "END: nothing says" in done.stdout
    assert "damaged" not in done.stdout


@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_a_torn_stream_is_partial(share: float, bundle: Path, tmp_path: Path) -> None:
    data = bundle.read_bytes()
    (tmp_path / "x.tar.gz").write_bytes(data[: int(len(data) * share)])
    assert subprocess.run([*PM, "verify", tmp_path / "x.tar.gz"], capture_output=True, check=False).returncode == 3


def test_what_is_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"hello")
    done = subprocess.run([*PM, "verify", tmp_path / "x"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is no bundle" in done.stderr


def test_unredacted_only_by_name_and_redacted_later(tmp_path: Path) -> None:
    log = tmp_path / f"run-{SECRET}.log"
    log.write_text(f"token {SECRET}\nfine\n")
    base = [*PM, "collect", "--deadline", "15", "--profile", "minimal", "--log", log, "--no-redact", "-o"]
    done = subprocess.run([*base, tmp_path / "b.tar.gz"], capture_output=True, text=True, timeout=40, check=False)
    assert done.returncode == 2
    assert "holds no 'unredacted'" in done.stderr
    raw, clean = tmp_path / "b-unredacted.tar.gz", tmp_path / "b.tar.gz"
    assert subprocess.run([*base, raw], capture_output=True, timeout=40, check=False).returncode == 0
    assert read(raw).text(f"logs/tail{log}") == f"token {SECRET}\nfine\n"
    assert (read(raw).manifest["redacted"], verify(str(raw)).redacted) == (False, False)
    assert "redacted: no\n" in read(raw).text("START")
    assert (
        subprocess.run([*PM, "redact", raw, "-o", clean], capture_output=True, timeout=40, check=False).returncode == 0
    )
    everything = b"".join(name.encode() + data for name, data in read(clean).members.items())
    verdict = verify(str(clean))
    assert SECRET.encode() not in everything
    assert (verdict.damage, verdict.missing, verdict.redacted) == ([], [], True)
    assert len(read(clean).members) == len(read(raw).members)
    assert read(clean).manifest["receipts"]


@pytest.mark.parametrize("stop", ["end", "kill"])
def test_encrypted_to_a_public_key_and_readable_after_a_kill(stop: str, tmp_path: Path) -> None:
    pyrage = pytest.importorskip("pyrage")
    identity = pyrage.x25519.Identity.generate()
    out = tmp_path / "b.tar.gz.age"
    from postmortem.collect import Extra

    slow = (Extra("slow", run="sleep 9", seconds=9),) if stop == "kill" else ()
    options = CollectOptions(
        str(out), deadline=15, profile="minimal", encrypt_to=(str(identity.to_public()),), extras=slow
    )
    if stop == "end":
        run(options)
    else:
        process = subprocess.Popen(command(options), stderr=subprocess.DEVNULL)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        process.kill()
        process.wait()
        with pytest.raises(subprocess.TimeoutExpired):  # its writer ends the file
            subprocess.run(["sleep", "9"], timeout=0.7, check=False)
        out = tmp_path / "b.tar.gz.age.partial"
    assert b"meminfo" not in out.read_bytes()
    (tmp_path / "plain.tar.gz").write_bytes(pyrage.decrypt(out.read_bytes(), [identity]))
    members = read(tmp_path / "plain.tar.gz").members
    assert "host/meminfo" in members
    assert ("END" in members) is (stop == "end")


def test_no_public_key_is_wrong_usage(tmp_path: Path) -> None:
    pytest.importorskip("pyrage")
    done = subprocess.run(
        [*PM, "collect", "--encrypt-to", "age1nonsense", "-o", tmp_path / "b"], capture_output=True, check=False
    )
    assert done.returncode == 2


def test_signed_and_checked(tmp_path: Path) -> None:
    if shutil.which("minisign") is None:
        pytest.skip("no minisign on this machine")
    keys = ["-p", tmp_path / "key.pub", "-s", tmp_path / "key"]
    subprocess.run(["minisign", "-G", "-W", "-f", *keys], check=True, capture_output=True)
    out = tmp_path / "b.tar.gz"
    run(CollectOptions(str(out), deadline=15, profile="minimal", sign=str(tmp_path / "key")))
    words = [*PM, "verify", out, "--public-key", tmp_path / "key.pub"]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0
    out.write_bytes(out.read_bytes()[:-4] + b"abcd")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the signature is not good" in done.stdout


def test_two_outputs_and_a_name_that_somebody_took(tmp_path: Path) -> None:
    one, two = tmp_path / "one.tar.gz", tmp_path / "two.tar.gz"
    words = command(CollectOptions(str(one), copies=(str(two), "-"), deadline=15, profile="minimal"))
    done = subprocess.run(words, capture_output=True, timeout=40, check=True)
    (tmp_path / "three.tar.gz").write_bytes(done.stdout)
    assert one.read_bytes()[:5000] == two.read_bytes()[:5000]
    assert all(verify(str(path)).damage == [] for path in (one, two, tmp_path / "three.tar.gz"))
    archive = archive_of(tmp_path / "b.tar.gz")
    (tmp_path / "b.tar.gz").write_bytes(b"somebody else's")
    archive.add("a", b"a", 0)
    archive.close(lambda names, full: [("END", b"", 0)])
    assert archive.sinks[0].path == str(tmp_path / "b-2.tar.gz")
    assert (tmp_path / "b.tar.gz").read_bytes() == b"somebody else's"
    archive.sinks[0].leave()
