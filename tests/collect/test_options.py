"""The configuration file, labels and targets: every mistake with its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from postmortem.collect import CollectOptions, split_label, with_config
from postmortem.collect.plan import load_plan
from postmortem.collect.transport import ssh
from postmortem.errors import UsageError


@pytest.mark.parametrize(
    ("text", "glob", "label"),
    [
        ("/var/log/x.log", "/var/log/x.log", ""),
        ("/var/log/x*.log:daemon", "/var/log/x*.log", "daemon"),
        ("/odd:name/x.log", "/odd:name/x.log", ""),
        ("/a:b:c", "/a:b", "c"),
        (":x", ":x", ""),
        ("x:", "x:", ""),
    ],
)
def test_labels(text: str, glob: str, label: str) -> None:
    assert split_label(text) == (glob, label)


GOOD = """
logs:
  - /data/run/*.log
  - {path: /data/d.log, label: daemon}
scripts: [/data/run.sh]
probes:
  - {name: ports, run: ss -ltnp, seconds: 2.5, bytes: 4096, why: who listens}
  - name: table
    file: /proc/net/tcp
enabled: [kernel, "host.*", clock]
disabled:
  - host.vmstat
"""


def test_a_configuration_adds_to_the_options(tmp_path: Path) -> None:
    path = tmp_path / "pm.yaml"
    path.write_text(GOOD)
    options = with_config(CollectOptions(config=str(path), logs=(("/first.log", ""),)))
    assert options.logs == (("/first.log", ""), ("/data/run/*.log", ""), ("/data/d.log", "daemon"))
    assert options.scripts == ("/data/run.sh",)
    assert [(extra.name, extra.run, extra.file, extra.seconds, extra.bytes) for extra in options.extras] == [
        ("ports", "ss -ltnp", "", 2.5, 4096),
        ("table", "", "/proc/net/tcp", 2.0, 65536),
    ]
    assert (options.enabled, options.disabled) == (("kernel", "host.*", "clock"), ("host.vmstat",))


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("logs: [a]\nlog: [b]\n", ["2: the file has no key 'log'"]),
        ("logs: /a.log\n", ["1: logs must be a list"]),
        ("logs:\n- {label: x}\n", ["2: a log needs a path"]),
        ("probes:\n- {name: x}\n- {run: y}\n", ["2: a probe needs a name", "3: a probe needs a name"]),
        ("probes:\n- {name: x, run: y, file: z}\n", ["2: a probe needs a name, and either"]),
        ("probes:\n- {name: x, run: y, seconds: soon}\n", ["2: seconds must be a number, not 'soon'"]),
        ("probes:\n- {name: x, run: y, bytes: 5000000}\n", ["2: bytes must be at most 4194304"]),
        ("probes:\n- name: x\n  run: y\n  limit: 3\n", ["4: a probe has no key 'limit'"]),
        ("scripts:\n- [a]\n", ["2: must be one line of text"]),
        ("enabled: gpu.pci\n", ["1: enabled must be a list"]),
        ("enabled:\n- clock\n- gpu.smi\n", ["3: no probe and no tier is called 'gpu.smi'"]),
        ("disabled:\n- net.socket\n", ["2: no probe and no tier is called 'net.socket'; did you mean 'net.sockets'?"]),
        ("disabled:\n- [clock]\n- kernels\n", ["2: must be one line of text", "3: no probe and no tier is called"]),
        ("- a\n", ["1: the file must be a mapping"]),
        ("logs: [a\n", ["2: "]),
        ("wrong: 1\nlogs: 2\n", ["1: the file has no key 'wrong'", "2: logs must be a list"]),
    ],
)
def test_mistakes_are_told_with_their_lines(text: str, mistakes: list[str], tmp_path: Path) -> None:
    path = tmp_path / "pm.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        with_config(CollectOptions(config=str(path)))
    lines = str(caught.value).splitlines()
    assert len(lines) == len(mistakes)
    assert all(line.startswith(f"{path}:{mistake}") for line, mistake in zip(lines, mistakes, strict=True))


def test_the_example_in_the_docs_is_right(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "bundle.md").read_text(encoding="utf-8")
    (tmp_path / "pm.yaml").write_text(text.split("```yaml\n")[1].split("```")[0])
    options = with_config(CollectOptions(config=str(tmp_path / "pm.yaml")))
    assert [extra.name for extra in options.extras] == ["ports", "table"]
    tiers = [
        tier
        for tier in dict.fromkeys(spec.tier for spec in load_plan().specs)
        if f"`{tier}`" not in text.replace("\n", " ")
    ]
    assert tiers == []


ALL = {spec.name for spec in load_plan().specs}
KERNEL = {"kernel.log", "kernel.flags", "kernel.cmdline", "kernel.modules"}


@pytest.mark.parametrize(
    ("enabled", "disabled", "kept"),
    [
        ((), (), ALL),
        ((), ("logs.*",), ALL - {"logs.tail", "logs.deleted", "logs.inventory", "logs.full"}),
        (("kernel",), (), KERNEL),
        (("kernel", "clock"), ("kernel.modules",), KERNEL - {"kernel.modules"} | {"clock"}),
        (("kernel.*",), (), KERNEL | {"kernel.pstore"}),
        (("clock",), ("clock",), set()),
    ],
    ids=["all", "but a glob", "a tier", "a tier and a name, but one", "a glob", "nothing"],
)
def test_which_probes_are_chosen(enabled: tuple[str, ...], disabled: tuple[str, ...], kept: set[str]) -> None:
    assert ALL - load_plan().left_out(enabled, disabled) == kept


def test_an_empty_configuration_is_none(tmp_path: Path) -> None:
    (tmp_path / "pm.yaml").write_text("# nothing\n")
    assert with_config(CollectOptions(config=str(tmp_path / "pm.yaml"))).logs == ()


@pytest.mark.parametrize(
    ("target", "host", "port"),
    [
        ("box", "box", None),
        ("root@10.0.0.7:40022", "root@10.0.0.7", "40022"),
        ("u@[::1]:22", "u@::1", "22"),
        ("[fe80::1%eth0]", "fe80::1%eth0", None),
    ],
)
def test_targets(target: str, host: str, port: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    argv = ssh(CollectOptions(ssh=target, ssh_options=("User=me",), deadline=8)).argv
    assert argv[argv.index("--") + 1] == host
    assert (argv[argv.index("-p") + 1] if "-p" in argv else None) == port
    assert argv.index("User=me") < argv.index("BatchMode=yes")
    assert {
        "ConnectTimeout=4",
        "StrictHostKeyChecking=accept-new",
        f"UserKnownHostsFile={tmp_path}/postmortem/known_hosts",
    } <= set(argv)


@pytest.mark.parametrize("target", ["", "-oProxyCommand=evil", "root@-x", "a b", "box:ssh", "box:", "user@"])
def test_what_is_no_target(target: str) -> None:
    with pytest.raises(UsageError, match="not a machine"):
        ssh(CollectOptions(ssh=target))
