"""What makes a big input fast changes nothing that is said of it."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import random
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from postmortem.analysis import analyze
from postmortem.bundle import open_bundle
from postmortem.bundle.streams import Unpacked, ahead, inflater
from postmortem.scan import Needle, Scanner, build, hyper, needle_of
from postmortem.scan import second as second_module
from postmortem.scan.helper import Helper
from postmortem.scan.looks import Looks
from postmortem.scan.plan import Plan
from postmortem.scan.second import Second
from postmortem.scan.spot import rare_words, spelled
from postmortem.scan.vector import find
from postmortem.signatures import load
from postmortem.sources import hits as hits_module
from postmortem.sources import read_sources, scanning
from postmortem.text import keep

ROOT = Path(__file__).parent.parent
PATTERNS = (
    r"finished\b[^\n]{0,80}\bcode 0x7f",
    r"(?i)error.{0,60}cannot allocate memory",
    r"(?P<done>[1-9]\d*)/(?P=done) proofs",
    r"(?:worker|server) (?P<n>\d+) said .*(?:stop it|go away)",
    r"Killed process",
    r"^[^:]{1,40}: FAILED",
    r"ERROR",
)
WORDS = (
    "finished", "code 0x7f", "code 0x70", "error", "ERROR", "cannot allocate memory", "Cannot Allocate Memory", "3/3",
    "3/4", "proofs", "worker 7", "said", "stop it", "go away", "Killed process", "a.txt: FAILED", "\x1b[31mred\x1b[0m",
    '{"log":"Killed\\tprocess\\n"}', "é", "\u212ailled", "x" * 90,
)  # fmt: skip


def log(lines: int, seed: int) -> bytes:
    rng = random.Random(seed)
    return "".join(" ".join(rng.choices(WORDS, k=rng.randint(0, 7))) + "\n" for _ in range(lines)).encode()


def build_search(needles: list[Needle]) -> Callable[[bytes], list[tuple[int, int]]]:
    plan, database = hyper.planned(needles)
    assert database is not None
    return Looks(plan, hyper.finder(database)).search


def whole(block: bytes) -> set[tuple[int, int]]:
    """What one database of all whole expressions reports: (line, pattern)."""
    needles = [needle_of(pattern) for pattern in PATTERNS]
    search = build_search([replace(needle, spots=()) for needle in needles])
    return {(block.count(b"\n", 0, end - 1), pattern) for end, pattern in search(block)}


def test_some_patterns_are_looked_for_by_a_part() -> None:
    assert [bool(needle_of(pattern).spots) for pattern in PATTERNS] == [True, True, True, True, True, True, False]


@pytest.mark.parametrize(
    ("words", "rare"),
    [
        ((b"Killed process",), True), ((b"no error", b"0 errors"), True), ((b"ok after ",), True),
        ((b" in use",), False), ((b"in the process",), False), ((b"response: ",), False), ((b"sed: ",), False),
        ((b"Killed process", b" of "), False), ((), False),
    ],
)  # fmt: skip
def test_words_are_rare_when_a_line_seldom_has_one(words: tuple[bytes, ...], rare: bool) -> None:
    assert bool(rare_words(words)) is rare


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("lines", [1, 40, 600])
@pytest.mark.parametrize("often", [0, 50, 1 << 30], ids=["by database soon", "by both", "by re"])
def test_two_looks_find_what_one_finds(seed: int, lines: int, often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_module, "OFTEN", often)
    block = log(lines, seed).replace(b"\x1b[31m", b"").replace(b"\x1b[0m", b"")
    needles = [needle_of(pattern) for pattern in PATTERNS]
    search = build_search(needles)
    for _ in range(2):  # what was looked at one by one the first time may be in a database the second time
        assert {(block.count(b"\n", 0, end - 1), pattern) for end, pattern in search(block)} == whole(block)


@pytest.mark.parametrize("often", [0, 1 << 30], ids=["by database", "by re"])
def test_a_word_that_is_looked_for_in_any_case_too_keeps_its_own(often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_module, "OFTEN", often)
    search = build_search([needle_of("Killed process"), needle_of("(?i)killed process")])
    for _ in range(2):
        found = {(needle, end) for end, needle in search(b"Killed process 1\nkilled process 2\n")}
        assert {needle for needle, end in found if end <= 17} == {0, 1}
        assert {needle for needle, end in found if end > 17} == {1}


MARKED = ("Killed process", "Killed process: ", "(?i)(killed process)", r"\(Killed process\)", "1 Killed process")


@pytest.mark.parametrize("often", [0, 1 << 30], ids=["by database", "by re"])
def test_a_word_with_marks_around_it_is_looked_for_as_the_word(often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_module, "OFTEN", often)
    needles = [needle_of(pattern) for pattern in MARKED]
    assert len(hyper.planned(needles)[0].spots) == 2, "the word, and the one with a digit, which is rarer"
    search = build_search(needles)
    block = b"Killed process\nkilled process: \n(Killed process)\n1 Killed process: 7\nprocess\n"
    lines = [{0, 2}, {2}, {0, 2, 3}, {0, 1, 2, 4}]
    for _ in range(2):
        found = {(block.count(b"\n", 0, end - 1), needle) for end, needle in search(block)}
        assert found == {(line, needle) for line, needles in enumerate(lines) for needle in needles}


@pytest.mark.parametrize(
    ("pattern", "spots"),
    [
        (r"(?i)\b(?:crashed|aborted)\b.{0,60}code \d", {"crashed", "aborted"}),
        (r"\s(?:FAILED|aborted)\b[^:]{9,60}", {"FAILED", "aborted"}),
        (r"(?:crashed|hit).{9,60}", set()),
        (r"(?:crashed|aborted) at [0-9a-f]{6}.{9,60}", set()),
    ],
    ids=["words", "a space before them", "a short word", "the part says more than its words"],
)
def test_a_choice_of_words_is_looked_for_word_by_word(pattern: str, spots: set[str]) -> None:
    words = {spelled(word.encode()) for word in spots}
    assert set(needle_of(pattern).spots) == words if spots else not words & set(needle_of(pattern).spots)


def test_what_re_cannot_compile_stands_where_its_spot_does() -> None:
    plan = Plan(
        spots=(("needle", False),), owners=((0, 1),), whole=(), needles=(("need(le", False), ("", False)), lost=()
    )
    second = Second(plan, lambda wanted: None)
    assert sorted(second.ends(b"a needle\nno\n", [(8, 0)])) == [(8, 0), (8, 1)]


@pytest.mark.parametrize("often", [0, 1 << 30], ids=["by database", "by re"])
def test_arrays_take_the_second_look_too(often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postmortem.scan.crowd.CROWD", often)
    block = log(900, 11)
    scanner = build((*PATTERNS, f"never here {often}"))  # one of its own: others have asked theirs already
    assert scanner.looks is not None
    for _ in range(2):  # the second time by the database
        assert list(find(scanner, block).nominees(frozenset())) == scanner.nominees(block)
    assert bool(scanner.looks.second.finders) is (often == 0)


@pytest.mark.parametrize("patterns", [PATTERNS, (*PATTERNS, r"\d\d")], ids=["all have words", "one has none"])
@pytest.mark.parametrize(
    "block", [b"", b"\n", b"ERROR", b"ERROR\n", log(3, 3), log(50, 50), log(700, 700)], ids=range(7)
)
def test_arrays_say_what_the_nominees_say(patterns: tuple[str, ...], block: bytes) -> None:
    for engine in ("hyperscan", "plain"):
        scanner = build(patterns, engine)  # type: ignore[arg-type]
        found = find(scanner, block)
        assert list(found.nominees(frozenset())) == scanner.nominees(block)
        assert found.total == block.count(b"\n") + (not block.endswith(b"\n") and bool(block))


def sources_of(tmp_path: Path, data: bytes, scanner: Scanner) -> list[object]:
    (tmp_path / "a.log").write_bytes(data)
    (tmp_path / "b.log.gz").write_bytes(gzip.compress(data, 1))
    with open_bundle(tmp_path) as bundle:
        return list(read_sources(bundle, scanner, {PATTERNS[6]: (1, 9)}))


@pytest.mark.parametrize("few", [3, 1 << 30], ids=["by arrays", "by a loop"])
@pytest.mark.parametrize("first", [5, 1000], ids=["few hits kept", "many hits kept"])
@pytest.mark.parametrize("limit", [10_000, 4 << 20], ids=["kept in part", "kept whole"])
@pytest.mark.parametrize("killed", [False, True], ids=["by children", "by children that die"])
def test_children_and_arrays_give_the_same_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, limit: int, few: int, killed: bool
) -> None:
    monkeypatch.setattr(hits_module, "FIRST_HITS", first)
    monkeypatch.setattr(hits_module, "READ_HITS", 2 * first)
    monkeypatch.setattr(hits_module, "LAST_HITS", 7)
    for name, value in (("WHOLE_LIMIT", limit), ("HEAD", 500), ("TAIL", 500)):
        monkeypatch.setattr(keep, name, value)
    scanner = build(PATTERNS)
    data = log(9000, 3)
    monkeypatch.setattr("postmortem.bundle.streams.OUT", 20_000)
    monkeypatch.setattr("postmortem.bundle.folder.BLOCK", 30_000)
    slow = sources_of(tmp_path, data, scanner)
    for name, value in (("BIG", 2), ("SMALL", 100), ("FEW", few), ("ARRAYS", few)):
        monkeypatch.setattr(scanning, name, value)
    asked: list[int] = []
    give = Helper.give

    def counted(self: Helper, block: bytes) -> None:
        asked.append(len(block))
        if killed and len(asked) == 20:
            os.kill(self._pid, signal.SIGKILL)
        give(self, block)

    monkeypatch.setattr(Helper, "give", counted)
    monkeypatch.setattr(scanning, "processors", lambda: 2)
    assert sources_of(tmp_path, data, scanner) == slow
    assert len(asked) > 30


@pytest.mark.parametrize(("copies", "imported"), [(1, False), (3, True)], ids=["4 MiB", "12 MiB"])
def test_numpy_is_imported_for_much_input_only(copies: int, imported: bool, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(log(65_000, 5) * copies)
    code = (
        "import sys; from postmortem.analysis import analyze\n"
        f"analyze({str(tmp_path / 'a.log')!r}); print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == f"{imported}\n"


def test_no_child_outlives_what_it_is_asked_for() -> None:
    helper = Helper(lambda block: block.upper())
    helper.give(b"a")
    helper.give(b"b" * 3_000_000)
    assert helper.take() == b"A"
    assert helper.take() == b"B" * 3_000_000
    helper.close()
    assert not Path(f"/proc/{helper._pid}").exists()


def test_a_child_ends_with_its_parent() -> None:
    code = (
        "import os, signal; from postmortem.scan.helper import Helper\n"
        "one, two = Helper(bytes.upper), Helper(bytes.upper); print(one._pid, two._pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    pids = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60).stdout.split()
    assert len(pids) == 2
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.parametrize("call", ["fork", "pipe"])
def test_where_there_can_be_no_child_the_caller_scans(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanner = build(PATTERNS)
    slow = sources_of(tmp_path, log(9000, 3), scanner)
    for name, value in (("BIG", 2), ("SMALL", 100)):
        monkeypatch.setattr(scanning, name, value)
    refused: list[int] = []
    real = getattr(os, call)

    def second_fails() -> object:
        refused.append(1)
        if len(refused) == 1 and call == "pipe":
            return real()
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, call, second_fails)
    before = len(os.listdir("/proc/self/fd"))
    assert sources_of(tmp_path, log(9000, 3), scanner) == slow
    assert refused
    assert len(os.listdir("/proc/self/fd")) == before


def packed(data: bytes, cut: int | None = None) -> Iterator[bytes]:
    body = gzip.compress(data, 6)[:cut]
    yield from (body[i : i + 5000] for i in range(0, len(body), 5000))


STREAMS = {
    "whole": lambda: packed(log(30_000, 1)),
    "cut": lambda: packed(log(30_000, 1), -20_000),
    "cut in the trailer": lambda: packed(log(300, 1), -3),
    "two members": lambda: itertools.chain(packed(b"one\n" * 9), packed(b"two\n" * 9)),
    "zeros behind": lambda: itertools.chain(packed(b"one\n" * 9), [b"\0" * 700]),
    "other bytes behind": lambda: itertools.chain(packed(b"one\n" * 9), [b"other"]),
    "empty": lambda: packed(b""),
    "a bomb": lambda: packed(bytes(200 << 20)),
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_isal_gives_what_zlib_gives(monkeypatch: pytest.MonkeyPatch, stream: object) -> None:
    assert inflater() is not zlib
    results = []
    for engine in (inflater(), zlib):
        monkeypatch.setattr("postmortem.bundle.streams.inflater", lambda engine=engine: engine)
        source = Unpacked(stream())  # type: ignore[operator]
        digest = zlib.crc32(b"")
        size = 0
        for block in source:
            digest, size = zlib.crc32(block, digest), size + len(block)
        results.append((digest, size, source.damage, source.bomb))
    assert results[0] == results[1]


def test_a_damaged_stream_gives_what_came_before() -> None:
    data = bytearray(gzip.compress(log(60_000, 1), 6))
    data[len(data) // 2] ^= 0xFF
    source = Unpacked(iter([bytes(data)]))
    got = b"".join(source)
    assert "damaged after" in source.damage
    assert len(got) > 1 << 20
    assert got.startswith(log(60_000, 1)[:100_000])


def test_blocks_made_ahead_come_in_order_with_their_error() -> None:
    def blocks() -> Iterator[bytes]:
        yield from (bytes([n]) * 100 for n in range(200))
        raise OSError("gone")

    got: list[int] = []
    with pytest.raises(OSError, match="gone"):
        got.extend(block[0] for block in ahead(blocks(), start=500, depth=3))
    assert got == list(range(200))


def test_a_thread_ends_when_nobody_reads_on() -> None:
    before = threading.active_count()
    blocks = ahead((b"x" * 100 for _ in itertools.count()), start=500, depth=3)
    for _ in range(20):
        next(blocks)
    assert threading.active_count() == before + 1
    blocks.close()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() == before


def big_bundle(file: Path, size: int) -> None:
    """A daemon log of this size with one kill far behind its head, and a small dmesg."""
    line = b"2026-02-11T03:04:05.000000Z  INFO core::engine: partition %d synthesis finished in 12ms, queue depth 3\n"
    lines = b"".join(line % n for n in range(9000))
    parts = [lines] * (size // len(lines))
    parts.insert(len(parts) * 7 // 10, b"2026-02-11T03:04:05.5Z ERROR pool: cudaHostAlloc failed: out of memory\n")
    with tarfile.open(file, "w:gz", compresslevel=1) as tar:
        for name, data in (
            ("files/daemon.log", b"".join(parts)),
            ("files/dmesg.txt", b"[   12.345678] usb 1-2: new\n"),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def test_a_big_bundle_says_the_same_by_every_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "big.tar.gz"
    big_bundle(file, 12 << 20)
    fast = analyze(file)
    monkeypatch.setattr(scanning, "BIG", 1 << 40)
    monkeypatch.setattr("postmortem.bundle.streams.inflater", lambda: zlib)
    assert analyze(file) == fast


def test_small_inputs_import_no_numpy() -> None:
    code = (
        "import sys; from postmortem.analysis import analyze;"
        f"analyze({str(ROOT / 'samples/syntax-error-zombie/bundle.tar.gz')!r});"
        "sys.exit(' '.join({'numpy', 'pandas', 'matplotlib'} & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_catalogue_needs_no_slow_scan() -> None:
    scanner = build(load().patterns)
    assert scanner.engine == "hyperscan"
    assert scanner.everywhere == ()


def test_ctrl_c_leaves_one_line(tmp_path: Path) -> None:
    """Sent while threads scan and one waits for more input."""
    big_bundle(tmp_path / "big.tar.gz", 96 << 20)
    data = (tmp_path / "big.tar.gz").read_bytes()
    run = subprocess.Popen(
        [sys.executable, "-m", "postmortem", "analyze", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0,
    )  # fmt: skip
    assert run.stdin is not None
    assert run.stderr is not None
    with run.stdin, run.stderr:
        for at in range(0, len(data) // 2, 1 << 16):  # a pipe holds 64 KiB: nearly all of it was taken then
            run.stdin.write(data[at : at + (1 << 16)])
        run.send_signal(signal.SIGINT)
        assert (run.stderr.read(), run.wait(timeout=20)) == (b"postmortem: interrupted\n", 130)
