"""Shipping to servers that really run on loopback: acknowledged, retried inside the deadline, resumed, no secret in argv."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from collecting import command, read, run
from test_ssh import Server, server  # noqa: F401

from clocked import Stopwatch
from postmortem.collect import CollectOptions
from postmortem.collect.ship import target_of
from postmortem.collect.ship.push import MOST, summary, together
from postmortem.errors import UsageError

PM = (sys.executable, "-m", "postmortem")


@dataclass
class Receiver:
    """What came; `fail` is how many requests are answered with 503 first, `drop` how many connections are cut."""

    url: str = ""
    fail: int = 0
    drop: int = 0
    delay: float = 0.0
    got: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    state = Receiver()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            if state.drop > 0:
                state.drop -= 1
                self.rfile.read(1000)
                self.connection.close()
                return
            body = self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(state.delay)
            if state.fail > 0:
                state.fail -= 1
                self.answer(503, b"")
                return
            state.got.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            self.answer(204 if self.command == "POST" else 200, body)

        do_POST = do_PUT

        def answer(self, code: int, body: bytes) -> None:
            self.send_response(code)
            self.send_header("ETag", f'"{hashlib.md5(body).hexdigest()}"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        web.handle_error = lambda *args: None  # type: ignore[method-assign]
        threading.Thread(target=web.serve_forever, daemon=True).start()
        state.url = f"http://127.0.0.1:{web.server_port}"
        yield state
        web.shutdown()


def small(out: Path, *ship: str, **more: object) -> CollectOptions:
    return CollectOptions(str(out), profile="minimal", ship=ship, **{"deadline": 12, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["", "put+", "post+"])
def test_http_takes_the_same_bytes_as_the_file(form: str, receiver: Receiver, tmp_path: Path) -> None:
    out = tmp_path / "b.tar.gz"
    code, _ = run(small(out, f"{form}{receiver.url}/k/b.tar.gz"), POSTMORTEM_SHIP_HEADERS="X-Who: me", no_proxy="*")
    ((method, path, headers, body),) = receiver.got
    (tmp_path / "got.tar.gz").write_bytes(body)
    assert (code, method, path, headers["x-who"]) == (0, "POST" if form == "post+" else "PUT", "/k/b.tar.gz", "me")
    assert read(tmp_path / "got.tar.gz").members.keys() == read(out).members.keys()
    assert read(tmp_path / "got.tar.gz").manifest["complete"] is True


@pytest.mark.parametrize(("fail", "drop"), [(2, 0), (0, 2), (1, 1)], ids=["busy", "cut", "both"])
def test_it_is_tried_again(fail: int, drop: int, receiver: Receiver, tmp_path: Path) -> None:
    receiver.fail, receiver.drop = fail, drop
    words = command(small(tmp_path / "b.tar.gz", f"{receiver.url}/x"))
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=40, check=False, env={**os.environ, "no_proxy": "*"}
    )
    assert "at try 3" in done.stderr
    assert len(receiver.got) == 1


@pytest.mark.parametrize("what", ["a port that nobody listens on", "a server that never answers"])
def test_a_dead_receiver_costs_the_deadline_at_most_and_no_evidence(
    what: str, receiver: Receiver, tmp_path: Path
) -> None:
    receiver.delay = 30
    url = receiver.url if "never" in what else "http://127.0.0.1:1"
    watch = Stopwatch()
    words = command(small(tmp_path / "b.tar.gz", f"{url}/x", deadline=5))
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=40, check=False, env={**os.environ, "no_proxy": "*"}
    )
    assert done.returncode == 0
    assert watch.seconds() <= 5.5
    assert "not shipped to http://127.0.0.1" in done.stderr
    assert "END" in read(tmp_path / "b.tar.gz").members


def test_without_a_place_for_the_file_it_is_shipped_from_memory(receiver: Receiver, tmp_path: Path) -> None:
    for name in ("disk", "lower"):
        (tmp_path / name).mkdir()
    if os.geteuid():
        pytest.skip("needs root")
    script = 'mount -t tmpfs -o size=8k none "$1/disk" && shift && exec "$@"'
    words = command(small(tmp_path / "disk/b.tar.gz", f"{receiver.url}/x"))
    env = {**os.environ, "no_proxy": "*"}
    subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", tmp_path, *words],
        env=env,
        cwd=tmp_path,
        timeout=40,
        check=True,
        capture_output=True,
    )
    (tmp_path / "got.tar.gz").write_bytes(receiver.got[0][3])
    assert read(tmp_path / "got.tar.gz").manifest["complete"] is True


def test_log_push_in_small_bodies_summary_first_and_put_together_again(receiver: Receiver, tmp_path: Path) -> None:
    log = tmp_path / "noise.log"
    log.write_bytes(b"".join(b"%s\n" % os.urandom(60).hex().encode() for _ in range(9000)))
    out = tmp_path / "b.tar.gz"
    run(
        small(out, f"logpush+{receiver.url}/api/log-push", logs=((str(log), ""),)),
        POSTMORTEM_INSTANCE_UUID="u-7",
        no_proxy="*",
    )
    assert all(headers["x-instance-uuid"] == "u-7" and len(body) < MOST for _, _, headers, body in receiver.got)
    assert [headers["x-log-source"] for _, _, headers, _ in receiver.got[:2]] == [
        "postmortem-summary",
        "postmortem-bundle",
    ]
    assert receiver.got[0][3].startswith(b"postmortem bundle b.tar.gz of ")
    assert len(receiver.got) >= 4
    pushed = [f"2026-01-01 [bundle] {line}" for _, _, _, body in receiver.got for line in body.decode().splitlines()]
    (tmp_path / "got.tar.gz").write_bytes(together(reversed(pushed))["b.tar.gz"])
    assert read(tmp_path / "got.tar.gz").members.keys() == read(out).members.keys()
    with pytest.raises(ValueError, match="parts 2 of"):
        together(line for line in pushed if "b.tar.gz 2/" not in line)


def test_log_push_goes_on_where_it_was_cut(receiver: Receiver, tmp_path: Path) -> None:
    bundle = tmp_path / "b.tar.gz"
    bundle.write_bytes(os.urandom(600_000))
    receiver.fail = 0
    env = {**os.environ, "no_proxy": "*"}
    words = [*PM, "ship", bundle, f"logpush+{receiver.url}/p"]
    (tmp_path / "b.tar.gz.shipped").write_text("{not json")  # torn by a kill: then all is sent
    assert subprocess.run(words, env=env, timeout=40, capture_output=True, check=False).returncode == 0
    first, marks = len(receiver.got), json.loads((tmp_path / "b.tar.gz.shipped").read_text())
    (tmp_path / "b.tar.gz.shipped").write_text(json.dumps(dict.fromkeys(marks, 3)))
    assert subprocess.run(words, env=env, timeout=40, capture_output=True, check=False).returncode == 0
    assert (first, len(receiver.got) - first) == (5, 2)
    assert (
        together(line for got in receiver.got for line in got[3].decode().splitlines())["b.tar.gz"]
        == bundle.read_bytes()
    )


def test_s3_by_obstore(receiver: Receiver, tmp_path: Path) -> None:
    pytest.importorskip("obstore")
    keys = {
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "made-up",
        "AWS_ENDPOINT_URL": receiver.url,
        "AWS_REGION": "us-east-1",
    }
    out = tmp_path / "b.tar.gz"
    words = command(small(out, "s3://evidence/failed/"))
    done = subprocess.run(
        words, env={**os.environ, **keys, "no_proxy": "*"}, capture_output=True, text=True, timeout=40, check=False
    )
    assert "shipped to s3://evidence/failed/" in done.stderr, done.stderr
    assert [(method, path) for method, path, _, _ in receiver.got] == [("PUT", "/evidence/failed/b.tar.gz")]


@pytest.mark.root
def test_ssh_appends_to_what_is_there(server: Server, tmp_path: Path) -> None:  # noqa: F811
    bundle, there = tmp_path / "b.tar.gz", tmp_path / "there/b.tar.gz"
    bundle.write_bytes(os.urandom(300_000))
    there.parent.mkdir()
    part = there.with_name(f"b.tar.gz.{hashlib.sha256(bundle.read_bytes()).hexdigest()[:8]}.partial")
    part.write_bytes(bundle.read_bytes()[:100_000])
    env = {**os.environ, "POSTMORTEM_SHIP_SSH_OPTIONS": " ".join(server.options), "XDG_STATE_HOME": server.state}
    words = [*PM, "ship", bundle, f"ssh://root@127.0.0.1:{server.port}{there.parent}/"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert "100000 of them from before" in done.stderr, done.stderr
    assert there.read_bytes() == bundle.read_bytes()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("https://u:pw@host/x", "shows in every process list"),
        ("https://b.s3.amazonaws.com/k?X-Amz-Signature=abc", "shows in every process list"),
        ("ftp://host/x", "is no https"),
        ("env:NOT_THERE_AT_ALL", "has no NOT_THERE_AT_ALL"),
        ("@/no/such/file", "No such file"),
    ],
    ids=["userinfo", "presigned", "scheme", "env", "file"],
)
def test_what_is_no_target(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        target_of(text)


def test_a_presigned_url_from_the_environment_shows_nowhere(receiver: Receiver, tmp_path: Path) -> None:
    secret = "S1gnatureSentinel99"
    words = command(small(tmp_path / "b.tar.gz", "env:UPLOAD"))
    env = {**os.environ, "UPLOAD": f"{receiver.url}/k?X-Amz-Signature={secret}", "no_proxy": "*"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=40, check=False)
    assert receiver.got[0][1].endswith(secret)
    assert secret not in done.stderr
    assert secret.encode() not in b"".join(read(tmp_path / "b.tar.gz").members.values())


def test_a_summary_of_what_cannot_be_read_is_one_line() -> None:
    assert summary("x.tar.gz.age", b"age-encryption.org/v1").startswith(b"postmortem bundle x.tar.gz.age of None")
