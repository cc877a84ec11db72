"""Object storage by obstore (the extra `[s3]`): list a prefix, fetch an object."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from postmortem.errors import PostmortemError
from postmortem.triage.job import Item

SCHEMES = ("s3://", "gs://", "az://")


def store_of(url: str) -> Any:
    """The store of the bucket in a URL, with what the environment says of endpoint, region and credentials."""
    return _store(*split(url)[:2])


def split(url: str) -> tuple[str, str, str]:
    """scheme, bucket, key."""
    scheme, _, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    return scheme, bucket, key


@lru_cache(maxsize=16)
def _store(scheme: str, bucket: str) -> Any:
    try:
        from obstore.store import from_url
    except ImportError:
        raise PostmortemError("reading object storage needs obstore: pip install 'postmortem[s3]'") from None
    return from_url(f"{scheme}://{bucket}")


def listed(url: str, newer_than: Any = None) -> Iterator[Item]:
    """The objects below a prefix in the order of their keys, each with its ETag; a thousand for each request."""
    import obstore
    from obstore.exceptions import BaseError

    store, (scheme, bucket, prefix) = store_of(url), split(url)
    prefix = prefix.strip("/")
    try:
        for chunk in obstore.list(store, prefix=prefix or None):
            for one in chunk:
                path = one["path"]
                if newer_than is not None and one["last_modified"] < newer_than:
                    continue
                name = path.removeprefix(prefix).lstrip("/") or path.rsplit("/", 1)[-1]
                yield Item(name, f"{scheme}://{bucket}/{path}", f"{one['e_tag'] or ''}:{one['size']}")
    except (BaseError, OSError) as error:
        raise PostmortemError(f"cannot list {url}: {first_line(error)}") from error


def fetch(url: str, to: Path) -> None:
    """The object's bytes into a file, block by block. Raises PostmortemError."""
    import obstore
    from obstore.exceptions import BaseError

    try:
        got = obstore.get(store_of(url), split(url)[2])
        with open(to, "wb") as file:
            for block in got.stream():
                file.write(block)
    except (BaseError, OSError) as error:
        raise PostmortemError(f"{type(error).__name__}: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:300]
