"""A bundle that was made with its secrets -> the same without them."""

from __future__ import annotations

import hashlib
import json
import tarfile
import time
from typing import Any

from postmortem.collect.archive import Archive
from postmortem.collect.options import CollectResult
from postmortem.collect.run import one_sink
from postmortem.errors import CollectError
from postmortem.redact import Redactor

_LIMIT = 1 << 40
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh", b"PK\x03\x04", b"7z\xbc\xaf")


class _Rewriter:
    """Redacts member by member; a member that cannot be redacted is left out and told."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.rows: dict[str, dict[str, Any]] = {}
        self.receipts: dict[str, dict[str, int]] = {}
        self.withheld: dict[str, str] = {}
        self.manifest: dict[str, Any] | None = None
        self._redactor = Redactor()

    def take(self, name: str, data: bytes, mtime: int) -> None:
        if name == "manifest.json":
            self.manifest = json.loads(data)
            return
        if name == "END":
            return
        if name == "START":
            data = data.replace(b"\nredacted: no\n", b"\nredacted: yes\n", 1)
        if data.startswith(_PACKED):
            self.withheld[name] = "compressed: secrets in it cannot be seen"
            return
        try:
            clean, receipt = self._redactor.data(data, name)
            new = self._redactor.text(name)
        except Exception as error:  # fail closed
            self.withheld[name] = f"the redactor could not finish: {type(error).__name__}"
            return
        self.archive.add(new, clean, mtime)
        self.rows[name] = {"name": new, "bytes": len(clean), "sha256": hashlib.sha256(clean).hexdigest()}
        if receipt:
            self.receipts[new] = receipt

    def last(self, names: tuple[str, ...], full: str) -> list[tuple[str, bytes, int]]:
        assert self.manifest is not None
        probes = [self._probe(probe) for probe in self.manifest.get("probes", [])]
        told = self._clean({k: v for k, v in self.manifest.items() if k not in ("probes", "members", "receipts")})
        told |= {"redacted": True, "receipts": self.receipts, "members": list(self.rows.values()), "probes": probes}
        data = (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        end = (
            f"complete: {'yes' if told.get('complete') else 'no'}\nreason: {told.get('reason', '')}\n"
            f"members: {len(names) + 2}\nmanifest_sha256: {hashlib.sha256(data).hexdigest()}\n"
        )
        now = int(time.time())
        return [("manifest.json", data, now), ("END", end.encode("utf-8", "replace"), now)]

    def _probe(self, probe: dict[str, Any]) -> dict[str, Any]:
        member = str(probe.get("member", ""))
        row = self.rows.get(member)
        told: dict[str, Any] = self._clean(probe)
        if member in self.withheld:
            return told | {"state": "withheld", "reason": self.withheld[member], "member": "", "bytes": 0, "sha256": ""}
        return told | ({"member": row["name"], "bytes": row["bytes"], "sha256": row["sha256"]} if row else {})

    def _clean(self, value: Any) -> Any:
        """The same JSON with every text redacted."""
        if isinstance(value, str):
            return self._redactor.text(value)
        if isinstance(value, list):
            return [self._clean(one) for one in value]
        if isinstance(value, dict):
            return {key: self._clean(one) for key, one in value.items()}
        return value


def redact_bundle(path: str, out: str) -> CollectResult:
    """Writes the redacted bundle to `out`. Raises CollectError where the other one is cut or has no manifest."""
    with one_sink(out) as sink:
        rewriter = _Rewriter(Archive([sink], _LIMIT))
        try:
            with tarfile.open(path, "r|gz") as tar:
                for info in tar:
                    file = tar.extractfile(info)
                    if file is not None:
                        rewriter.take(info.name, file.read(), int(info.mtime))
        except (OSError, tarfile.TarError, EOFError, ValueError) as error:
            sink.discard()
            raise CollectError(
                f"cannot read {path}: {error}; a cut bundle or a capture is redacted by `seal`"
            ) from error
        if rewriter.manifest is None:
            sink.discard()
            raise CollectError(f"{path} has no manifest; a cut bundle or a capture is redacted by `seal`")
        rewriter.archive.close(rewriter.last)
        hidden = sum(sum(receipt.values()) for receipt in rewriter.receipts.values())
        done = sink.path or ("-" if rewriter.archive.whole_in(sink) else "")
        words = f"{done}: {len(rewriter.rows) + 2} members, {hidden} secrets hidden, {len(rewriter.withheld)} withheld"
        return CollectResult(0 if done else 1, done or None, words if done else sink.full, bool(done))
