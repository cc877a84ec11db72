"""Archives in object storage: a real S3 server on loopback, read through obstore."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import fleets
import pytest
from fleets import last_run, rows, sorted_lines, triage

obstore = pytest.importorskip("obstore", reason="the extra [s3] is not installed")
pytest.importorskip("moto.server", reason="moto[server] is not installed")
BUCKET = "incidents"


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    """The environment that reaches the server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        yield {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        }  # fmt: skip
    finally:
        process.kill()
        process.wait()


def wait_for(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the S3 server did not start")


def put(server: dict[str, str], folder: Path, prefix: str) -> None:
    """The folder's files as objects; the bucket is made by a plain request."""
    import urllib.request

    from obstore.store import S3Store

    urllib.request.urlopen(urllib.request.Request(f"{server['AWS_ENDPOINT_URL']}/{BUCKET}", method="PUT")).close()
    store = S3Store(
        BUCKET, endpoint=server["AWS_ENDPOINT_URL"], access_key_id="test", secret_access_key="test", region="us-east-1",
        client_options={"allow_http": True},
    )  # fmt: skip
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        obstore.put(store, f"{prefix}/{file.relative_to(folder)}", file.read_bytes())


def test_the_same_rows_from_a_bucket_and_resume_by_etag(server: dict[str, str], tmp_path: Path) -> None:
    archives = fleets.fleet(tmp_path / "in", 12)
    (archives / "notes.txt").write_text("no archive\n")
    put(server, archives, "fleet/2026")
    url, out = f"s3://{BUCKET}/fleet/2026", tmp_path / "s3"
    ran = triage(url, "--out", out, **server)
    assert ran.returncode == 0, ran.stderr
    assert triage(archives, "--out", tmp_path / "local").returncode == 0
    assert sorted_lines(out) == sorted_lines(tmp_path / "local")
    again = tmp_path / "again"
    fleets.bundle(again / "late.tar.gz", "port", 5)
    (again / "copy.tar.gz").write_bytes((archives / "0/000.tar.gz").read_bytes())
    put(server, again, "fleet/2026")
    assert triage(url, "--out", out, "--resume", **server).returncode == 0
    run = last_run(out)
    assert (run["read"], run["copied"], run["kept"]) == (1, 1, 13)


def test_an_object_that_is_gone_is_a_row_and_is_tried_again(
    server: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from postmortem.signatures import load
    from postmortem.triage.job import Batch, Item, Options
    from postmortem.triage.minder import Children
    from postmortem.triage.work import run_batch

    for name, value in server.items():
        monkeypatch.setenv(name, value)
    put(server, fleets.bundle(tmp_path / "in/a.tar.gz", "port").parent, "p")
    items = (Item("gone.tar.gz", f"s3://{BUCKET}/p/gone.tar.gz"), Item("a.tar.gz", f"s3://{BUCKET}/p/a.tar.gz"))
    children = Children()
    try:
        gone, there = run_batch(Batch(items, Options(load().digest)), children)
    finally:
        children.close()
    assert gone.row
    assert there.row
    assert gone.row["status"] == "unread"
    assert gone.row["error"].startswith("cannot fetch gone.tar.gz: ")
    assert gone.id == "", "so that --resume asks for it again"
    assert there.row["class"] == "network.port-in-use"
    assert not list(Path(os.environ.get("TMPDIR", "/tmp")).glob("postmortem-triage-*/gone.tar.gz"))


@pytest.mark.parametrize(("url", "says"), [("s3://no-such-bucket/x", "no-such-bucket")], ids=["no such bucket"])
def test_what_cannot_be_listed_is_one_sentence(server: dict[str, str], tmp_path: Path, url: str, says: str) -> None:
    ran = triage(url, "--out", tmp_path / "o", "--format", "json", **server)
    assert ran.returncode == 1
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr
    assert json.dumps(rows(tmp_path / "o")) == "[]"
