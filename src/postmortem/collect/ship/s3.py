"""S3 and what speaks like it, by obstore; credentials and endpoint as its own documents say, from the environment."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

from postmortem.collect.ship.targets import Bundle


def send(bundle: Bundle, target: str, seconds: float) -> str:
    """Puts the bundle at s3://BUCKET/KEY, with its own name when KEY is a folder. Raises OSError, or Refused."""
    from postmortem.collect.ship import Refused

    try:
        import obstore
        from obstore.store import S3Store
    except ImportError as error:
        raise Refused("s3 needs obstore: pip install 'postmortem[s3]'") from error
    bucket, _, key = target.removeprefix("s3://").partition("/")
    key = key + bundle.name if not key or key.endswith("/") else key
    options: Any = {"timeout": timedelta(seconds=seconds)}
    if os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT", "")).startswith("http://"):
        options["allow_http"] = True
    try:
        store = S3Store(bucket, client_options=options, retry_config={"max_retries": 0})
        obstore.put(store, key, bundle.bytes(), use_multipart=False)
    except PermissionError as error:
        raise Refused(str(error).splitlines()[0][:200]) from error
    except Exception as error:  # obstore has its own tree
        raise OSError(str(error).splitlines()[0][:200]) from error
    return f"{len(bundle.bytes())} bytes as {key}"
