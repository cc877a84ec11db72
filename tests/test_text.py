from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.scan.escapes import strip_escapes
from postmortem.text import LINE_LIMIT, Text, keep, text_of
from postmortem.text.blocks import CARRY_LIMIT, utf8, whole_lines
from postmortem.text.decoded import Memory
from postmortem.text.keep import Budget, Place, TextBuilder


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"one", ["one"], id="no-newline-at-the-end"),
        pytest.param(b"one\n\ntwo\n", ["one", "", "two"], id="an-empty-line-is-a-line"),
        pytest.param(b"one\r\ntwo\r\n", ["one", "two"], id="crlf"),
        pytest.param(b"\x1b[31mERROR\x1b[0m boom\n", ["ERROR boom"], id="colour"),
        pytest.param(b"\x1b]0;title\x07$ ls\n", ["$ ls"], id="window-title"),
        pytest.param(b" 10%\r 20%\rdone\n", [" 10%␍ 20%␍done"], id="progress-bar"),
        pytest.param(b"\0\0\0after copytruncate\n", ["after copytruncate"], id="hole-of-a-truncated-log"),
        pytest.param(b"a\x07b\tc\n", ["a\ufffdb\tc"], id="bell-shown-tab-kept"),
        pytest.param(b"caf\xc3\xa9 \xff\n", ["café \ufffd"], id="invalid-utf-8"),
        pytest.param(b"\xef\xbb\xbfname\n", ["name"], id="byte-order-mark"),
    ],
)
def test_lines(data: bytes, lines: list[str]) -> None:
    text = text_of(data)
    assert [line for _, line in text.kept()] == lines
    assert text.count == len(lines)
    assert text.line(0) is None
    assert text.line(len(lines) + 1) is None


def test_a_script_keeps_its_carriage_returns() -> None:
    text = text_of("#!/bin/bash\r\nset -e\r\n", raw=True)
    assert text.line(1) == "#!/bin/bash\r"


def test_a_long_line_keeps_head_and_tail() -> None:
    line = b"A" * LINE_LIMIT + b"Z" * LINE_LIMIT
    shown = text_of(line).line(1) or ""
    assert shown.startswith("AAA")
    assert shown.endswith("ZZZ")
    assert "bytes cut" in shown
    assert len(shown) <= LINE_LIMIT
    assert text_of(line, long_lines=True).line(1) == line.decode()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_recoded(encoding: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[encoding]
    data = mark + "wsl: ünï\r\nend".encode(encoding)
    blocks = [data[i : i + 3] for i in range(0, len(data), 3)]
    assert b"".join(utf8(blocks)).decode() == "wsl: ünï\r\nend"


@given(st.lists(st.binary(max_size=9).map(lambda b: b.replace(b"\x00", b"\n"))))
def test_whole_lines_loses_nothing(blocks: list[bytes]) -> None:
    framed = list(whole_lines(blocks))
    assert b"".join(framed) == b"".join(blocks)
    assert all(block.endswith(b"\n") for block in framed[:-1])


def test_an_endless_line_is_bounded() -> None:
    line = b"".join(whole_lines([b"start\nHEAD", *[b"x" * 65536] * 64, b"TAIL\nnext\n"]))
    assert line.startswith(b"start\nHEAD")
    assert line.endswith(b"TAIL\nnext\n")
    assert b"bytes cut" in line
    assert len(line) < CARRY_LIMIT


def test_escapes_do_not_move_line_ends() -> None:
    data = b"\x1b]0;no end\n\x1bPq\n\x1b[1\nx\x1b"
    assert strip_escapes(data).count(b"\n") == data.count(b"\n")


def build(lines: list[bytes], nominated: set[int], before: int, after: int, per_block: int) -> Text:
    builder = TextBuilder(Budget())
    for start in range(0, len(lines), per_block):
        part = lines[start : start + per_block]
        places = []
        offset = 0
        for index, line in enumerate(part):
            if start + index + 1 in nominated:
                places.append(Place(index, offset, before, after))
            offset += len(line)
        builder.feed(b"".join(part), len(part), places)
    return builder.finish()


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keep, "WHOLE_LIMIT", 200)
    monkeypatch.setattr(keep, "HEAD", 30)
    monkeypatch.setattr(keep, "TAIL", 40)


@pytest.mark.usefixtures("small_limits")
@settings(deadline=None)
@given(
    count=st.integers(1, 90),
    nominated=st.sets(st.integers(1, 90), max_size=6),
    before=st.integers(0, 4),
    after=st.integers(0, 4),
    per_block=st.integers(1, 12),
)
def test_a_big_member_keeps_every_neighbourhood(
    count: int, nominated: set[int], before: int, after: int, per_block: int
) -> None:
    nominated = {n for n in nominated if n <= count}
    lines = [b"line %d\n" % n for n in range(1, count + 1)]
    before = min(before, per_block)  # a neighbourhood reaches over one block border, not over two
    text = build(lines, nominated, before, after, per_block)
    kept = dict(text.kept())
    assert list(kept) == sorted(kept)
    assert all(value == f"line {number}" for number, value in kept.items())
    assert text.count == count
    assert text.whole == (len(kept) == count)
    for hit in nominated:
        assert set(range(max(1, hit - before), min(count, hit + after) + 1)) <= set(kept)
    assert {1, count} <= set(kept)


def test_memory_of_a_big_member_is_bounded() -> None:
    builder = TextBuilder(Budget())
    block = b"x" * 99 + b"\n"
    for _ in range(64):
        builder.feed(block * 10_000, 10_000, [Place(i, i * 100, 2, 2) for i in range(0, 10_000, 7)])
    text = builder.finish()
    assert not text.whole
    assert sum(len(run.data) for run in text.runs) < 12 << 20
    assert text.size == 64_000_000
    assert text.line(640_000) == "x" * 99


def test_the_budget_is_shared() -> None:
    budget = Budget(10_000)
    for _ in range(3):
        builder = TextBuilder(budget)
        builder.feed(b"y\n" * 2_000, 2_000)
        builder.finish()
    assert budget.left < 4_000


def test_the_last_of_too_many_are_kept() -> None:
    builder = TextBuilder(Budget())
    for _ in range(80):
        builder.feed(b"x" * 99 + b"\n" + (b"y" * 99 + b"\n") * 9_999, 10_000, (), lambda: [Place(0, 0)])
    numbers = {n for n, _ in builder.finish().kept()}
    assert {1, 30 * 10_000 + 1, 79 * 10_000 + 1} <= numbers


PIECES = st.sampled_from(
    [b"a", b"9", b" ", b"\t", b"\n", b"\r\n", b"\r", b"\0", b"\x1b[1m", b"\x07", b"\x7f", b"\xc3\xa9", b"\xe2\x82",
     b"\xc2\x85", b"\xef\xbb\xbf", b"\xff", b"\x0b", b"\xe2\x80\xa8"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map(b"".join), st.booleans(), st.booleans())
def test_all_lines_at_once_are_the_lines_one_by_one(data: bytes, raw: bool, long_lines: bool) -> None:
    text = text_of(data, raw, long_lines)
    assert list(text.kept()) == [(number, text.line(number)) for number in range(1, text.count + 1)]


def test_long_lines_are_cut_in_a_plain_text_too() -> None:
    text = text_of(b"short\n" + b"A" * (LINE_LIMIT + 1) + b"\nend\n")
    assert [line for _, line in text.kept()] == ["short", text.line(2), "end"]
    assert "bytes cut" in (text.line(2) or "")


@pytest.mark.parametrize(
    ("data", "plain"),
    [
        pytest.param(b"a\tb\n", True, id="tabs"),
        pytest.param("h\u00e9\n".encode(), True, id="utf-8"),
        pytest.param(b"a\r\n", False, id="carriage-return"),
        pytest.param(b"a\x1b[1mb\n", False, id="escape"),
        pytest.param(b"a\0\n", False, id="nul"),
    ],
)
def test_plain_bytes(data: bytes, plain: bool) -> None:
    assert text_of(data).plain() == (data if plain else None)


def test_the_lines_remembered_are_bounded_and_those_of_the_run() -> None:
    memory = Memory(limit=100)
    runs = [b"x" * 60, b"y" * 60, b"z" * 60]
    for run in (*runs, runs[0]):
        assert memory.of(run, 0, lambda run=run: [run.decode()]) == [run.decode()]  # type: ignore[misc]
    assert memory.of(runs[0], 0, lambda: ["made anew"]) == ["x" * 60]
    assert memory.of(runs[1], 0, lambda: ["made anew"]) == ["made anew"]
    assert memory.of(runs[1], 1, lambda: ["read in another way"]) == ["read in another way"]
