"""What a server that died had given to others: names, a port, a socket that its clients call by its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from postmortem.lazy import lazy
from postmortem.model import Finding

DEATHS = ("memory.oom-kill-", "process.segfault", "process.abort", "process.killed", "process.illegal-instruction")
ASKED = ("network.", "rpc.")
GRACE_S = 900.0  # a server that nobody started again; what fails later may have met the next one


@dataclass(frozen=True, slots=True)
class Server:
    """A kind of server: its processes and units, its ports, how its clients name it, what fails without it."""

    names: tuple[str, ...]
    ports: tuple[str, ...] = ()
    words: str = ""
    classes: tuple[str, ...] = ()


_PORT = lazy(r"(?:\bport[ =:]{1,2}|(?<=[\w\]]):)(\d{2,5})\b(?!:)")

SERVERS = (
    Server(
        ("coredns", "named", "unbound", "dnsmasq", "systemd-resolve", "kube-dns", "nscd", "pdns", "bind9", "nsd"),
        ("53",), classes=("network.dns",),
    ),
    Server(("mysqld", "mariadbd", "mysql", "mariadb"), ("3306",), r"mysql|mariadb"),
    Server(("postgres", "postmaster"), ("5432",), r"postgres|psql|psycopg|libpq|\bpg_"),
    Server(("redis-server", "redis", "valkey"), ("6379",), r"redis|valkey"),
    Server(("mongod", "mongos"), ("27017",), r"mongo"),
    Server(("memcached",), ("11211",), r"memcache"),
    Server(("etcd",), ("2379", "2380"), r"\betcd"),
    Server(("beam.smp", "rabbitmq"), ("5672",), r"amqp|rabbit"),
    Server(("clickhouse-serv", "clickhouse"), ("8123", "9440"), r"clickhouse"),
    Server(("dockerd", "docker"), ("2375", "2376"), r"docker daemon|docker\.sock"),
    Server(("containerd",), words=r"containerd\.sock"),
    Server(("munged", "munge"), words=r"\bmunge"),
    Server(("slurmctld", "slurmdbd"), ("6817", "6819"), r"slurmctld|slurmdbd|slurm controller"),
    Server(("slapd", "ns-slapd"), ("389", "636"), r"\bldap"),
    Server(("cert-manager", "vault", "step-ca"), ("8200",), r"vault", ("network.tls",)),
    Server(
        ("ceph-osd", "glusterfsd", "iscsid", "multipathd", "nfsd"), classes=("storage.io-error", "storage.read-only")
    ),
)  # fmt: skip


def serves(death: Finding, lack: Finding) -> bool | None:
    """Whether what died gives what another lacks; False where both name well-known ports that differ, else unknown."""
    if named_alike(death, lack):
        return True
    if not death.class_id.startswith(DEATHS):
        return None
    server = next((s for s in SERVERS if is_one(death, s)), None)
    if server is None:
        return None
    if lack.class_id in server.classes:
        return True
    if not lack.class_id.startswith(ASKED):
        return None
    ports = ports_of(lack)
    if ports & {*server.ports} or calls(lack, server):
        return True
    others = any(ports & {*s.ports} or calls(lack, s) for s in SERVERS if s is not server)
    return False if others else None


def named_alike(death: Finding, lack: Finding) -> bool:
    """Whether the container that ended has the name that was called: `http://quotes:7000` of the container `quotes`."""
    own = death.entity.get("container", "")
    if (
        not own
        or not death.class_id.startswith(("process.", "memory.oom-kill-"))
        or not lack.class_id.startswith(ASKED)
    ):
        return False
    called = re.compile(rf"(?:://|\blookup |[\s\"'@(]){re.escape(own)}(?::\d{{2,5}}\b| on \S+:53)")
    return lack.entity.get("host") == own or any(called.search(e.text) for e in lack.evidence)


def ports_of(lack: Finding) -> set[str]:
    """The ports that were called, as fields or as the lines say them: `10.0.0.5:5432`, `port 5432`."""
    told = {str(v) for v in (lack.entity.get("port"), lack.facts.get("port")) if v}
    return told or {port for e in lack.evidence for port in _PORT.findall(e.text)}


def is_one(death: Finding, server: Server) -> bool:
    """Whether the process or unit that a death names is such a server."""
    unit = PurePosixPath(death.entity.get("unit", "")).name.partition(".")[0].partition("@")[0]
    return any(name and name.startswith(server.names) for name in (death.entity.get("comm", ""), unit))


def calls(lack: Finding, server: Server) -> bool:
    """Whether the lines of what lacks something name such a server."""
    return bool(server.words) and any(re.search(server.words, e.text, re.IGNORECASE) for e in lack.evidence)
