"""Secrets out of bytes and texts, with a receipt of what was hidden; what cannot be finished is not handed out."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from postmortem.errors import PostmortemError
from postmortem.lazy import lazy
from postmortem.redact.keyed import keyed
from postmortem.redact.pem import pem
from postmortem.redact.rules import ANY_SHAPE, CONTEXTS, RUN_STARTS_BY, SECRET_FILES, SHORTEST_RUN, Context, shape_of
from postmortem.redact.standin import DEFAULT_KEY, STANDIN, standin

__all__ = ["RedactionFailed", "Redactor"]

Hit = tuple[int, int, str, str]  # start, end, rule, label
MOST_KNOWN = 400
SHORTEST_KNOWN = 12
PARTS = lazy(rb"[._:/\s]+")
CLASSES = (lazy(rb"[a-z]"), lazy(rb"[A-Z]"), lazy(rb"[0-9]"))


class RedactionFailed(PostmortemError):
    """The text is too long or took too long; nothing of it may be kept."""


def tellable(part: bytes) -> bool:
    """Whether a piece of a secret is long and mixed enough to be nothing else wherever it stands."""
    mixed = sum(bool(c.search(part)) for c in CLASSES)
    fits = SHORTEST_KNOWN <= len(part) <= 512 and b"\n" not in part and b"[hidden:" not in part
    return fits and mixed >= (2 if len(part) >= 16 else 3)


class Redactor:
    """Hides secrets behind keyed stand-ins such as `[hidden:hf-token:3fa1c2]`: same secret and key, same stand-in.

    Without a key the stand-ins are the same in every run, so that reports are byte-identical for the same input.
    """

    def __init__(self, key: bytes | None = None, *, seconds: float = 30.0, max_bytes: int = 256 << 20) -> None:
        self._key = DEFAULT_KEY if key is None else key
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._known: dict[bytes, str] = {}

    def text(self, text: str) -> str:
        """The text without secrets. Raises RedactionFailed past the limits."""
        return self._plain(text.encode("utf-8", "surrogatepass"))[0].decode("utf-8", "surrogatepass")

    def data(self, data: bytes, name: str = "") -> tuple[bytes, dict[str, int]]:
        """The bytes without secrets, and how many each rule hid. Raises RedactionFailed past the limits.

        `name` is the member's path: some files, such as `/run/secrets/db`, are a secret as a whole.
        """
        wide = _wide_encoding(data)
        if not wide:
            return self._plain(data, name)
        even = len(data) & ~1
        text = data[:even].decode(wide, "surrogatepass")
        hidden, receipt = self._plain(text.encode("utf-8", "surrogatepass"), name)
        return hidden.decode("utf-8", "surrogatepass").encode(wide, "surrogatepass") + data[even:], receipt

    def _plain(self, data: bytes, name: str = "") -> tuple[bytes, dict[str, int]]:
        if len(data) > self._max_bytes:
            raise RedactionFailed(f"{len(data)} bytes are more than the limit of {self._max_bytes}")
        until = time.monotonic() + self._seconds
        hits = []
        for hit in (*_hits(data, data.lower(), name), *_seen_before(data, self._known)):
            hits.append(hit)
            if time.monotonic() > until:
                raise RedactionFailed(f"not finished within {self._seconds:g} s")
        return self._replace(data, _outermost(data, hits))

    def _replace(self, data: bytes, hits: list[Hit]) -> tuple[bytes, dict[str, int]]:
        out, done, receipt = [], 0, Counter[str]()
        for start, end, rule, label in hits:
            secret = data[start:end]
            shape = shape_of(secret)
            receipt[shape or rule] += 1
            self._remember(secret, shape or label)
            # Lines are evidence by number: a block leaves as many line ends as it had.
            out += [data[done:start], standin(self._key, shape or label, secret), b"\n" * secret.count(b"\n")]
            done = end
        return b"".join([*out, data[done:]]), dict(sorted(receipt.items()))

    def _remember(self, secret: bytes, label: str) -> None:
        """What was a secret in one place is one everywhere: a token of a log is hidden in a script, too."""
        if len(self._known) < MOST_KNOWN:
            self._known |= {part: label for part in (secret, *PARTS.split(secret)) if tellable(part)}


def _wide_encoding(data: bytes) -> str:
    """The UTF-16 form of the bytes, or "": judged by their mark, else by where the NULs of the first 4 KiB are."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16-le" if data[0] == 0xFF else "utf-16-be"
    head = data[:4096]
    if len(head) < 8 or head.count(0) * 5 < len(head) * 2:
        return ""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.8 * len(head) / 2 and even < 0.1 * len(head):
        return "utf-16-le"
    return "utf-16-be" if even > 0.8 * len(head) / 2 and odd < 0.1 * len(head) else ""


def _hits(data: bytes, low: bytes, name: str) -> Iterator[Hit]:
    if SECRET_FILES.search(name.encode("utf-8", "replace")):
        yield from _whole(data)
    for start, end in pem(data, low):
        yield start, end, "private-key", "private-key"
    for start, end in _shapes(data):
        yield start, end, "token-shape", "secret"
    for context in CONTEXTS:
        yield from _in_context(data, low, context)
    for start, end in keyed(data, low):
        yield start, end, "key-value", "secret"


_RUN = bytes(0x61 if (chr(c).isalnum() and c < 128) or c in b"_-" else 0x20 for c in range(256))


def _shapes(data: bytes) -> Iterator[tuple[int, int]]:
    """Tokens of known shape, looked for only around long unbroken runs of their characters."""
    runs = data.translate(_RUN)
    at, done = runs.find(b"a" * SHORTEST_RUN), 0
    while at >= 0:
        end = runs.find(b" ", at)
        end = len(data) if end < 0 else end
        for match in ANY_SHAPE.finditer(data, max(done, at - RUN_STARTS_BY), end):
            yield match.span()
        done = end
        at = runs.find(b"a" * SHORTEST_RUN, end)


def _seen_before(data: bytes, known: dict[bytes, str]) -> Iterator[Hit]:
    for secret, label in known.items():
        at = data.find(secret)
        while at >= 0:
            yield at, at + len(secret), "seen-before", label
            at = data.find(secret, at + len(secret))


def _whole(data: bytes) -> Iterator[Hit]:
    """Each line of a file that is a secret as a whole."""
    start = 0
    for line in data.splitlines(keepends=True):
        text = line.strip()
        if text:
            yield start + line.find(text), start + line.find(text) + len(text), "secret-file", "secret"
        start += len(line)


def _in_context(data: bytes, low: bytes, context: Context) -> Iterator[Hit]:
    at, done = low.find(context.gate), 0
    while at >= 0:
        for begin in range(max(done, at - context.back), at + 1):
            match = context.pattern.match(data, begin, begin + 4096)
            if match:
                start, done = match.span(match.lastindex or 0)
                yield start, done, context.name, context.label
                break
        at = low.find(context.gate, max(at + len(context.gate), done))


def _outermost(data: bytes, hits: list[Hit]) -> list[Hit]:
    """The hits without those inside another, overlapping ones joined, stand-ins of an earlier pass left alone."""
    hidden = [m.span() for m in STANDIN.finditer(data)] if hits else []
    begins = [start for start, _ in hidden]
    kept: list[Hit] = []
    for start, end, rule, label in sorted(hits, key=lambda h: (h[0], -h[1])):
        before, last = bisect_left(begins, start) - 1, bisect_left(begins, end) - 1
        if before >= 0 and start < hidden[before][1]:
            continue  # it begins inside a stand-in
        end = max(end, hidden[last][1]) if last >= 0 else end
        if not STANDIN.sub(b"", data[start:end]).strip():
            continue
        if kept and start < kept[-1][1]:
            kept[-1] = (kept[-1][0], max(kept[-1][1], end), *kept[-1][2:])
        else:
            kept.append((start, end, rule, label))
    return kept
