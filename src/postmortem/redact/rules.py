"""What is secret, as data: tokens that show by their own shape, and keys whose value is secret."""
# ruff: noqa: E501 (one rule or one real line in one line)

from __future__ import annotations

import re
from dataclasses import dataclass

from postmortem.lazy import lazy


@dataclass(frozen=True, slots=True)
class Shape:
    """A token that its issuer made recognisable."""

    name: str  # in the stand-in and in the receipt
    pattern: bytes


SHAPES = (
    Shape("hf-token", rb"hf_[A-Za-z0-9]{16,}"),
    Shape("hf-token", rb"api_org_[A-Za-z0-9]{20,}"),
    Shape("github-token", rb"gh[pousr]_[A-Za-z0-9]{16,}"),
    Shape("github-token", rb"github_pat_[A-Za-z0-9_]{16,}"),
    Shape("gitlab-token", rb"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent)-[A-Za-z0-9_-]{16,}"),
    Shape("anthropic-key", rb"sk-ant-[A-Za-z0-9_-]{12,}"),
    Shape("openai-key", rb"sk-(?=[A-Za-z0-9_-]*[0-9])(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9_-]{18,}"),
    Shape("stripe-key", rb"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    Shape("aws-key-id", rb"A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Shape("slack-token", rb"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    Shape("slack-token", rb"xapp-[A-Za-z0-9-]{16,}"),
    Shape("google-key", rb"AIza[A-Za-z0-9_-]{30,}"),
    Shape("google-token", rb"ya29\.[A-Za-z0-9_-]{16,}"),
    Shape("npm-token", rb"npm_[A-Za-z0-9]{30,}"),
    Shape("pypi-token", rb"pypi-[A-Za-z0-9_-]{40,}"),
    Shape("docker-token", rb"dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}"),
    Shape("replicate-token", rb"r8_[A-Za-z0-9]{30,}"),
    Shape("groq-key", rb"gsk_[A-Za-z0-9]{20,}"),
    Shape("nvidia-key", rb"nvapi-[A-Za-z0-9_-]{16,}"),
    Shape("runpod-key", rb"rpa_[A-Za-z0-9]{20,}"),
    Shape("wandb-key", rb"wandb_v\d_[A-Za-z0-9_]{16,}"),
    Shape("vault-token", rb"hv[bsr]\.[A-Za-z0-9_-]{16,}"),
    Shape("digitalocean-token", rb"do[opr]_v1_[0-9a-f]{32,}"),
    Shape("age-key", rb"AGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    Shape("telegram-token", rb"(?:bot)?\d{8,10}:AA[A-Za-z0-9_-]{30,}"),
)
_JWT = rb"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"

# All have an unbroken run of this length, which begins at most so far behind the token's start: a cheap first look.
SHORTEST_RUN = 15
RUN_STARTS_BY = 14
# Case matters in all of these; the lookbehind keeps words such as `task-…` out.
ANY_SHAPE = lazy(rb"(?<![A-Za-z0-9])(?:" + b"|".join(s.pattern for s in SHAPES) + rb")")
_NAMED = tuple((s.name, lazy(s.pattern)) for s in (*SHAPES, Shape("jwt", _JWT)))


def shape_of(secret: bytes) -> str | None:
    """The issuer's name for a token that is one of the shapes as a whole, else None."""
    return next((name for name, pattern in _NAMED if pattern.fullmatch(secret)), None)


@dataclass(frozen=True, slots=True)
class Context:
    """A secret that its surroundings give away: `pattern` is tried only where `gate` (lower case) occurs."""

    name: str
    gate: bytes
    pattern: re.Pattern[bytes]  # group 1 is the secret
    back: int = 0  # how many bytes before the gate the pattern starts
    label: str = "secret"


_REST = rb"[^\r\n\x00\"']"
CONTEXTS = (
    Context(
        "authorization",
        b"auth",
        lazy(
            rb"(?i)authorization\\*[\"']?\s{0,4}[:=]\s{0,4}\\*[\"']?(?:"
            rb"(?:basic|bearer|token|apikey|negotiate|ntlm)[ \t]+([^\s\"'\x00\\,]+)"
            rb"|((?:digest|aws4|oauth|hmac)" + _REST + rb"+)|([^\s\"'\x00\\]+))"
            rb"|\"auth\\*\"\s*:\s*\\*\"([A-Za-z0-9+/]{8,}={0,2})\\*\""
        ),
        1,
    ),
    Context("jwt", b"eyj", lazy(rb"(?<![A-Za-z0-9_-])(" + _JWT + rb")")),
    Context("bearer", b"bearer", lazy(rb"(?i)\bbearer[ \t:=]+(?=[\w.~+/-]*\d)([\w.~+/-]{8,}=*)")),
    Context(
        "url-userinfo",
        b"://",
        lazy(
            rb"://(?:[^\s/:@\"'<>\\]{0,128}:(?!\d{1,5}[/?#])((?:(?!://)[^\s\"'<>\\\x00]){1,512})@(?=[^\s@])"
            rb"|(?=[\w.~-]*\d)([\w.~-]{20,256})@(?=[\w\[]))"
        ),
    ),
    Context(
        "cookie",
        b"cookie",
        lazy(rb"(?i)\bcookie2?\\*[\"']?\s?[:=]\s{0,4}\\*[\"']?([\w.%-]+=" + _REST + rb"+)"),
        label="cookie",
    ),
    Context("ssh-key", b" aaaa", lazy(rb" (AAAA[A-Za-z0-9+/]{60,}={0,3})"), label="ssh-key"),
    Context("signed-url", b"sig", lazy(rb"(?i)[?&;-]sig(?:nature)?=([^&\s\"'\x00\\]{8,})"), 1),
    Context("signed-url", b"x-amz-cred", lazy(rb"(?i)x-amz-credential=([^&\s\"'\x00\\]{8,})")),
    Context(
        "curl-user",
        b"curl",
        lazy(rb"curl\b[^\n]{0,500}?[\s\x00](?:-u|--user|--proxy-user)[\s\x00=]*[\"']?[^\s:\"'\x00]+:([^\s\"'\x00]+)"),
    ),
    Context("sshpass", b"sshpass", lazy(rb"sshpass[\s\x00]+-p[\s\x00]*[\"']?([^\s\"'\x00]+)")),
    Context("netrc", b"login ", lazy(rb"login[ \t]+\S+\s+password[ \t]+(\S+)")),
    Context(
        "wandb-key",
        b"wandb",
        lazy(rb"(?i)wandb[^\n]{0,60}?(?<![0-9A-Za-z])([0-9a-f]{40})(?![0-9A-Za-z])"),
        label="wandb-key",
    ),
    Context("webhook", b"hooks.slack.com", lazy(rb"(?i)hooks\.slack\.com/(?:services|workflows)/([\w/]{10,})")),
)

# A key is secret when it contains one of these, in any case; `key` must stand behind a KEY_OWNER. The value says what
# must follow: `pass` alone is also in words such as `bypass` and `passed`.
WORDS = {
    b"pass": rb"(?:wor?d|phrase|wd|(?=[\"'=:\x00]|[ \t]*=))",
    b"pwd": rb"",
    b"secret": rb"(?!ary)",
    b"token": rb"(?!iz|i[sz]ation|s?[\"']?[:=][ ]?\d{1,5}[\s,}\]])",
    b"credential": rb"",
    b"pavail": rb"",
    b"mnemonic": rb"",
    b"key": rb"",
}
KEY_OWNER = lazy(
    rb"(?:api|access|private|auth|sign(?:ing)?|encrypt(?:ion)?|account|master|licen[sc]e|wallet|session|ssh|service|deploy|admin)[_. -]?$"
)

# Before a bare `pass`: `db_pass`, `dbpass`, but not `sshpass` or `compass`.
PASS_HEAD = lazy(rb"(?:^|[_.-]|db|user|my|root|admin|ssl|smtp|mysql|pg|redis|rpc|http|proxy|login)$")
# Keys that contain such a word and hold no secret: names, places, counts and times.
HARMLESS_TAIL = lazy(
    rb"(?:[_.-]?(?:files?|filename|path|paths|dir|directory|name|names|type|count|counts|len|length|ttl|expir(?:y|es|ed|ation)(?:[_.-]\w+)?|endpoint|url|uri|env"
    rb"|enabled|required|policy|timeout|age|size|limit|rate|field|format|status|version|ref|keyref|budget|usage|throughput|latency|index|idx|pos|position"
    rb"|mount|mounts|provider|helper|manager|source|bucket|per[_.-]?s(?:ec(?:ond)?)?)|[.](?:service|socket|target|path|timer|mount|slice|scope|py|sh|go|rs|js|c|cpp|h))$"
)
HARMLESS_TOKEN_TAIL = lazy(
    rb"^s?[_.-]?(?:ids?|type_ids|map|list|set|stream|bucket|group|classification|length|mask|embedding)s?$"
)
HARMLESS_TOKEN_HEAD = lazy(
    rb"(?:^|[_.-])(?:eos|bos|pad|unk|sep|cls|mask|stop|special|image|video|audio|begin|end|next|last|first|chat|think|tool|decoder_start|num|max|min"
    rb"|total|prompt|completion|generated|input|output|cached|reasoning|draft|accepted|per|each|by|to|of|non|multi)[_.-]?$"
)
# Values that say nothing: empty words, masks, references that the shell or a template fills in, and plain code.
HARMLESS_VALUE = lazy(
    rb"(?i)(?:none|null|nil|true|false|yes|no|on|off|set|unset|empty|n/a|undefined|required|optional|string|str|bytes|redacted|masked|hidden|\*+|x{3,}|\.{3,}|-+|<[a-z_ -]*>"
    rb"|\[?redacted\]?|\[?(?:filtered|masked)\]?|\$\{?[a-z_][a-z0-9_]*\}?|\$[0-9@*#]|\$\{[a-z_0-9]+:[-?+]\}?|%[sdrv]|%\([a-z_]+\)s|\{[a-z_.0-9]*\}|\{\{[^}]*\}\}?"
    rb"|(?:self|os|cls|args|config|settings|cfg|process|env|ctx|opts|options|params)\.[a-z_][\w.]*(?:[(\[].*)?|(?:getpass|input|getenv)\(.*"
    rb"|\$\(.*|`.*)"
)
SECRET_FILES = lazy(
    rb"(?:^|/)(?:run/secrets/.+|\.?vast_api_key|vastai/api_key|huggingface/(?:stored_)?tokens?|\.git-credentials|\.pgpass|serviceaccount/token)$"
)
