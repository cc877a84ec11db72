"""What stands beside the verdict: memory, tasks, GPUs, processes, scripts, context, sources, activity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import postmortem
from postmortem.report.html.links import Links
from postmortem.report.html.picture import picture
from postmortem.sources.hits import LAST_HITS, READ_HITS

OOM = """\
[Wed Jun 11 03:46:40 2026] trainer invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[Wed Jun 11 03:46:40 2026] CPU: 3 PID: 700 Comm: trainer Not tainted 6.8.0-45-generic #45-Ubuntu
[Wed Jun 11 03:46:40 2026] memory: usage 1048576kB, limit 1048576kB, failcnt 77
[Wed Jun 11 03:46:40 2026] Tasks state (memory values in pages):
[Wed Jun 11 03:46:40 2026] [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[Wed Jun 11 03:46:40 2026] [    650]     0   650     1000      100    53248        0             0 sh
[Wed Jun 11 03:46:40 2026] [    700]     0   700   300000   200000  1753248        0             0 trainer
[Wed Jun 11 03:46:40 2026] [    701]     0   701    90000    50000   153248        0             0 loader
[Wed Jun 11 03:46:40 2026] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/docker/aa11,task_memcg=/docker/aa11,task=trainer,pid=700,uid=0
[Wed Jun 11 03:46:40 2026] Memory cgroup out of memory: Killed process 700 (trainer) total-vm:1200000kB, anon-rss:800000kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1712kB oom_score_adj:0
"""
SMI = """\
index, name, pci.bus_id, temperature.gpu, memory.used [MiB], memory.total [MiB], ecc.errors.uncorrected.volatile.total, pcie.link.width.current, pcie.link.width.max
0, NVIDIA L4, 00000000:17:00.0, 45, 100 MiB, 23034 MiB, 0, 16, 16
1, NVIDIA L4, 00000000:65:00.0, 93, 22900 MiB, 23034 MiB, 3, 8, 16
"""
PS = """\
    PID    PPID STAT     RSS COMMAND
      1       0 Ss      3012 /bin/bash /start.sh
     40       1 S      90000 daemon
     41      40 Z          0 [worker] <defunct>
     42      40 D       1000 reader
"""


def report(tmp_path: Path, **files: str) -> Any:
    for name, text in files.items():
        file = tmp_path / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return postmortem.analyze(tmp_path)


def of(made: Any, kind: str, name: str = "") -> list[Any]:
    return [e for e in made["exhibits"] if e["kind"] == kind and (not name or e.get("name") == name)]


def test_memory_of_the_group_that_was_full(tmp_path: Path) -> None:
    (one,) = of(report(tmp_path, dmesg_txt=OOM), "series", "memory")
    assert one["entity"] == {"cgroup": "/docker/aa11"}
    assert [(p["name"], p["value"]) for p in one["levels"]] == [("limit", 1 << 30)]
    assert [(p["name"], p["value"], p["line"]) for p in one["points"]] == [("in use", 1 << 30, 10)]
    assert one["marks"][0]["text"] == "OOM kill of trainer"


def test_memory_of_a_container_by_its_files(tmp_path: Path) -> None:
    files = {"cgroup__memory_max": "1000000\n", "cgroup__memory_peak": "900000\n", "cgroup__memory_current": "10\n"}
    (one,) = of(report(tmp_path, **files), "series", "memory")
    assert {p["name"]: p["value"] for p in [*one["levels"], *one["points"]]} == {
        "limit": 1000000,
        "peak": 900000,
        "in use": 10,
    }
    assert one["title"] == "Memory of the container"


def test_no_memory_without_numbers(tmp_path: Path) -> None:
    assert of(report(tmp_path, cgroup__memory_max="max\n", cgroup__memory_current="10\n"), "series", "memory") == []


def test_tasks_by_what_they_held(tmp_path: Path) -> None:
    (table,) = of(report(tmp_path, dmesg_txt=OOM), "table", "oom-tasks")
    assert [(r["values"]["name"], r["values"]["rss"], r["note"]) for r in table["rows"]] == [
        ("trainer", 200000 * 4096, "killed"),
        ("loader", 50000 * 4096, ""),
        ("sh", 100 * 4096, ""),
    ]
    assert table["line"] == 5


def test_no_table_where_the_record_has_none(tmp_path: Path) -> None:
    text = "".join(line for line in OOM.splitlines(keepends=True) if "] [" not in line)
    assert of(report(tmp_path, dmesg_txt=text), "table", "oom-tasks") == []


def test_gpus_with_what_is_abnormal(tmp_path: Path) -> None:
    (table,) = of(report(tmp_path, gpus_csv=SMI), "table", "gpus")
    assert [sorted(r["abnormal"]) for r in table["rows"]] == [
        [],
        ["ecc_uncorrected", "memory_used", "pcie_width", "temperature"],
    ]


def test_process_tree(tmp_path: Path) -> None:
    (tree,) = of(report(tmp_path, ps_txt=PS), "tree")
    assert [(n["pid"], n["depth"], n["mark"]) for n in tree["nodes"]] == [
        ("1", 0, ""),
        ("40", 1, ""),
        ("41", 2, "zombie"),
        ("42", 2, "uninterruptible"),
    ]


def test_a_big_process_tree_keeps_what_matters(tmp_path: Path) -> None:
    rows = "".join(f"{n:7d} {1 if n < 4000 else n - 1:7d} S          1 p{n}\n" for n in range(2000, 4100))
    (tree,) = of(report(tmp_path, ps_txt=PS + rows), "tree")
    assert len(tree["nodes"]) + tree["left_off"] == 2104
    assert {"41", "42", "40", "1"} <= {n["pid"] for n in tree["nodes"]}


@pytest.mark.parametrize(
    "table",
    ["    PID    PPID STAT     RSS COMMAND\n      5       6 S       1 a\n      6       5 Z       0 b\n", PS + PS],
    ids=["circle of parents", "twice"],
)
def test_process_tree_of_odd_tables_ends(table: str, tmp_path: Path) -> None:
    (tree,) = of(report(tmp_path, ps_txt=table), "tree")
    assert len({n["pid"] for n in tree["nodes"]}) == len(tree["nodes"])


def test_script_and_context(sample: Any) -> None:
    script = of(sample, "script")[0]
    assert script["line"] == 346
    assert next(row["text"] for row in script["lines"] if row["line"] == 346) == "else"
    windows = of(sample, "context")
    assert all(set(w["marked"]) <= {row["line"] for row in w["lines"]} for w in windows)
    shown = [(w["source"], row["line"]) for w in windows for row in w["lines"] if row["line"] in w["marked"]]
    assert len(shown) == len(set(shown))


def test_sources_within_a_bound(tmp_path: Path) -> None:
    files = {f"part{n}_log": f"2026-01-01T00:00:00Z INFO app: line {'y' * 90}\n" * 300 for n in range(20)}
    files["big_log"] = "2026-01-01T00:00:00Z INFO app: x\n" * 5000
    made = of(report(tmp_path, **files), "source")
    assert 0 < sum(len(one["text"]) for one in made) <= 320 << 10
    assert "big.log" not in {one["source"] for one in made}


def test_a_secret_is_hidden_in_every_exhibit(tmp_path: Path) -> None:
    key = (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + "MIIEowIBAAKCAQEAu5Qv8m2fXyq0cT3s\n" * 8
        + "-----END RSA PRIVATE KEY-----\n"
    )
    log = f"{key}2026-01-01T00:00:00Z ERROR app: bind: Address already in use (os error 98)\n"
    made = report(tmp_path, app_log=log)
    assert of(made, "source")
    assert "MIIEowIBAAKCAQEAu5Qv8m2fXyq0cT3s" not in str(made)


def test_activity_counts_the_lines(tmp_path: Path) -> None:
    lines = "".join(f"2026-01-01T00:00:{n:02d}Z INFO app: tick {n}\n" for n in range(50))
    (one,) = of(report(tmp_path, app_log=lines), "series", "activity")
    assert sum(one["sources"][0]["counts"]) == 50


def test_order_only_where_nothing_has_a_time(tmp_path: Path, sample: Any) -> None:
    log = "starting\nError: bind: Address already in use (os error 98)\n"
    made = report(tmp_path, app_log=log)
    (one,) = of(made, "series", "order")
    assert (one["unit"], one["rows"][0]["at"]) == ("line", 2)
    assert made["timeline"] == []
    assert of(sample, "series", "order") == []


def notes_of(made: Any) -> tuple[str, ...]:
    drawn = picture(made, Links(made))
    assert drawn is not None
    return drawn.notes


def test_many_events_are_binned_and_counted(tmp_path: Path) -> None:
    lines = "".join(
        f"2026-01-01T{n // 3600:02d}:{n // 60 % 60:02d}:{n % 60:02d}+00:00 h kernel: NVRM: Xid (PCI:0000:0{n % 8}:00): 31, pid={n}, name=t, Ch 8\n"
        for n in range(900)
    )
    made = report(tmp_path, kern_log=lines)
    assert len(made["timeline"]) < 500
    told = sum(row.get("count", 1) for row in made["timeline"])
    assert told == READ_HITS + LAST_HITS
    assert [s.get("sampled") for s in made["input"]["sources"]] == [True]
    assert "only the first and the last lines of each kind" in " ".join(notes_of(made))
    assert [r["when"]["utc"] for r in made["timeline"]] == sorted(r["when"]["utc"] for r in made["timeline"])


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        (
            "[    0.000000] Linux version 5.15.0-91-generic (buildd@lcy02) (gcc 11.4.0) #101-Ubuntu SMP\n[    1.000000] x\n",
            "5.15.0-91-generic",
        ),
        (OOM, "6.8.0-45-generic"),
        ("[    0.100000] usb 1-1: new device\n[    1.000000] eth0: link up\n", ""),
    ],
    ids=["boot", "oom record", "neither"],
)
def test_kernel_of_the_machine(text: str, kernel: str, tmp_path: Path) -> None:
    assert report(tmp_path, dmesg_txt=text)["machine"]["kernel"] == kernel


def test_machine_by_the_collector(tmp_path: Path) -> None:
    told = "boot_id: 561a82bf-39ef-40ca-8425-e7bc2445345c\nhostname: h\nversion: Linux version 6.1.0-9-amd64 (a@b) #1\n"
    machine = report(tmp_path, identity__machine=told)["machine"]
    assert (machine["boot_id"], machine["kernel"]) == ("561a82bf-39ef-40ca-8425-e7bc2445345c", "6.1.0-9-amd64")
