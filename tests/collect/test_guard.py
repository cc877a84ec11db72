"""The guarded destroy and the hook recipes: evidence first, and the destroy whatever happened."""

from __future__ import annotations

import http.server
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from collecting import read, read_tar

from clocked import Stopwatch
from postmortem.collect import CollectOptions, agent_script
from postmortem.collect.guard import hooks

PM = (sys.executable, "-m", "postmortem")
DOCS = Path(__file__).parent.parent.parent / "docs" / "hooks.md"


def program(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def bin_(tmp_path: Path) -> Path:
    """A folder for the PATH with a `postmortem` in it."""
    program(tmp_path / "bin", "postmortem", f'#!/bin/sh\nexec {sys.executable} -m postmortem "$@"\n')
    return tmp_path / "bin"


def shell(bin_: Path, *words: str | Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    path = f"{bin_}:{os.environ['PATH']}"
    full = {**os.environ, "PATH": path, "POSTMORTEM_OUT": str(bin_.parent), **env}
    return subprocess.run(list(map(str, words)), capture_output=True, timeout=60, env=full, check=False)


def recipe(tmp_path: Path, name: str) -> Path:
    return program(tmp_path, f"{name}.sh", hooks()[name])


@pytest.mark.parametrize(
    ("command", "code"),
    [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)],
    ids=["succeeds", "fails", "is killed"],
)
def test_guard_ends_with_the_status_of_the_destroy(command: str, code: int, tmp_path: Path) -> None:
    words = [
        *PM,
        "guard",
        "--deadline",
        "8",
        "-o",
        tmp_path / "b.tar.gz",
        "--attach",
        "market=echo price 0.31; echo token=SentinelValue77; exit 3",
    ]
    done = subprocess.run(
        [*words, "--", "sh", "-c", f"ls {tmp_path}/b.tar.gz && {command}"], capture_output=True, timeout=40, check=False
    )
    bundle = read(tmp_path / "b.tar.gz")
    assert done.returncode == code, done.stderr
    assert b"b.tar.gz" in done.stdout  # it was there before the destroy began
    assert bundle.text("attach/market").startswith("price 0.31\ntoken=[hidden:")
    assert bundle.probe("attach.market")["reason"] == "exit status 3"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--config", "/no/such/file"), "No such file"),
        (("--ssh", "root@127.0.0.1:1"), "no agent answered"),
        (("--attach", "slow=sleep 60", "--deadline", "2"), "partial|complete"),
    ],
    ids=["a collection that cannot begin", "no machine", "an attached command that hangs"],
)
def test_guard_destroys_whatever_became_of_the_collection(options: tuple[str, ...], why: str, tmp_path: Path) -> None:
    watch = Stopwatch()
    words = [
        *PM,
        "guard",
        "--deadline",
        "4",
        "-o",
        tmp_path / "b.tar.gz",
        *options,
        "--",
        "touch",
        tmp_path / "destroyed",
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=40, check=False)
    assert done.returncode == 0
    assert (tmp_path / "destroyed").exists()
    assert any(word in done.stderr for word in why.split("|"))
    assert watch.seconds() < 6


def test_a_destroy_that_hangs_is_ended_and_a_wrong_option_destroys_nothing(tmp_path: Path) -> None:
    base = [*PM, "guard", "--deadline", "3", "--profile", "minimal", "-o", tmp_path / "b.tar.gz"]
    done = subprocess.run(
        [*base, "--destroy-deadline", "1", "--", "sleep", "30"], capture_output=True, timeout=30, check=False
    )
    assert done.returncode == 124
    done = subprocess.run(
        [*base, "--nonsense", "--", "touch", tmp_path / "x"], capture_output=True, timeout=30, check=False
    )
    assert (done.returncode, (tmp_path / "x").exists()) == (2, False)


def test_a_term_hurries_the_collection_and_the_destroy_still_runs(tmp_path: Path) -> None:
    words = [
        *PM,
        "guard",
        "--deadline",
        "30",
        "-o",
        tmp_path / "b.tar.gz",
        "--attach",
        "slow=sleep 9",
        "--",
        "touch",
        tmp_path / "destroyed",
    ]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    time.sleep(1.5)
    process.send_signal(signal.SIGTERM)
    assert process.wait(6) == 0
    assert (tmp_path / "destroyed").exists()
    assert "END" in read(tmp_path / "b.tar.gz").members


def test_the_documents_hold_the_recipes() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert [name for name, script in hooks().items() if script not in text] == []


@pytest.mark.parametrize(
    ("work", "code", "kept"),
    [("true", 0, 0), ("exit 3", 3, 1), ("kill -9 $$", 137, 1)],
    ids=["good", "fails", "killed"],
)
def test_the_exit_trap(work: str, code: int, kept: int, bin_: Path, tmp_path: Path) -> None:
    done = shell(bin_, "bash", recipe(tmp_path, "bash-exit-trap"), "sh", "-c", work)
    found = list(tmp_path.glob("*.tar.gz"))
    assert (done.returncode, len(found)) == (code, kept), done.stderr
    assert all(read(path).manifest["incident"] == f"exit-{code}" for path in found)


@pytest.mark.parametrize(("work", "code", "kept"), [("true", 0, 0), ("kill -9 $$", 137, 1)], ids=["good", "killed"])
def test_the_entrypoint(work: str, code: int, kept: int, bin_: Path, tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    agent.write_text(agent_script(CollectOptions(deadline=8, profile="minimal")))
    done = shell(bin_, "sh", recipe(tmp_path, "entrypoint"), "sh", "-c", work, POSTMORTEM_AGENT=str(agent))
    found = list(tmp_path.glob("capture-*.tar.gz"))
    assert (done.returncode, len(found)) == (code, kept), done.stderr
    assert all("END" in read(path).members for path in found)


def test_vast_collects_before_it_destroys(bin_: Path, tmp_path: Path) -> None:
    program(bin_, "vastai", f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\necho "answer to $*"\n')
    done = shell(bin_, "sh", recipe(tmp_path, "vast"), "7", "root@127.0.0.1:1")
    calls = (tmp_path / "calls").read_text().splitlines()
    assert done.returncode == 0, done.stderr
    assert calls[-1] == "destroy instance 7 -y"
    assert sorted(calls[:-1]) == ["logs 7", "show instance 7 --raw"]
    assert read(tmp_path / "vast-7.tar.gz").text("attach/vast-logs") == "answer to logs 7\n"


@pytest.mark.parametrize(("code", "kept"), [("0:0", 0), ("9:0", 1)])
def test_the_slurm_epilog_always_ends_well(code: str, kept: int, bin_: Path, tmp_path: Path) -> None:
    path = recipe(tmp_path, "slurm-epilog")
    assert shell(bin_, "sh", path, SLURM_JOB_ID="71", SLURM_JOB_EXIT_CODE2=code).returncode == 0
    assert len(list(tmp_path.glob("*job-71.tar.gz"))) == kept
    program(bin_, "postmortem", "#!/bin/sh\nexit 9\n")
    assert shell(bin_, "sh", path, SLURM_JOB_ID="72", SLURM_JOB_EXIT_CODE2=code).returncode == 0


def test_the_systemd_lines(bin_: Path, tmp_path: Path) -> None:
    text = hooks()["systemd"]
    line = next(line for line in text.splitlines() if line.startswith("ExecStopPost=-/bin/sh -c "))
    script = line.partition(" -c ")[2].strip("'").replace("/var/tmp", str(tmp_path))
    for result, kept in (("success", 0), ("oom-kill", 1)):
        done = shell(bin_, "/bin/sh", "-c", script, SERVICE_RESULT=result, EXIT_STATUS="9", INVOCATION_ID="abc")
        assert len(list(tmp_path.glob("postmortem-abc.tar.gz"))) == kept, done.stderr
    if shutil.which("systemd-analyze"):
        unit = tmp_path / "x.service"
        body = text.replace("postmortem collect", "/bin/true").replace("OnFailure=postmortem@%n.service\n", "")
        unit.write_text(body.replace("[Service]\n", "[Service]\nExecStart=/bin/true\n"))
        checked = subprocess.run(
            ["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=30, check=False
        )
        assert "x.service" not in checked.stderr, checked.stderr


def test_the_prestop_command(bin_: Path, tmp_path: Path) -> None:
    import yaml

    pod = yaml.safe_load(hooks()["kubernetes"])
    container = pod["spec"]["containers"][0]
    words = container["lifecycle"]["preStop"]["exec"]["command"]
    (tmp_path / "agent").write_text(agent_script(CollectOptions(deadline=8, profile="minimal")))
    script = (
        words[2].replace("/usr/local/bin/postmortem-agent", str(tmp_path / "agent")).replace("/evidence", str(tmp_path))
    )
    assert shell(bin_, *words[:2], script).returncode == 0
    (found,) = tmp_path.glob("prestop-*.tar.gz")
    assert "END" in read(found).members
    assert pod["spec"]["terminationGracePeriodSeconds"] > 12


class Metadata(http.server.BaseHTTPRequestHandler):
    """AWS' answers: 404 until the third look."""

    looks = 0

    def do_PUT(self) -> None:
        self.answer(200, b"token")

    def do_GET(self) -> None:
        if "spot" in self.path:
            Metadata.looks += 1
        self.answer(200 if Metadata.looks >= 3 and "spot" in self.path else 404, b'{"action": "terminate"}')

    def answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None: ...


def test_the_spot_watcher(bin_: Path, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metadata) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        done = shell(
            bin_, "sh", recipe(tmp_path, "spot-notice"), POSTMORTEM_METADATA=url, POSTMORTEM_POLL="0.1", no_proxy="*"
        )
        server.shutdown()
    assert done.returncode == 0, done.stderr
    (found,) = tmp_path.glob("postmortem-spot-*.tar.gz")
    assert read(found).manifest["incident"] == "spot-notice"
    assert Metadata.looks >= 3
    assert read_tar(b"").members == {}
