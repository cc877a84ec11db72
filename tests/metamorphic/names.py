"""Names replaced: files, hosts, pids, paths, GPU addresses; each consistently over all files of a case."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from evidence import LOGS, DoesNotApply, Files, each, kind, lines

from postmortem.lines import split
from postmortem.model import Kind

# Files whose name is the kernel's name of the number in them: no tool could read them under another one.
NAMED_BY_THE_KERNEL = frozenset({Kind.CGROUP, Kind.PROC, Kind.PROBE, Kind.BINARY})
SYSTEM = frozenset(
    [
        "bin",
        "boot",
        "dev",
        "etc",
        "lib",
        "lib32",
        "lib64",
        "proc",
        "run",
        "sbin",
        "sys",
        "tmp",
        "usr",
        "var",
        "root",
        "docker",
        "kubepods",
        "init.scope",
    ]
)
HOMES = frozenset(["home", "opt", "srv", "mnt", "media", "data", "export"])
NOT_HOSTS = frozenset(
    [
        "localhost",
        "kernel",
        "host",
        "node",
        "worker",
        "master",
        "server",
        "docker",
        "root",
        "ubuntu",
        "debian",
        "container",
    ]
)


def neutral_files(given: Files) -> Files:
    """Files called file-01.txt and so on; a script's and a settings file's name is changed where texts quote it."""
    renamed, quoted = {}, {}
    for number, (path, data) in enumerate(sorted(given.items()), 1):
        what, old = kind(path, data), PurePosixPath(path)
        if what in NAMED_BY_THE_KERNEL or "cgroup" in path:
            renamed[path] = str(PurePosixPath("x") / path) if what is not Kind.PROBE else path
            continue
        suffix = old.suffix if what in (Kind.SCRIPT, Kind.CONFIG) else ".txt"
        renamed[path] = f"file-{number:02}{suffix}"
        if what in (Kind.SCRIPT, Kind.CONFIG):
            quoted[old.name] = renamed[path]
    if not quoted:
        return {renamed[p]: d for p, d in given.items()}
    word = re.compile(rb"(?<![\w-])(?:" + b"|".join(re.escape(n.encode()) for n in quoted) + rb")(?![\w-])")
    return {renamed[p]: word.sub(lambda m: quoted[m[0].decode()].encode(), d) for p, d in given.items()}


def other_order(given: Files) -> Files:
    """Every file in a folder of its own whose name turns the order of reading round."""
    if len(given) < 2:
        raise DoesNotApply
    return {f"{999 - n:03}/{path}": data for n, (path, data) in enumerate(sorted(given.items()))}


def hosts(given: Files) -> Files:
    """Every host name that a log line carries, replaced wherever it stands."""
    found = set()
    for path, data in given.items():
        if kind(path, data) in LOGS:
            found |= {line.host for raw in lines(data)[:400] if (line := split(raw, 0, "", kernel=False)).host}
    names = sorted(
        (h for h in found if len(h) > 2 and h.lower() not in NOT_HOSTS and not h.isdigit()), key=len, reverse=True
    )
    if not names:
        raise DoesNotApply
    other = {name: f"zq{i}-{'m' * max(1, len(name) - 4)}" for i, name in enumerate(names)}
    word = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, names)) + r")(?![\w-])")
    return each(given, lambda text: word.sub(lambda m: other[m[0]], text))


_GPU = re.compile(r"(?<![0-9A-Fa-f:])((?:0000)?0000:)([0-9A-Fa-f]{2})(:[0-9A-Fa-f]{2}(?:\.[0-7])?)(?![0-9A-Fa-f:])")


def gpu_addresses(given: Files) -> Files:
    """PCI addresses on other buses, `0000:9b:00.0` -> `0000:ce:00.0`."""

    def other(m: re.Match[str]) -> str:
        bus = f"{int(m[2], 16) ^ 0x55:02x}"
        return m[1] + (bus.upper() if m[2].upper() == m[2] and m[2].lower() != m[2] else bus) + m[3]

    return each(given, lambda text: _GPU.sub(other, text))


_PATH = re.compile(
    r"(?<![\w.:/~$}%*-])(?<!GET )(?<!POST )(?<!PUT )/(?:[\w.+@-]+/)+(?=[\w.+@-])|(?<![\w.:/~$}%*-])/(?:mnt|data|scratch|models)(?:/?)(?![\w/.-])"
)


def paths(given: Files) -> Files:
    """Folders of the user's own, `/opt/app/bin/run.sh` -> `/opt/dqbbq/bin/run.sh`; the system's and the last part stay."""
    return each(given, lambda text: _PATH.sub(lambda m: "/".join(other_parts(m[0].split("/"))), text))


def other_parts(parts: list[str]) -> list[str]:
    top = parts[1] if len(parts) > 1 else ""
    if (
        top in SYSTEM
        or top.endswith((".slice", ".scope", ".service"))
        or top.startswith(("kube", "docker", "slurm", "job", "lxc", "system"))
    ):
        return parts
    start = 2 if top in HOMES else 1
    return [*parts[:start], *(other_part(p) for p in parts[start:])]


def other_part(part: str) -> str:
    """Another folder name of the same length; short and well-known parts of a program's tree stay."""
    if (
        part in ("", "bin", "lib", "lib64", "src", "log", "logs", "etc", "node_modules", "site-packages", "target")
        or "." in part
    ):
        return part
    return "dq" + "".join(chr(97 + (ord(c) * 7) % 26) for c in part[2:]) if len(part) > 2 else part


_PID = re.compile(
    r"(?<![\w.-])(?:(?:host|ns|t|p)?pid|PID|PPid|Pid|Tgid|process|Process|task|uid 0 pid)(?P<sep>[ =:#\"']{1,4}(?:\[|\()?)(?P<pid>\d{3,7})(?![\d.])"
    r"|(?<=[\w)])\[(?P<tag>\d{3,7})\](?=: |:$)"
    r"|/proc/(?P<proc>\d{3,7})(?=/)"
    r"|^\[ *[\d.]+\] \[ *(?P<table>\d{2,7})\] +\d+ +(?P<tgid>\d+)"
    r"|(?<=\()(?:pid[ =:]*)(?P<paren>\d{3,7})(?=\))",
    re.M,
)
_PS = re.compile(r"\bPID\b")
_UNITS = re.compile(
    r" ?(?:[kKMGT]i?B|[kKMGT]\b|ms\b|us\b|s\b|%|pages|bytes|rows|files|lines|steps|MB/s|Mi?B|GB|\.\d|:\d|,\d{3}|/\d)"
)


def pids(given: Files) -> Files:
    """Process numbers that texts name as such, replaced wherever they stand as a number without a unit."""
    found: set[str] = set()
    for path, data in given.items():
        text = data.decode("utf-8", "surrogateescape")
        found |= {v for m in _PID.finditer(text) for v in m.groupdict().values() if v and v.isdigit()}
        if kind(path, data) is Kind.PS:
            found |= set(columns(text))
    numbers = sorted(p for p in found if len(p) >= 3 and 99 < int(p) < 4_194_304)
    if not numbers:
        raise DoesNotApply
    other = {p: str(int(p) + 7 if int(p) + 7 < 10 ** len(p) else int(p) - 7) for p in numbers}
    word = re.compile(
        r"(?<![\w.:/+-])(?:" + "|".join(numbers) + r")(?!\w)|(?<=/proc/)(?:" + "|".join(numbers) + r")(?=/)"
    )

    def change(text: str) -> str:
        def one(m: re.Match[str]) -> str:
            after, before = text[m.end() : m.end() + 8], text[max(0, m.start() - 12) : m.start()]
            if _UNITS.match(after) or re.search(
                r"(?:line|Line|port|code|status|Xid|error|errno|exit|score|at|size|step|iter\w*) *[=:]? ?$", before
            ):
                return m[0]
            return other[m[0]]

        return word.sub(one, text)

    return {
        re.sub(r"(?<=proc/)\d+(?=/)", lambda m: other.get(m[0], m[0]), p): d for p, d in each(given, change).items()
    }


def columns(text: str) -> list[str]:
    """The numbers under PID and PPID of a process table."""
    rows = text.split("\n")
    head = next((r.split() for r in rows if _PS.search(r)), [])
    places = [i for i, name in enumerate(head) if name in ("PID", "PPID", "SPID", "LWP", "TID")]
    return [v for r in rows for i in places if len(f := r.split()) > i and (v := f[i]).isdigit()]
