"""Our stderr, and that of all we start, without the secrets that the user gave."""

import os
import select
import sys
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Final

from toolvet.core.redact import SecretMask

_STDERR: Final = 2
_CHUNK: Final = 64 * 1024
# A line that does not end is passed on as far as it came.
_LINE_SECONDS: Final = 0.1
# What a server that has ended wrote last is there at once; a process that outlives it may hold its stderr for long.
_DRAIN_SECONDS: Final = 0.5
_SHORTEST_LINE: Final = 8


@contextmanager
def masked_stderr(secrets: Iterable[str]) -> Generator[None]:
    """While the block lasts, replace these secrets in all that this process and its children write to stderr.

    Without secrets stderr stays what it is, a terminal for one.
    """
    # A private key is one value of many lines, and stderr is masked line by line.
    parts = [line for secret in secrets for line in (secret, *secret.splitlines()) if len(line) >= _SHORTEST_LINE]
    short = [secret for secret in secrets if len(secret) < _SHORTEST_LINE]
    mask = SecretMask((*parts, *short))
    try:
        original = os.dup(_STDERR) if mask else -1
    except OSError:
        original = -1
    if original < 0:
        yield
        return
    read, write = os.pipe()
    sys.stderr.flush()
    os.dup2(write, _STDERR)
    os.close(write)
    thread = threading.Thread(target=_pass_on, args=(read, original, mask), name="toolvet-stderr", daemon=True)
    thread.start()
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os.dup2(original, _STDERR)
        thread.join(_DRAIN_SECONDS)


def _pass_on(read: int, original: int, mask: SecretMask) -> None:
    """Copy lines without secrets until all who write have closed their end; what cannot be written is dropped."""
    begun = b""
    while True:
        ready, _, _ = select.select([read], [], [], _LINE_SECONDS if begun else None)
        data = os.read(read, _CHUNK) if ready else b""
        whole, newline, rest = (begun + data).rpartition(b"\n")
        if not data or len(rest) > _CHUNK:
            whole, newline, rest = begun + data, b"", b""
        begun = rest
        if whole or newline:
            _write(original, _masked(whole, mask) + newline)
        if ready and not data:
            os.close(read)
            return


def _masked(data: bytes, mask: SecretMask) -> bytes:
    """Return `data` without the secrets; all its other bytes stay, also those that are not UTF-8."""
    return mask.known(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _write(original: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(original, view) :]
        except BlockingIOError:
            select.select([], [original], [])
        except OSError:
            # Its reader is gone. The server must not hang on a full pipe for it.
            return
