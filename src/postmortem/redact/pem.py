"""Private key blocks, whole, escaped into one line, and cut at either end."""

from __future__ import annotations

from collections.abc import Iterator

from postmortem.lazy import lazy

Span = tuple[int, int]

_BEGIN = lazy(rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = lazy(rb"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----?-?-?-?-?")
_LONGEST = 65536  # bytes between the two
_BODY = lazy(rb"[\"']?(?:[A-Za-z0-9+/]{1,76}={0,2}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): .*)?[\"',]*\r?$")
_INLINE = lazy(rb"(?:\\+[nr]|[A-Za-z0-9+/=\s]|\\+/)*")
_INLINE_BEFORE = lazy(rb"(?:\\+[nr]|[A-Za-z0-9+/=]|\\+/)*$")


def pem(data: bytes, _low: bytes) -> Iterator[Span]:
    """The spans of private key blocks; where one end is missing, what looks like the body belongs to it."""
    if b"PRIVATE KEY" not in data:
        return
    done = 0
    begins = [m.span() for m in _BEGIN.finditer(data)]
    ends = [m.span() for m in _END.finditer(data)]
    for number, (start, head_end) in enumerate(begins):
        following = begins[number + 1][0] if number + 1 < len(begins) else len(data)
        end = next((e for s, e in ends if head_end <= s < min(following, head_end + _LONGEST)), None)
        span = (start, end) if end is not None else (start, _cut_body(data, head_end))
        for s, e in ends:
            if done <= s < start:
                yield _headless(data, s, e, done)
        done = span[1]
        if span[1] > head_end:
            yield span
    for s, e in ends:
        if s >= done:
            yield _headless(data, s, e, done)


def _cut_body(data: bytes, at: int) -> int:
    """Where the body after a BEGIN without its END stops."""
    inline = _INLINE.match(data, at, _line_end(data, at))
    end = inline.end() if inline and inline.end() - at >= 16 else at
    if end == at and data[at : _line_end(data, at)].strip(b" \r\"',"):
        return at  # a pattern or a message that names the header, no key
    words = _words_before(data, data.rfind(b"\n", 0, at) + 1, data.rfind(b"-----BEGIN", 0, at))
    line = _line_end(data, at)
    while line < len(data):
        stop = _line_end(data, line + 1)
        if not _is_body(data[line + 1 : stop], words):
            break
        end, line = stop, stop
    return end


def _words_before(data: bytes, line_start: int, at: int) -> int:
    """How many words stand before the header on its line: a log's stamp and stream, which the body's lines have too."""
    return len(data[line_start:at].split())


def _is_body(line: bytes, words: int) -> bool:
    parts = line.split(None, words)
    if len(parts) < words:
        return not line.strip()
    return bool(_BODY.match(parts[words] if len(parts) > words else b""))


def _headless(data: bytes, start: int, end: int, floor: int) -> Span:
    """The END line and the lines of the body before it, as far back as they look like one."""
    line_start = data.rfind(b"\n", 0, start) + 1
    before = _INLINE_BEFORE.search(data, max(floor, line_start, start - _LONGEST), start)
    if before and before.end() - before.start() >= 16:
        return before.start(), end
    first, words = start, _words_before(data, line_start, start)
    while line_start > floor:
        previous = max(data.rfind(b"\n", 0, line_start - 1) + 1, floor)
        text = data[previous : line_start - 1]
        if not text.strip() or not _is_body(text, words):
            break
        first, line_start = previous, previous
    return first, end


def _line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end
