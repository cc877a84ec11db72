# real words in one list
from __future__ import annotations

import json
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from postmortem.scan import Engine, Scanner, build, line_starts
from postmortem.scan import scanner as scan_module
from postmortem.scan.cache import load
from postmortem.scan.needle import needle_of
from postmortem.text import text_of

ENGINES: tuple[Engine, ...] = ("hyperscan", "plain")


def hits(scanner: Scanner, block: bytes) -> set[tuple[int, int]]:
    return set(scanner.scan(block))


def confirmed(patterns: list[str], scanner: Scanner, block: bytes) -> set[tuple[int, int]]:
    """What is left of the nominations when `regex` has looked at the decoded lines."""
    text = text_of(block)
    return {(p, n) for p, n in scanner.scan(block) if regex.search(patterns[p], text.line(n + 1) or "", timeout=2)}


def truth(patterns: list[str], block: bytes) -> set[tuple[int, int]]:
    lines = list(text_of(block).kept())
    return {(p, n - 1) for p, pat in enumerate(patterns) for n, line in lines if regex.search(pat, line, timeout=2)}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        pytest.param(r"^NVRM: Xid", "[  12.5] NVRM: Xid (PCI:0000:9b:00): 79", id="anchor-is-of-the-message"),
        pytest.param(r"of memory$", "Out of memory", id="end-anchor"),
        pytest.param(r"(?i)OUT OF memory", "oUt Of MeMoRy", id="case"),
        pytest.param(r"looking for [’'\"]", "bash: looking for ’", id="typographic-quote"),
        pytest.param(r"“(?P<what>[^”]+)” failed", "the “first job” failed", id="quotes-in-a-class"),
        pytest.param(r"(?i)kelvin", "0 \u212aelvin", id="a-k-that-is-not-ascii"),
        pytest.param(r"(?i)échec", "ÉCHEC du montage", id="case-beyond-ascii"),
        pytest.param(r"exit code (?!0)\d+", "exit code 137", id="negative-look-ahead"),
        pytest.param(r"(?<=oom_)kill \d", "oom_kill 1", id="look-behind"),
        pytest.param(r"(?=.*disk)(?=.*full)", "full is the disk", id="look-aheads-only"),
        pytest.param(r"(\w+) says \1", "it says it", id="back-reference"),
        pytest.param(r"(?P<a>x\d|y\d) again (?P=a)", "y7 again y7", id="named-back-reference"),
        pytest.param(r"a++bc(?>de)", "aaabcde", id="possessive-and-atomic"),
        pytest.param("(?x) Killed \\s process  # comment (with a paren\n \\s+ \\d+", "Killed process 41", id="verbose"),
        pytest.param(r"err[[:digit:]]+ seen", "err42 seen", id="posix-class"),
        pytest.param(r"\p{Lu}\w+ died", "Éric died", id="property"),
        pytest.param(r"(?<name>foo|bar)baz", "barbaz", id="named-group-without-P"),
        pytest.param(r"(?|pid (\d+)|process (\d+)) gone", "process 7 gone", id="branch-reset"),
        pytest.param(r"\b(?:bind|listen)\b.*in use", "cannot bind: address in use", id="word-boundary"),
        pytest.param(r"\bünder", "got ünder", id="boundary-beside-non-ascii"),
        pytest.param(r"x{2000,}y", "x" * 2100 + "y", id="huge-repeat"),
        pytest.param(r"(?:ab){300}c", "ab" * 300 + "c", id="huge-group-repeat"),
        pytest.param(r"status=\S+\s+killed", "status=9/KILL \t killed", id="space-classes"),
        pytest.param(r"a.{3}b", "a“””b", id="dot-is-a-character"),
        pytest.param(r"no literal at all|\d+:\d+", "12:30", id="a-branch-without-words"),
        pytest.param(r"", "anything", id="empty-pattern"),
        pytest.param(r"(?:failing){e<=1}", "failng", id="approximate"),
        pytest.param(r"(?r)backwards (\d+)", "backwards 12", id="reverse"),
        pytest.param(r"(?V1)[[a-z]--[aeiou]]xyz", "bxyz", id="set-difference"),
        pytest.param(r"seen\b", "seen ", id="boundary-at-the-end"),
        pytest.param(r"\\u[0-9a-f]{4}", r"raw \u00e9 here", id="a-backslash"),
        pytest.param(r"bad \ufffd byte", "bad \ufffd byte", id="replacement-character"),
    ],
)
def test_nominates_what_regex_matches(engine: Engine, pattern: str, line: str) -> None:
    block = f"other\n{line}\nanother\n".encode()
    assert (0, 1) in hits(build([pattern], engine), block)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        pytest.param("Killed process", b"\x1b[31mKilled\x1b[0m process 4\n", id="colour-inside"),
        pytest.param('said "no"', b'{"log":"he said \\"no\\"\\n","stream":"stderr"}\n', id="json-quotes"),
        pytest.param("a\tb", b'{"log":"a\\tb\\n"}\n', id="json-tab"),
        pytest.param("ünder", b'{"msg":"\\u00fcnder"}\n', id="json-unicode"),
        pytest.param("a<b", b'{"msg":"a\\u003cb"}\n', id="json-html-safe"),
        pytest.param("plain red", b'{"log":"plain \\u001b[31mred\\u001b[0m\\n"}\n', id="json-colour"),
        pytest.param("C:.Temp", b'{"log":"C:\\\\Temp"}\n', id="json-backslash"),
        pytest.param("bad .* byte", b"bad \xff\xfe byte\n", id="invalid-utf-8"),
    ],
)
def test_wrapping_hides_nothing(engine: Engine, pattern: str, line: bytes) -> None:
    found = build([pattern], engine).nominees(b"first \x1b[1mline\x1b[0m\n" + line + b"third\n")
    assert [nominee.line for nominee in found] == [1]
    assert found[0].start == len(b"first \x1b[1mline\x1b[0m\n")


@pytest.mark.parametrize(
    ("pattern", "block"),
    [
        pytest.param(r"\bOOM\b", b"ROOMS\nBOOM\n", id="inside-a-word"),
        pytest.param(r"Xid \(PCI", b"Xid PCI\n", id="punctuation"),
        pytest.param("start.*end", b"start\nend\n", id="over-a-line-end"),
        pytest.param(r"start\s+end", b"start\n end\n", id="space-over-a-line-end"),
        pytest.param("start[^x]+end", b"start\n..end\n", id="negated-class-over-a-line-end"),
        pytest.param("case", b"CASE\n", id="case"),
    ],
)
def test_does_not_nominate(pattern: str, block: bytes) -> None:
    assert hits(build([pattern], "hyperscan"), block) == set()


@pytest.mark.parametrize(
    ("pattern", "selective"),
    [
        ("Killed process", True),
        (r"(?i)\bOOM\b", True),
        ("abc|defg", True),
        ("(?:a|b)longer", True),
        (r"(?=.*disk)x", True),
        ("“ja”", True),
        (r"\d+", False),
        ("ab", False),
        ("Killed|ok", False),
        (r"\w+\s\w+", False),
        (".*", False),
        ("(?:word){e<=2}", False),
    ],
)
def test_names_patterns_that_cannot_be_found_cheaply(pattern: str, selective: bool) -> None:
    assert needle_of(pattern).selective is selective
    assert build([pattern]).unselective == (() if selective else (0,))


def test_open_ends_report_a_line_once() -> None:
    scanner = build(["error.*", r"error \S+", r"(?:error|warn)(?: \w+)*"], "hyperscan")
    block = b"error one two three\n" * 3
    assert list(scanner.scan(block)) == [(p, line) for line in range(3) for p in range(3)]
    assert len(scanner.search(block)) <= 12


PATTERNS = [
    r"^(?P<c>\w+) invoked oom-killer",
    r"(?i)error: (?!none)\w+",
    r"Killed process \d+ \((?P<comm>.+?)\)",
    r"\bexit(?:ed)? (?:with )?(?:code|status)[ =]\d+\b",
    r"«(?P<q>[^»]*)»\s+fehlt$",
    r"(?i)STRASSE|kill|İ",
    r"a[^b]c.{2,4}d",
    r"\b\S+é\b",
    r"(?:\d{1,3}\.){3}\d+",
    r"[“\"]x[”\"]",
]
WORDS = st.sampled_from(
    ["synthd", "invoked", "oom-killer", "ERROR:", "error:", "none", "no", "Killed", "process", "41", "(a b)", "exited", "exit", "with", "code=9", "status=137", "«x»", "fehlt", "straße", "Kill", "Kill", "ſtrasse", "İ", "axc", "abc", "“x”", '"x"', "é", "café", "10.0.0.1", "123", "d", "\x1b[31m", "\x1b[0m", "\r", "\t", "{", "}", "\\", "\\t"]
)
LINES = st.lists(st.one_of(WORDS, st.text(max_size=4)), max_size=7).map(" ".join)
RAW = st.one_of(LINES.map(lambda s: s.encode("utf-8", "surrogatepass")), st.binary(max_size=12))
WRAPPED = LINES.map(lambda s: json.dumps({"log": s + "\n"}).encode())


@settings(max_examples=400, deadline=None)
@given(st.lists(st.one_of(RAW, RAW, WRAPPED), max_size=8).map(b"\n".join))
def test_both_engines_give_the_hits_of_regex(block: bytes) -> None:
    expected = truth(PATTERNS, block)
    for engine in ENGINES:
        assert confirmed(PATTERNS, SCANNERS[engine], block) == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(LINES, max_size=6))
def test_json_strings_are_nominated_by_what_they_say(messages: list[str]) -> None:
    dumps = [json.dumps({"log": message}, ensure_ascii=len(message) % 2 == 0) for message in messages]
    block = b"".join(dump.encode("utf-8", "replace") + b"\n" for dump in dumps)
    for engine in ENGINES:
        found = hits(SCANNERS[engine], block)
        for number, message in enumerate(messages):
            said = json.loads(block.split(b"\n")[number])["log"]
            shown = (text_of(said.replace("\n", " ").encode("utf-8", "replace")).line(1) or "") if said else ""
            for index, pattern in enumerate(PATTERNS):
                if regex.search(pattern, shown):
                    assert (index, number) in found, (pattern, message)


SCANNERS = {engine: build(PATTERNS, engine) for engine in ENGINES}

ATOMS = st.sampled_from(
    ["ab", "a", "é", r"\w", r"\d", ".", "[a-c]", "[^a]", r"\s", r"\b", "^", "$", "(?i)", "B", r"\S", "“", "[éb]", r"\W"]
)
TAILS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,3}", "+?", "*+"])


@st.composite
def random_pattern(draw: st.DrawFn, depth: int = 2) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        if depth and draw(st.integers(0, 3)) == 0:
            opening = draw(st.sampled_from(["(?:", "(", "(?P<n>", "(?=", "(?!", "(?>"]))
            branches = [draw(random_pattern(depth=depth - 1)) for _ in range(draw(st.integers(1, 2)))]
            tail = draw(TAILS) if opening in ("(?:", "(", "(?P<n>") else ""
            parts.append(opening + "|".join(branches) + ")" + tail)
        else:
            atom = draw(ATOMS)
            parts.append(atom + (draw(TAILS) if atom not in (r"\b", "^", "$", "(?i)") else ""))
    return "".join(parts)


@settings(max_examples=300, deadline=None)
@given(random_pattern(), st.text(alphabet="abcABé“1 _\u212a", max_size=12))
def test_random_patterns_are_never_missed(pattern: str, line: str) -> None:
    try:
        compiled = regex.compile(pattern)
    except regex.error:
        return
    if compiled.search(line, timeout=2):
        for engine in ENGINES:
            assert (0, 0) in hits(build([pattern], engine), line.encode() + b"\n"), engine


@pytest.mark.parametrize(
    ("block", "starts"),
    [(b"", []), (b"a", [0]), (b"a\n", [0]), (b"a\nbc\nd", [0, 2, 5]), (b"\n\n", [0, 1])],
)
def test_line_starts(block: bytes, starts: list[int]) -> None:
    assert line_starts(block) == starts


def test_compiled_patterns_are_kept(tmp_path: Path) -> None:
    first = build(PATTERNS, "hyperscan", tmp_path)
    (file,) = tmp_path.iterdir()
    scan_module._hyperscan.cache_clear()
    again = build(PATTERNS, "hyperscan", tmp_path)
    block = b"ERROR: boom\nKilled process 41 (a)\n10.0.0.1\n"
    assert hits(again, block) == hits(first, block) != set()
    assert again.unselective == first.unselective
    assert (again.everywhere, again.caseless) == (first.everywhere, first.caseless)
    assert load(file) is not None


@pytest.mark.parametrize("harm", ["cut", "flip", "empty", "foreign-format", "writable-by-all", "link", "folder"])
def test_a_bad_cache_is_not_used(tmp_path: Path, harm: str) -> None:
    build([*PATTERNS, harm], "hyperscan", tmp_path)
    (file,) = tmp_path.iterdir()
    data = file.read_bytes()
    if harm == "writable-by-all":
        file.chmod(0o666)
    elif harm in ("link", "folder"):
        file.rename(tmp_path / "elsewhere")
        file.symlink_to("elsewhere") if harm == "link" else file.mkdir()
    else:
        at = len(data) // 2
        bad = {"cut": data[:at], "flip": data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], "empty": b""}
        file.write_bytes(bad.get(harm, b"something else entirely"))
    assert load(file) is None
    scan_module._hyperscan.cache_clear()
    assert (10, 0) in hits(build([*PATTERNS, harm], "hyperscan", tmp_path), harm.encode())


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    scan_module._hyperscan.cache_clear()
    assert hits(build(["needle"], "hyperscan", tmp_path / "file" / "sub"), b"needle") == {(0, 0)}
