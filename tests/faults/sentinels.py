"""Thirty kinds of secrets, made up and put together here, so that no scanner takes this file for a leak."""

from __future__ import annotations

import base64
import re
from urllib.parse import quote

_A = "Q7x2mVb9Kt4LrW8nZc3Yp6Hd5Gs1Jf0aEuToIiRwNk"  # letters and digits of no meaning
_HEX = "9f3a61c0e7b2d4850a6c1f7e3b9d2c4a8e5f7061"


def _part(start: int, size: int) -> str:
    return (_A * 3)[start : start + size]


# kind -> (the secret, a line that holds it)
SENTINELS: dict[str, tuple[str, str]] = {
    kind: (secret, line.replace("@", secret, 1) if "@@" not in line else line.replace("@@", secret))
    for kind, secret, line in (
        ("hugging face token", "hf_" + _part(0, 34), "huggingface: using token @"),
        ("github token", "ghp_" + _part(1, 36), "remote: pushing with @"),
        ("github fine-grained token", "github_pat_" + _part(2, 40), "git credential is @"),
        ("gitlab token", "glpat-" + _part(3, 20), "clone with @"),
        ("openai key", "sk-" + _part(4, 40), "client: key @ rejected"),
        ("anthropic key", "sk-ant-" + "api03-" + _part(5, 40), "x-api-key: @"),
        ("aws key id", "AKIA" + "Q7X2MVB9KT4LRW8N", "aws: credential @ expired"),
        ("aws secret key", _part(6, 40), "AWS_SECRET_ACCESS_KEY=@"),
        ("slack token", "xoxb-" + "123456789012-" + _part(7, 24), "slack says hello to @"),
        ("google api key", "AIza" + _part(8, 35), "maps key @"),
        ("stripe key", "sk_live_" + _part(9, 24), "charge with @"),
        ("npm token", "npm_" + _part(10, 36), "publishing with @"),
        ("pypi token", "pypi-" + _part(0, 60), "twine upload -p @"),
        ("docker token", "dckr_pat_" + _part(11, 27), "login succeeded with @"),
        ("nvidia key", "nvapi-" + _part(12, 50), "ngc: @"),
        ("replicate token", "r8_" + _part(13, 37), "replicate @"),
        ("vault token", "hvs." + _part(14, 40), "vault login @"),
        ("wandb key", _HEX, "wandb: logging in with @"),
        ("jwt", "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJwbSJ9aa." + _part(15, 43), "session @ started"),
        ("bearer", _part(16, 30) + "7", "Authorization: Bearer @"),
        ("basic", base64.b64encode(("user:" + _part(17, 20)).encode()).decode(), "Authorization: Basic @"),
        ("password in a url", "Pw" + _part(18, 14), "postgres://prover:@@host-is-here/db".replace("@@", "@@", 1)),
        ("password assignment", "Pw" + _part(19, 15), "DB_PASSWORD='@'"),
        ("password in json", "Pw" + _part(20, 15), '{"user": "x", "password": "@"}'),
        ("password in json in json", "Pw" + _part(21, 15), r'{"msg": "{\"password\": \"@\"}"}'),
        ("password in yaml in a log", "Pw" + _part(22, 15), "config: rootPassword: '@'"),
        ("password in a shell trace", "Pw" + _part(23, 15), "+ export PAVAIL_SECRET=@"),
        ("second pair of a line", "Pw" + _part(24, 15), "user=x token=@ retries=3"),
        ("cookie", _part(25, 32), "Cookie: session=@; theme=dark"),
        ("signed url", _part(26, 40), "GET https://bucket.s3.amazonaws.com/k?X-Amz-Signature=@&x=1"),
        ("curl user", "Pw" + _part(27, 15), "curl -u prover:@ https://api.example.com/v1"),
        ("telegram token", "123456789:AA" + _part(28, 33), "bot @ polls"),
    )
}
# "@" of a URL is not the place of its secret
SENTINELS["password in a url"] = (
    SENTINELS["password in a url"][0],
    f"postgres://prover:{SENTINELS['password in a url'][0]}@host-is-here/db",
)

PEM_BODY = [base64.b64encode((_part(n, 40) + _part(n + 3, 8)).encode()).decode() for n in range(12)]
PEM = ["-----BEGIN " + "RSA PRIVATE KEY-----", *PEM_BODY, "-----END " + "RSA PRIVATE KEY-----"]


def lines() -> str:
    """All of them, one a line."""
    return "".join(f"{line}\n" for _, line in SENTINELS.values())


def leaks(data: bytes) -> list[str]:
    """The kinds whose secret is in the bytes, plain, in percent form or in base64."""
    found = [kind for kind, (secret, _) in SENTINELS.items() if any(form in data for form in forms(secret))]
    return found + [f"line {n} of the private key" for n, body in enumerate(PEM_BODY) if body.encode() in data]


def forms(secret: str) -> set[bytes]:
    """The ways in which the secret could stand in bytes; base64 at each of its three alignments, without its edges."""
    raw = secret.encode()
    percent = {quote(secret, safe="").encode(), "".join(f"%{c:02X}" for c in raw).encode()}
    coded = {re.sub(rb"=+$", b"", base64.b64encode(b"\0" * shift + raw))[4 if shift else 0 : -4] for shift in range(3)}
    return {raw, raw.hex().encode(), *percent, *coded}
