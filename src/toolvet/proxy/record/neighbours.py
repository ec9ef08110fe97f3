"""The names of the tools of the user's other servers: each proxy keeps those of its own server for the others.

~/.cache/toolvet/proxy/DIGEST.json      the names of one server, readable by its user only
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from toolvet.core.private import OTHERS, OTHERS_MAY_WRITE, open_own, own_folder
from toolvet.proxy.record.recorder import StampedNote
from toolvet.proxy.session import SchemaLearned

_DAYS: Final = 7
_MOST_SERVERS: Final = 200
_MOST_NAMES: Final = 2_000
_MOST_BYTES: Final = 2**20


def names_of_neighbours(server: str) -> frozenset[str]:
    """Return the names of the tools of all other servers that a proxy of this user served within a week."""
    folder = _folder()
    found: set[str] = set()
    own, oldest = _file_of(server), time.time() - _DAYS * 86_400
    with suppress(OSError):
        for file in islice(folder.iterdir() if folder is not None else (), _MOST_SERVERS):
            with suppress(OSError, msgspec.DecodeError), os.fdopen(_open(file), "rb") as stream:
                if os.fstat(stream.fileno()).st_mtime < oldest:
                    file.unlink()
                elif file.suffix == ".json" and file.name != own:
                    found.update(msgspec.json.decode(stream.read(_MOST_BYTES), type=list[str]))
    return frozenset(found)


class NameKeeper:
    """An exporter that keeps the names of the tools of one server for the proxies of others."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._names: list[str] = []

    def prepare(self, note: StampedNote) -> SchemaLearned | None:
        """Return a note on a page of the tool list; None for all others."""
        return note.note if isinstance(note.note, SchemaLearned) else None

    def write(self, notes: Sequence[SchemaLearned]) -> None:
        """Write the file when the list is complete."""
        for note in notes:
            self._names += note.names[: _MOST_NAMES - len(self._names)]
            folder = _folder() if note.complete else None
            if folder is not None:
                target = folder / _file_of(self._server)
                part = target.with_suffix(f".{os.getpid()}")
                with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
                    stream.write(msgspec.json.encode(sorted({*self._names})))
                part.replace(target)
            if note.complete:
                self._names = []

    def close(self) -> None:
        """Nothing is left to write."""


def _folder() -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        folder = (Path(base) if base else Path.home() / ".cache") / "toolvet" / "proxy"
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if own_folder(str(folder), OTHERS) else None
    except (OSError, RuntimeError):
        return None


def _file_of(server: str) -> str:
    return f"{blake2b(server.encode('utf-8', 'replace'), digest_size=16).hexdigest()}.json"


def _open(file: Path) -> int:
    return open_own(str(file), os.O_RDONLY, OTHERS_MAY_WRITE)
