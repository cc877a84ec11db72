"""The places a sink may write to: a file under its working name, standard output, an encrypted file."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
import threading
from typing import Any

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class FilePlace:
    """FILE.partial (mode 0600), renamed at the end; a file that appeared meanwhile is somebody else's and stays."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.partial = ""
        self._fd = -1
        self._was_there = False
        self._end = 0

    def write(self, data: bytes) -> None:
        """The first write, which may be empty, makes the file."""
        if self._fd < 0:
            self._was_there = os.path.lexists(self.path)
            if _is_special(self.path):  # the name would be taken from a device, such as /dev/null
                raise OSError(errno.EEXIST, "it is there, and no regular file")
            self._fd, self.partial = _open(self.path)
        try:
            _write_all(self._fd, data)
        except OSError:
            self.back_to(self._end)
            raise
        self._end += len(data)

    def back_to(self, offset: int) -> None:
        os.ftruncate(self._fd, offset)
        os.lseek(self._fd, offset, os.SEEK_SET)
        self._end = offset

    def publish(self) -> str:
        """Gives the file its name, or one like it when somebody else took that one since the first write."""
        if self._was_there:
            return self._take(self.path)
        stem, dot, ends = os.path.basename(self.path).partition(".")
        for n in range(1, 100):
            name = self.path if n == 1 else os.path.join(os.path.dirname(self.path), f"{stem}-{n}{dot}{ends}")
            try:
                os.link(self.partial, name)
            except FileExistsError:
                continue
            except OSError:  # a file system without links
                return self._take(name)
            os.unlink(self.partial)
            return name
        return self.partial

    def _take(self, name: str) -> str:
        try:
            os.replace(self.partial, name)
        except OSError:
            return self.partial  # as good, under its working name
        return name

    def discard(self) -> None:
        os.unlink(self.partial)

    def end(self) -> None:
        """Drops the pages from the cache, which a memory cgroup counts; may take as long as the disk does."""
        with contextlib.suppress(OSError):
            os.fdatasync(self._fd)
            os.posix_fadvise(self._fd, 0, 0, os.POSIX_FADV_DONTNEED)


class StdoutPlace:
    """Standard output, which cannot be taken back."""

    def write(self, data: bytes) -> None:
        _write_all(1, data)

    def back_to(self, offset: int) -> None:
        raise OSError(errno.ESPIPE, "standard output cannot be taken back")

    def publish(self) -> str:
        return "-"

    def discard(self) -> None: ...

    def end(self) -> None: ...


class AgePlace:
    """FILE.age, encrypted to public keys as the bytes come, so that no plain byte is written; needs pyrage."""

    def __init__(self, path: str, recipients: tuple[str, ...]) -> None:
        self._file = FilePlace(path)
        self._recipients = recipients
        self._pipe = -1
        self._worker: threading.Thread | None = None
        self._wrong: list[str] = []

    def write(self, data: bytes) -> None:
        if self._pipe < 0:
            self._file.write(b"")
            read, self._pipe = os.pipe()
            self._worker = threading.Thread(target=self._encrypt, args=(read,), daemon=True)
            self._worker.start()
        if self._wrong:
            raise OSError(errno.EIO, self._wrong[0])
        _write_all(self._pipe, data)

    def back_to(self, offset: int) -> None:
        raise OSError(errno.ESPIPE, self._wrong[0] if self._wrong else "a cipher's stream cannot be taken back")

    def publish(self) -> str:
        self.end()
        if self._wrong:
            raise OSError(errno.EIO, self._wrong[0])
        return self._file.publish()

    def discard(self) -> None:
        self._file.discard()

    def end(self) -> None:
        """What came so far can be decrypted, even when nobody publishes it."""
        if self._worker is not None:
            os.close(self._pipe)
            self._worker.join()
            self._worker = None
            self._file.end()

    def _encrypt(self, pipe: int) -> None:
        import pyrage

        keys = [recipient(text) for text in self._recipients]
        try:
            with os.fdopen(pipe, "rb") as reader:
                pyrage.encrypt_io(reader, _Writer(self._file), keys)
        except Exception as error:  # one output that fails must not cost the others
            self._wrong.append(getattr(error, "strerror", None) or str(error))


class _Writer:
    """What pyrage needs of a file."""

    def __init__(self, place: FilePlace) -> None:
        self._place = place

    def write(self, data: bytes) -> int:
        self._place.write(bytes(data))
        return len(data)

    def flush(self) -> None: ...


def recipient(text: str) -> Any:
    """A public key such as `age1…` or `ssh-ed25519 AAAA…`. Raises ValueError where it is none."""
    import pyrage

    try:
        if text.startswith("age1"):
            return pyrage.x25519.Recipient.from_str(text)
        return pyrage.ssh.Recipient.from_str(text)
    except pyrage.RecipientError as error:
        raise ValueError(str(error)) from error


def other_places(path: str) -> list[str]:
    """Where the bundle goes when its own place fails: $POSTMORTEM_OUT, here, then the usual scratch folders."""
    name = os.path.basename(path)
    folders = (os.environ.get("POSTMORTEM_OUT", ""), ".", tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm")
    found = [os.path.join(folder, name) for folder in folders if folder]
    return list(dict.fromkeys(place for place in found if place != path))


def _is_special(path: str) -> bool:
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _open(path: str) -> tuple[int, str]:
    """A new FILE.partial; one that a killed collection left is evidence and stays."""
    for n in range(100):
        partial = f"{path}{f'.{n}' if n else ''}.partial"
        try:
            return os.open(partial, _FLAGS, 0o600), partial
        except FileExistsError:
            continue
    raise OSError(errno.EEXIST, f"a hundred {path}.*.partial are there already")
