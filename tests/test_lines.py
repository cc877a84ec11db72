"""Lines of every dialect taken apart; and lines that only look as if they had a stamp."""


from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clocked import least_cpu
from postmortem.lines import dialect_of, split, stamps_of


def z(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def at(hours: float, *parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone(timedelta(hours=hours)))  # type: ignore[misc,arg-type]


def local(*parts: int) -> datetime:
    return datetime(*parts)  # type: ignore[arg-type]


# name, raw, what the line must say; wall/boot/delta/start is the chosen stamp. `year: False` = no year in the text
ROWS: list[tuple[str, str, dict[str, Any]]] = [
    # the kernel's own log
    ("1 dmesg", "[ 1564.395772] NVRM: Xid (PCI:0000:01:00): 79", {"boot": 1564.395772, "message": "NVRM: Xid (PCI:0000:01:00): 79", "channel": "kernel"}),
    ("1 dmesg indented", "[612599.902724]  mem_cgroup_out_of_memory+0xe8/0x130", {"boot": 612599.902724, "message": " mem_cgroup_out_of_memory+0xe8/0x130", "channel": "kernel"}),
    ("1 dmesg caller", "[    1.234567][  T312] usb 1-1: new device", {"boot": 1.234567, "message": "usb 1-1: new device", "channel": "kernel"}),
    ("1 dmesg user", "[    5.389522] systemd[1]: Mounting Huge Pages", {"boot": 5.389522, "message": "systemd[1]: Mounting Huge Pages", "channel": "kernel"}),
    ("2 dmesg -T", "[Sun Feb 23 16:24:18 2025] oom-kill:constraint=X", {"wall": local(2025, 2, 23, 16, 24, 18), "message": "oom-kill:constraint=X", "channel": "kernel"}),
    ("2 dmesg -T padded", "[Mon Aug  3 07:40:26 2026] x", {"wall": local(2026, 8, 3, 7, 40, 26), "message": "x"}),
    ("2 dmesg -T Japanese", "[日  2月 23 16:24:18 2025] x y", {"wall": local(2025, 2, 23, 16, 24, 18), "message": "x y", "channel": "kernel"}),
    ("2 dmesg -T Korean", "[일  2월 23 16:24:18 2025] x y", {"wall": local(2025, 2, 23, 16, 24, 18)}),
    ("2 dmesg -T German", "[So Mär 23 16:24:18 2025] x y", {"wall": local(2025, 3, 23, 16, 24, 18)}),
    ("2 dmesg -T French", "[dim. févr. 23 16:24:18 2025] x y", {"wall": local(2025, 2, 23, 16, 24, 18)}),
    ("2 dmesg -T Russian", "[Вс мая 23 16:24:18 2025] x y", {"wall": local(2025, 5, 23, 16, 24, 18)}),
    ("3 dmesg iso -x", "kern  :warn  : 2025-01-21T08:41:30,287197+00:00 hrtimer: slow", {"wall": z(2025, 1, 21, 8, 41, 30, 287197), "level": "warn", "message": "hrtimer: slow", "channel": "kernel"}),
    ("3 dmesg iso", "2025-01-21T08:41:30,287197+01:00 usb 1-1: new device", {"wall": at(1, 2025, 1, 21, 8, 41, 30, 287197), "host": "", "message": "usb 1-1: new device", "channel": "kernel"}),
    ("3 dmesg -x", "kern  :err   : [   12.345678] EXT4-fs error", {"boot": 12.345678, "level": "error", "message": "EXT4-fs error", "channel": "kernel"}),
    ("4 dmesg -H", "[  +0.000012] r8169: x", {"delta": 0.000012, "message": "r8169: x", "channel": "kernel"}),
    ("4 dmesg -e", "[Feb23 16:24] nfs: server not responding", {"wall": local(4, 2, 23, 16, 24), "year": False, "message": "nfs: server not responding", "channel": "kernel"}),
    ("4 dmesg -d", "[    1.234567 <    0.000012>] usb 1-1: x", {"boot": 1.234567, "message": "usb 1-1: x", "channel": "kernel"}),
    ("5 kmsg", "6,1234,5678901234,-;eth0: link up", {"boot": 5678.901234, "level": "info", "message": "eth0: link up", "channel": "kernel"}),
    ("5 netconsole", "10.0.7.9: [ 5678.901234] eth0: link up", {"boot": 5678.901234, "host": "10.0.7.9", "message": "eth0: link up", "channel": "kernel"}),
    ("6 pstore", "<4>[  201.674912] Call Trace:", {"boot": 201.674912, "level": "warn", "message": "Call Trace:", "channel": "kernel"}),
    # syslog and journal
    ("7 syslog kernel", "May  6 00:38:27 host kernel: [ 1564.390000] usb 1-1: x", {"wall": local(4, 5, 6, 0, 38, 27), "year": False, "host": "host", "program": "kernel", "message": "usb 1-1: x", "channel": "kernel"}),
    ("7 syslog", "Jul 30 22:07:58 seed-3 sshd[19402]: Accepted publickey for root", {"wall": local(4, 7, 30, 22, 7, 58), "year": False, "host": "seed-3", "program": "sshd", "pid": "19402", "message": "Accepted publickey for root", "channel": "program"}),
    ("7 syslog no pid", "Feb 19 13:39:07 kind-w1 rsyslogd: action 'x' resumed", {"host": "kind-w1", "program": "rsyslogd", "pid": "", "message": "action 'x' resumed"}),
    ("7 syslog indented", "Feb 19 16:21:41 kind-w1 kernel:  dump_stack+0x10/0x16", {"message": " dump_stack+0x10/0x16", "channel": "kernel"}),
    ("7 syslog pam", "Apr  2 09:40:11 render3 crond(pam_unix)[4410]: session opened", {"program": "crond(pam_unix)", "pid": "4410", "message": "session opened"}),
    ("7 syslog leap day", "Feb 29 16:21:41 w1 cron[1]: x", {"wall": local(4, 2, 29, 16, 21, 41), "year": False}),
    ("7 syslog repeated", "Feb 19 16:21:41 w1 last message repeated 2 times", {"host": "w1", "message": "last message repeated 2 times"}),
    ("7 busybox", "May  6 00:38:27 box kern.warn kernel: x", {"host": "box", "program": "kernel", "level": "warn", "message": "x", "channel": "kernel"}),
    ("7 syslog wire", "<13>May  6 00:38:27 host app[7]: x", {"level": "notice", "program": "app", "pid": "7", "message": "x", "channel": "program"}),
    ("7 logread", "Fri May  1 12:00:00 2026 kern.err kernel: [   12.345678] x", {"wall": local(2026, 5, 1, 12, 0, 0), "level": "error", "program": "kernel", "message": "x", "channel": "kernel"}),
    ("8 rfc 5424", "<34>1 2026-05-01T12:00:00.003Z host app 123 ID47 - it died", {"wall": z(2026, 5, 1, 12, 0, 0, 3000), "host": "host", "program": "app", "pid": "123", "level": "critical", "message": "it died"}),
    ("8 rfc 5424 data", '<165>1 2026-05-01T12:00:00Z h a - - [x@1 k="v\\]"] it', {"host": "h", "program": "a", "pid": "", "message": "it"}),
    ("9 rsyslog", "2025-08-30T03:24:23.598595+00:00 gpu-host-31 systemd[1]: x.service: Succeeded.", {"wall": z(2025, 8, 30, 3, 24, 23, 598595), "host": "gpu-host-31", "program": "systemd", "pid": "1", "message": "x.service: Succeeded."}),
    ("9 rsyslog kernel", "2026-04-11T07:02:16.510638+02:00 desk kernel: [    6.510638] nvidia: x", {"wall": at(2, 2026, 4, 11, 7, 2, 16, 510638), "program": "kernel", "message": "nvidia: x", "channel": "kernel"}),
    ("9 rsyslog Z", "2026-04-11T07:02:16.510638Z desk kernel: nvidia: x", {"host": "desk", "message": "nvidia: x", "channel": "kernel"}),
    ("10 journal", "May 01 12:00:00 host unit[123]: text", {"host": "host", "program": "unit", "pid": "123", "message": "text", "year": False}),
    ("10 journal parens", "May 01 12:00:00 host (sd-pam)[123]: text", {"program": "sd-pam", "message": "text"}),
    ("10 journal instance", "May 01 12:00:00 host user@1000.service[123]: text", {"program": "user@1000.service", "message": "text"}),
    ("11 short-iso", "2026-05-01T12:00:00+0200 host kernel: text", {"wall": at(2, 2026, 5, 1, 12, 0, 0), "host": "host", "channel": "kernel", "message": "text"}),
    ("11 short-precise", "May 01 12:00:00.123456 host app[1]: text", {"wall": local(4, 5, 1, 12, 0, 0, 123456), "program": "app", "message": "text"}),
    ("11 short-full", "Fri 2026-05-01 12:00:00 UTC host docker.service[9]: text", {"wall": z(2026, 5, 1, 12, 0, 0), "host": "host", "program": "docker.service", "message": "text"}),
    ("11 short-full CEST", "Fri 2026-05-01 12:00:00 CEST host docker.service[9]: text", {"wall": at(2, 2026, 5, 1, 12, 0, 0), "host": "host"}),
    ("11 short-unix", "1714564800.123456 host app[1]: text", {"wall": z(2024, 5, 1, 12, 0, 0, 123456), "host": "host", "program": "app", "message": "text"}),
    ("11 short-monotonic", "[ 1234.567890] host kernel: text", {"boot": 1234.56789, "host": "host", "program": "kernel", "message": "text", "channel": "kernel"}),
    ("12 export", "__REALTIME_TIMESTAMP=1714564800123456", {"wall": z(2024, 5, 1, 12, 0, 0, 123456)}),
    ("12 export message", "MESSAGE=Out of memory: Killed process 7", {"message": "Out of memory: Killed process 7"}),
    ("12 json", '{"__REALTIME_TIMESTAMP":"1714564800123456","_HOSTNAME":"h","SYSLOG_IDENTIFIER":"kernel","PRIORITY":"3","MESSAGE":"oops"}', {"wall": z(2024, 5, 1, 12, 0, 0, 123456), "host": "h", "level": "error", "message": "oops", "channel": "kernel"}),
    ("12 json bytes", '{"__REALTIME_TIMESTAMP":"1714564800123456","_COMM":"app","_PID":"7","MESSAGE":[104,105]}', {"program": "app", "pid": "7", "message": "hi"}),
    # programs
    ("13 tracing", "2026-05-01T12:00:00.123456Z  INFO cuzk_core::engine: job accepted id=1", {"wall": z(2026, 5, 1, 12, 0, 0, 123456), "level": "info", "program": "cuzk_core::engine", "message": "job accepted id=1"}),
    ("13 tracing colours", "\x1b[2m2026-05-01T12:00:00.123456Z\x1b[0m \x1b[31mERROR\x1b[0m \x1b[2mengine\x1b[0m\x1b[2m:\x1b[0m it failed", {"level": "error", "program": "engine", "message": "it failed"}),
    ("13 tracing spans", "2026-03-21T14:21:05.753307Z  INFO prove_segment{job=3f9c po2=20}:gpu{id=0}: prover_worker::seg: witgen", {"program": "prover_worker::seg", "message": "witgen"}),
    ("13 tracing no target", "2026-03-21T14:21:05.753307Z  WARN gpu{id=0}: it is slow", {"level": "warn", "message": "it is slow"}),
    ("13 error stays", "2026-03-21T14:21:05.753307Z ERROR RuntimeError: CUDA out of memory", {"level": "error", "program": "", "message": "RuntimeError: CUDA out of memory"}),
    ("13 syscall stays", "2026-03-21T14:21:05.753307Z ERROR bind: address already in use", {"message": "bind: address already in use"}),
    ("14 env_logger", "[2026-05-01T12:00:00Z INFO  crate::mod] open gw-a", {"wall": z(2026, 5, 1, 12, 0, 0), "level": "info", "program": "crate::mod", "message": "open gw-a"}),
    ("15 other Rust", "2026-05-01 12:00:00.123 [INFO] text", {"wall": local(2026, 5, 1, 12, 0, 0, 123000), "level": "info", "message": "text"}),
    ("15 slog-term", "May 01 12:00:00.123 INFO text", {"wall": local(4, 5, 1, 12, 0, 0, 123000), "level": "info", "host": "", "message": "text"}),
    ("15 pretty_env_logger", "2020-06-30T10:41:16.039 INFO filecoin_proofs::api > seal:start", {"level": "info", "program": "filecoin_proofs::api", "message": "seal:start"}),
    ("16 Go", "2026/05/01 12:00:00 http: panic serving 10.0.0.1:80", {"wall": local(2026, 5, 1, 12, 0, 0), "message": "http: panic serving 10.0.0.1:80"}),
    ("16 Go micro", "2026/05/01 12:00:00.123456 text", {"wall": local(2026, 5, 1, 12, 0, 0, 123456), "message": "text"}),
    ("17 zap json", '{"level":"info","ts":1714564800.1234,"msg":"ready","err":"EOF"}', {"wall": z(2024, 5, 1, 12, 0, 0, 123400), "level": "info", "message": "ready err=EOF"}),
    ("17 zap console", "2026-05-01T12:00:00.123+0200\tERROR\tmain\tcmd/run.go:103\tit failed\t{\"a\": 1}", {"wall": at(2, 2026, 5, 1, 12, 0, 0, 123000), "level": "error", "program": "main", "message": 'it failed\t{"a": 1}'}),
    ("18 logrus", 'time="2026-05-01T12:00:00Z" level=warning msg="say \\"no\\"" id=7', {"wall": z(2026, 5, 1, 12, 0, 0), "level": "warn", "message": 'say "no" id=7'}),
    ("18 logrus tty", "DEBU[0012] Running hook", {"start": 12.0, "level": "debug", "message": "Running hook"}),
    ("18 containerd ns", 'time="2026-05-01T12:00:00.123456789+02:00" level=info msg=x', {"wall": at(2, 2026, 5, 1, 12, 0, 0, 123456)}),
    ("19 slog", "time=2026-05-01T12:00:00.123Z level=ERROR msg=failed", {"wall": z(2026, 5, 1, 12, 0, 0, 123000), "level": "error", "message": "failed"}),
    ("19 go-kit", 'ts=2026-05-01T12:00:00.123Z caller=c.go:169 level=error msg="collector failed" err=x', {"level": "error", "message": "collector failed err=x"}),
    ("20 glog", "E1218 20:27:21.426415 12345 file.cc:629] text", {"wall": local(4, 12, 18, 20, 27, 21, 426415), "year": False, "level": "error", "pid": "12345", "message": "text"}),
    ("20 klog", 'I0725 10:11:01.220191    1411 kubelet_getters.go:187] "Pod status"', {"level": "info", "pid": "1411", "message": '"Pod status"'}),
    ("20 absl", "E0000 00:00:1714564800.123456   12345 cuda_dnn.cc:629] text", {"wall": z(2024, 5, 1, 12, 0, 0, 123456), "level": "error", "message": "text"}),
    ("21 rank", "[rank0]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught", {"wall": local(4, 12, 18, 20, 27, 21, 426415), "program": "rank0", "level": "error", "message": "[Rank 0] Watchdog caught"}),
    ("21 torchrun", "[default0]:[W1218 20:27:21.426415540 socket.cpp:629] text", {"program": "default0", "level": "warn", "message": "text"}),
    ("21 one-digit month", "[rank1]:[E722 03:03:23.296978603 ProcessGroupNCCL.cpp:685] [Rank 1] Watchdog", {"wall": local(4, 7, 22, 3, 3, 23, 296978), "level": "error", "message": "[Rank 1] Watchdog"}),
    ("21 rank text", "[rank3]: Traceback (most recent call last):", {"program": "rank3", "message": "Traceback (most recent call last):"}),
    ("21 rank indent", "[rank3]:   File \"x.py\", line 3, in f", {"message": '  File "x.py", line 3, in f'}),
    ("22 python dashes", "2026-05-01 12:00:00,123 - trainer.loop - ERROR - text", {"wall": local(2026, 5, 1, 12, 0, 0, 123000), "program": "trainer.loop", "level": "error", "message": "text"}),
    ("22 python", "2026-05-01 12:00:00,123 INFO bench: job 1 ok", {"level": "info", "program": "bench", "message": "job 1 ok"}),
    ("22 python pad", "2026-08-10 09:31:21,838 INFO    worker[40124] spawn ctx=2", {"level": "info", "message": "worker[40124] spawn ctx=2"}),
    ("22 odoo", "2022-08-30 07:01:40,350 27 INFO prod werkzeug: text", {"pid": "27", "level": "info"}),
    ("22 rank in front", "2026-10-25 20:15:11,005 [rank1] INFO step 2 loss=2.0", {"program": "rank1", "level": "info", "message": "step 2 loss=2.0"}),
    ("22 vllm", "INFO 05-01 12:00:00 [utils.py:233] text", {"wall": local(4, 5, 1, 12, 0, 0), "year": False, "level": "info", "message": "text"}),
    ("22 vllm actor", '(EngineCore_DP0 pid=412) ERROR 10-14 03:22:10 [core.py:708]   File "x.py", line 498, in f', {"program": "EngineCore_DP0", "pid": "412", "level": "error", "message": '  File "x.py", line 498, in f'}),
    ("22 basicConfig", "WARNING:root:text", {"level": "warn", "program": "root", "message": "text"}),
    ("22 gunicorn", "[2024-01-19 00:48:32 +0000] [2973] [ERROR] Worker (pid:2976) was sent SIGKILL!", {"wall": z(2024, 1, 19, 0, 48, 32), "pid": "2973", "level": "error", "message": "Worker (pid:2976) was sent SIGKILL!"}),
    ("22 submitit", "submitit WARNING (2022-07-12 04:18:45,881) - Caught signal", {"wall": local(2022, 7, 12, 4, 18, 45, 881000), "program": "submitit", "level": "warn", "message": "Caught signal"}),
    ("23 spring", "2026-05-01 12:00:00.123  INFO 1 --- [main] c.example.App : Started", {"level": "info", "pid": "1", "program": "c.example.App", "message": "Started"}),
    ("23 logback", "2026-10-08 13:00:19.103 [loader-1] ERROR  lan.graph.Loader - java.lang.OutOfMemoryError: Java heap space", {"level": "error", "message": "java.lang.OutOfMemoryError: Java heap space"}),
    ("23 hikari", "2024-07-25 10:13:02,420 WARN  [HikariPool-1 housekeeper] com.zaxxer.hikari.pool.HikariPool - late", {"level": "warn", "program": "com.zaxxer.hikari.pool.HikariPool", "message": "late"}),
    ("23 quarkus", "2026-07-21 10:02:11,331 INFO  [io.jav.ope.api] (main) Registering", {"level": "info", "program": "io.jav.ope.api", "message": "Registering"}),
    ("24 pino", '{"level":50,"time":1714564800123,"pid":1,"msg":"boom"}', {"wall": z(2024, 5, 1, 12, 0, 0, 123000), "level": "error", "pid": "1", "message": "boom"}),
    ("24 bunyan", '{"level":30,"time":"2026-06-24T19:30:06.589Z","name":"agg","msg":"closed","window":2}', {"program": "agg", "message": "closed window=2"}),
    ("24 tracing json", '{"timestamp":"2026-05-01T12:00:00Z","level":"ERROR","fields":{"message":"boom","code":7},"target":"a::b"}', {"level": "error", "program": "a::b", "message": "boom code=7"}),
    ("25 docker", r'{"log":"plain text\n","stream":"stderr","time":"2026-05-01T12:00:00.123456789Z"}', {"wall": z(2026, 5, 1, 12, 0, 0, 123456), "message": "plain text"}),
    ("25 docker inner", r'{"log":"2026-05-01T14:00:01.5Z ERROR a::b: boom\n","stream":"stdout","time":"2026-05-01T14:00:02Z"}', {"wall": z(2026, 5, 1, 14, 0, 1, 500000), "level": "error", "program": "a::b", "message": "boom"}),
    ("25 docker inner local", r'{"log":"2026-05-01 16:00:01,500 INFO boom\n","stream":"stdout","time":"2026-05-01T14:00:02Z"}', {"wall": z(2026, 5, 1, 14, 0, 2), "level": "info", "message": "boom"}),
    ("26 cri", "2025-08-30T06:57:28.802Z stderr F /opt/run.sh: line 14:    31 Killed", {"wall": z(2025, 8, 30, 6, 57, 28, 802000), "message": "/opt/run.sh: line 14:    31 Killed"}),
    ("26 cri inner", "2026-05-01T12:00:00.123456789Z stdout F E1218 20:27:21.426415 1 f.cc:6] x", {"wall": z(2026, 5, 1, 12, 0, 0, 123456), "level": "error", "message": "x"}),
    ("26 cri empty", "2026-05-01T12:00:00.123456789Z stdout F ", {"wall": z(2026, 5, 1, 12, 0, 0, 123456), "message": ""}),
    ("27 github", "2026-08-14T11:03:22.3300000Z test tests::needs_gpu ... ignored", {"wall": z(2026, 8, 14, 11, 3, 22, 330000), "message": "test tests::needs_gpu ... ignored"}),
    ("27 github error", "2026-08-14T11:03:22.3300000Z ##[error]Process completed with exit code 1.", {"message": "##[error]Process completed with exit code 1."}),
    ("28 fabric manager", "[Jul 23 2024 07:53:55] [ERROR] [tid 841] failed to train", {"wall": local(2024, 7, 23, 7, 53, 55), "level": "error", "pid": "841", "message": "failed to train"}),
    ("29 smi header", "Tue Feb 27 10:00:00 2024       ", {"wall": local(2024, 2, 27, 10, 0, 0)}),
    ("29 smi csv", "2024/02/27 10:00:00.123, GPU-1, 45", {"wall": local(2024, 2, 27, 10, 0, 0, 123000)}),
    ("29 smi dmon", " 20210804   11:29:43      0   215    66", {"wall": local(2021, 8, 4, 11, 29, 43)}),
    ("30 access", '10.6.8.20 - - [11/Oct/2026:11:02:23 -0700] "GET /x HTTP/1.1" 200 - "-"', {"wall": at(-7, 2026, 10, 11, 11, 2, 23)}),
    ("30 nginx error", "2000/10/10 13:55:36 [error] 12#0: *1 open() failed", {"wall": local(2000, 10, 10, 13, 55, 36), "level": "error", "pid": "12", "message": "*1 open() failed"}),
    ("30 apache 2.2", "[Wed Oct 11 14:32:52 2000] [error] [client 1.2.3.4] denied", {"wall": local(2000, 10, 11, 14, 32, 52), "level": "error", "channel": "program"}),
    ("30 bracket clf", "[08/Feb/2026:00:42:47 +0000] saving checkpoint", {"wall": z(2026, 2, 8, 0, 42, 47), "message": "saving checkpoint"}),
    ("31 slurm", "[2024-01-01T00:00:00.123] [12.batch] error: Detected 1 oom_kill event", {"wall": local(2024, 1, 1, 0, 0, 0, 123000), "program": "12.batch", "level": "error", "message": "Detected 1 oom_kill event"}),
    ("32 strace -tt", "12:00:00.123456 openat(AT_FDCWD, 0)", {"wall": local(4, 1, 1, 12, 0, 0, 123456), "date": False, "message": "openat(AT_FDCWD, 0)"}),
    ("32 strace -ttt", "1714564800.123456 openat(AT_FDCWD, 0)", {"wall": z(2024, 5, 1, 12, 0, 0, 123456), "message": "openat(AT_FDCWD, 0)"}),
    ("33 date", "Fri May  1 12:00:00 UTC 2026", {"wall": z(2026, 5, 1, 12, 0, 0)}),
    ("33 date CEST", "Fri May 1 02:00:00 PM CEST 2026", {"wall": at(2, 2026, 5, 1, 14, 0, 0)}),
    ("33 date number", "Wed Mar 11 04:31:17 +08 2026", {"wall": at(8, 2026, 3, 11, 4, 31, 17)}),
    ("33 date CST", "Fri May  1 12:00:00 CST 2026", {"wall": local(2026, 5, 1, 12, 0, 0)}),
    ("33 mail", "Fri, 01 May 2026 12:00:00 GMT", {"wall": z(2026, 5, 1, 12, 0, 0)}),
    ("34 @", "@1714564800 text", {"wall": z(2024, 5, 1, 12, 0, 0), "message": "text"}),
    ("34 ms", "1714564800123 text", {"dialect": "epoch", "wall": z(2024, 5, 1, 12, 0, 0, 123000), "message": "text"}),
    ("34 ns", "1714564800123456789 text", {"dialect": "epoch", "wall": z(2024, 5, 1, 12, 0, 0, 123456), "message": "text"}),
    ("34 slapd", "5b2c65f1 conn=2901 op=1 SRCH", {"wall": z(2018, 6, 22, 2, 58, 57), "message": "conn=2901 op=1 SRCH"}),
    ("35 plus", "+0.123s start", {"start": 0.123, "message": "start"}),
    ("35 bracket", "[12.34s] start", {"start": 12.34, "message": "start"}),
    ("35 elapsed", "00:03:26 elapsed", {"start": 206.0}),
    ("35 llama.cpp", "0.21.003.117 I load_tensors: x", {"start": 21.003, "level": "info", "message": "load_tensors: x"}),
    ("36 clock", "12:00:00 text", {"wall": local(4, 1, 1, 12, 0, 0), "date": False, "message": "text"}),
    ("36 clock bracket", "[12:00:00] text", {"wall": local(4, 1, 1, 12, 0, 0), "date": False, "message": "text"}),
    ("36 named", "[bench] 03:20:00 starting the server", {"program": "bench", "date": False, "message": "starting the server"}),
    ("36 named date", "[onstart] 2026-09-18 07:55:02 kernel 5.15.0", {"program": "onstart", "wall": local(2026, 9, 18, 7, 55, 2), "message": "kernel 5.15.0"}),
    ("37 elk", '{"@timestamp":"2026-05-01T12:00:00.000Z","message":"boom","log.level":"error"}', {"wall": z(2026, 5, 1, 12, 0, 0), "level": "error", "message": "boom"}),
    ("37 basic", "20260501T120000Z text", {"wall": z(2026, 5, 1, 12, 0, 0), "message": "text"}),
    ("37 seconds since 1970 in brackets", "[1714564800.123456] [n1:70331:0]   ib_md.c:293  UCX  ERROR ibv_reg_mr failed", {"wall": z(2024, 5, 1, 12, 0, 0, 123456), "message": "[n1:70331:0]   ib_md.c:293  UCX  ERROR ibv_reg_mr failed", "channel": "program"}),
    ("37 a long uptime", "[171456480.123456] usb 1-1: new", {"boot": 171456480.123456, "message": "usb 1-1: new", "channel": "kernel"}),
    ("38 audit", 'type=1701 audit(1714564800.123:456): auid=1 comm="x" sig=9', {"wall": z(2024, 5, 1, 12, 0, 0, 123000), "message": 'type=1701 audit(1714564800.123:456): auid=1 comm="x" sig=9'}),
    ("mysql", "160622 15:25:31 [Note] ready", {"wall": local(2016, 6, 22, 15, 25, 31), "level": "notice", "message": "ready"}),
    ("php", "[22-Jun-2016 15:26:03 UTC] PHP Warning:  x", {"wall": z(2016, 6, 22, 15, 26, 3), "message": "PHP Warning:  x"}),
    ("postgres", "2026-04-21 06:12:40.118 UTC [1] LOG:  listening", {"wall": z(2026, 4, 21, 6, 12, 40, 118000), "pid": "1", "message": "listening"}),
    ("word zone", "2019-08-07 08:36:13 UTC [Info] tip", {"wall": z(2019, 8, 7, 8, 36, 13), "level": "info", "message": "tip"}),
    ("megatron", "04/11 21:04:53 | INFO | step 41820 | loss 1.9", {"wall": local(4, 4, 11, 21, 4, 53), "level": "info", "message": "step 41820 | loss 1.9"}),
    ("month-day", "05-18 13:02:44.145 cam_a: frame 1", {"wall": local(4, 5, 18, 13, 2, 44, 145000), "year": False, "program": "cam_a"}),
    ("script tag", "2026-07-30 22:04:41 sync-params[19018]: index: 6 files", {"program": "sync-params", "pid": "19018", "message": "index: 6 files"}),
    ("script name stays", "2026-01-15 18:02:52 bash: line 3: foo: command not found", {"program": "bash", "message": "bash: line 3: foo: command not found"}),
    ("three words", "2026-08-18T09:05:01Z agent poll 412: GET 200", {"host": "", "program": "", "message": "agent poll 412: GET 200"}),
    ("progress stays", "2026-05-01 12:00:00 [1/5] building", {"message": "[1/5] building"}),
    ("errno stays", "2026-05-01 12:00:00,123 ERROR [Errno 28] No space left on device", {"level": "error", "message": "[Errno 28] No space left on device"}),
    ("level in a sentence", "2026-05-01 12:00:00 there was an ERROR in x", {"level": "", "message": "there was an ERROR in x"}),
    ("tini", "[WARN  tini (1)] Reaped zombie process with pid=9", {"level": "warn", "program": "tini", "pid": "1", "message": "Reaped zombie process with pid=9"}),
    ("level bracket", "[ERROR] COMPILATION", {"level": "error", "message": "COMPILATION"}),
    ("nccl", "c7a19f02be41:1201:1203 [0] NCCL WARN Call failed", {"host": "c7a19f02be41", "pid": "1201", "level": "warn", "message": "NCCL WARN Call failed"}),
    # carriers
    ("compose", 'db-1       | 2026-04-21 06:12:40.118 UTC [1] LOG:  x', {"program": "db-1", "wall": z(2026, 4, 21, 6, 12, 40, 118000), "message": "x"}),
    ("compose tight", "collector-1| /docker-entrypoint.sh: line 232: syntax error", {"program": "collector-1", "message": "/docker-entrypoint.sh: line 232: syntax error"}),
    ("kubectl", "[pod/web-0/app] 2026-05-01T12:00:00Z ERROR x::y: boom", {"program": "x::y", "level": "error", "message": "boom"}),
    ("ray", "(train pid=123, ip=10.0.0.2) Traceback (most recent call last):", {"program": "train", "pid": "123", "message": "Traceback (most recent call last):"}),
    ("mpirun", "[1,0]<stderr>:NCCL failure", {"program": "1,0", "message": "NCCL failure"}),
    ("journal of docker", 'Aug 31 23:43:01 c7 docker[1911]: time="2015-08-31T23:42:10.118220110+02:00" level=info msg="GET /v1"', {"wall": at(2, 2015, 8, 31, 23, 42, 10, 118220), "host": "c7", "program": "docker", "pid": "1911", "level": "info", "message": "GET /v1"}),
    ("journal of kubelet", "Jul 25 10:11:01 n1 kubelet[1411]: I0725 10:11:01.220191    1411 k.go:187] up", {"wall": local(4, 7, 25, 10, 11, 1), "program": "kubelet", "level": "info", "message": "up"}),
    ("docker logs -t", '2026-05-01T12:00:00.123456789Z {"level":"info","ts":1714564800.5,"msg":"hi"}', {"wall": z(2024, 5, 1, 12, 0, 0, 500000), "message": "hi"}),
    ("pty", "12:00:00 text\r", {"message": "text"}),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "want"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_a_line_is_taken_apart(raw: str, want: dict[str, Any]) -> None:
    line = split(raw, 7, want.get("dialect", ""))
    got = {k: getattr(line, k) for k in want if k in ("message", "host", "program", "pid", "level", "channel")}
    if set(want) & {"wall", "boot", "delta", "start", "year", "date"}:
        assert line.stamp is not None
        got |= {"year": line.stamp.has_year or not line.stamp.has_date, "date": line.stamp.has_date}
        want = {"year": "wall" not in want or want["wall"].year > 4 or not line.stamp.has_date, "date": True} | want
        if "wall" in want:
            assert line.stamp.wall is not None
            assert line.stamp.wall.utcoffset() == want["wall"].utcoffset()
            got["wall"] = line.stamp.wall
        for clock in {"boot", "delta", "start"} & set(want):
            assert line.stamp.clock == clock
            got[clock] = line.stamp.seconds
    assert got == {k: v for k, v in want.items() if k != "dialect"}
    assert (line.number, line.raw) == (7, raw)


UNSTAMPED = [
    ("empty", ""),
    ("blank", "   "),
    ("plain", "Killed"),
    ("version", "10.2.1 released"),
    ("version bracket", "[10.2] create custom resource .... ok"),
    ("index", "[1] 4242 done"),
    ("list", "[1, 2, 3]"),
    ("progress", "[4/5] COMPLETED — 31.0s"),
    ("tqdm", "train:   0%|          | 0/182 [00:00<12:12,  2.79it/s]"),
    ("placeholder", "9999-12-31 23:59:59 text"),
    ("bad month", "2026-13-01 12:00:00 text"),
    ("bad day", "Feb 30 12:00:00 host app[1]: text"),
    ("bad hour", "25:00:00 text"),
    ("bad date -T", "[Sun Feb 30 16:24:18 2025] text"),
    ("date alone", "2026-05-01 release"),
    ("file name", "2026-05-01_12:00:00.tar.gz"),
    ("ratio", "12:00 to go"),
    ("mac", "12:00:00:ab:cd:ef lladdr"),
    ("big number", "1714564800 bytes written"),
    ("hex word", "deadbeef cafe"),
    ("phone", "1714564800123 is my number"),
    ("ip", "10.0.0.1 connected"),
    ("month word", "May the force"),
    ("march", "March 3 was fine"),
    ("weekday word", "Monday is late"),
    ("sunday", "Sun is up"),
    ("json without time", '{"a": 1}'),
    ("json cut", '{"log":"half a li'),
    ("key=value", "a=1 b=2"),
    ("xid list", "[drm] initialized"),
    ("xtrace", "+ echo 'Out of memory: Killed process 7'"),
    ("traceback", '  File "/a.py", line 3, in f'),
    ("address without a ring stamp", "10.0.7.9: connection closed"),
    ("kmsg dict", " SUBSYSTEM=pci"),
    ("table", "| 0  NVIDIA H200 | 00000000:01:00.0 Off |"),
    ("psql table", "name | value"),
    ("html", "<b>bold</b>"),
    ("letter number", "E12180 text"),
    ("level only", "ERROR: it failed"),
    ("git", "commit 5b2c65f1"),
    ("size", "20260501 bytes"),
]  # fmt: skip


@pytest.mark.parametrize("raw", [r[1] for r in UNSTAMPED], ids=[r[0] for r in UNSTAMPED])
def test_a_line_without_a_stamp_is_all_message(raw: str) -> None:
    line = split(raw)
    assert line.stamp is None
    assert line.message == raw


@pytest.mark.parametrize(
    ("raw", "level"),
    [
        ("ERROR: it failed", "error"),
        ("+ rm -rf x", "trace"),
        ("WARNING text", "warn"),
        ("ERRORS: 0", ""),
        ("INFORM me", ""),
    ],
)
def test_a_level_without_a_stamp_is_read_and_stays_in_the_message(raw: str, level: str) -> None:
    assert split(raw).level == level
    assert split(raw).message == raw


def test_a_kernel_source_makes_every_line_the_kernels() -> None:
    assert split("Call Trace:", kernel=True).channel == "kernel"
    assert split("Call Trace:").channel == "program"


@pytest.mark.parametrize("raw", [r[1] for r in ROWS], ids=[r[0] for r in ROWS])
def test_the_short_way_to_a_stamp_finds_the_same(raw: str) -> None:
    assert stamps_of(raw, "iso") == stamps_of(raw)


def test_both_stamps_of_a_kernel_line_in_a_syslog() -> None:
    outer, inner = stamps_of("May  6 00:38:27 host kernel: [ 1564.390000] text")
    assert (outer.clock, inner.clock, inner.seconds) == ("wall", "boot", 1564.39)


LONG = ["x", "x-1", "a=", "x@", "[x", "x: ", "{", '{"a":', "x.", "(x", "<1", "1,", "1 ", "- ", "\t", "a{b}:", "a:"]


@pytest.mark.parametrize("piece", LONG)
@pytest.mark.parametrize("before", ["", "2026-05-01T12:00:00Z ", "2026-05-01T12:00:00+02:00 ", "May  6 00:38:27 ", "2026-05-01T12:00:00Z INFO ", "time=2026-05-01T12:00:00Z "])  # fmt: skip
def test_a_long_line_takes_no_longer_than_reading_it(before: str, piece: str) -> None:
    raw = before + piece * (65536 // len(piece))
    assert least_cpu(lambda: split(raw)) < 0.25


DIALECTS = [
    ("dmesg", ["[    0.000000] Linux version 6.1", "[    1.234567] usb 1-1: x"]),
    ("dmesg-T", ["[Sun Feb 23 16:24:18 2025] a", "[Sun Feb 23 16:24:19 2025] b"]),
    ("syslog", ["May  6 00:38:27 h kernel: x", "May  6 00:38:28 h sshd[1]: y"]),
    ("syslog-iso", ["2026-05-01T12:00:00+00:00 h kernel: x", "2026-05-01T12:00:00+00:00 h sshd[1]: x"]),
    ("docker-json", [r'{"log":"a\n","stream":"stdout","time":"2026-05-01T12:00:00Z"}'] * 2),
    ("iso", ["2026-05-01T12:00:00.123456Z  INFO a::b: x", "Traceback:", "  File", "    x = 1"]),
    ("glog", ["E1218 20:27:21.426415 12345 file.cc:629] text"]),
    ("journal-monotonic", ["[    1.000000] h kernel: x", "[    2.000000] h systemd[1]: y", "[    3.000000] h kernel: z"]),
    ("", ["plain", "text"]),
    ("", ["a", "b", "c", "d", "e", "12:00:00 one in six"]),
    ("", []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "sample"), DIALECTS, ids=[f"{d[0] or 'none'}{i}" for i, d in enumerate(DIALECTS)])
def test_the_dialect_of_a_sample(name: str, sample: list[str]) -> None:
    assert dialect_of(sample) == name


def test_the_dialect_tells_a_host_from_a_device() -> None:
    raw = "[   10.000000] usb 1-1: new device"
    assert split(raw).message == "usb 1-1: new device"
    assert split(raw, dialect="journal-monotonic").host == "usb"


@pytest.mark.parametrize("raw", [r[1] for r in ROWS], ids=[r[0] for r in ROWS])
def test_a_cut_line_is_never_an_error(raw: str) -> None:
    for end in range(len(raw)):
        line = split(raw[:end])
        assert line.raw == raw[:end]


@given(st.text(max_size=120), st.sampled_from(["", "syslog", "epoch", "compose", "journal-monotonic"]))
def test_any_text_is_a_line(raw: str, dialect: str) -> None:
    assert split(raw, 3, dialect).raw == raw


@given(st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2060, 1, 1)), st.integers(-12 * 60, 14 * 60))
def test_an_iso_stamp_survives(when: datetime, minutes: int) -> None:
    aware = when.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    stamp = split(aware.isoformat(timespec="microseconds") + " text").stamp
    assert stamp is not None
    assert stamp.wall == aware
