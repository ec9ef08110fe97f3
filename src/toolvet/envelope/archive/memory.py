"""Content that a response left out, kept under its own hash, so that it can be asked for later and verified."""

import hashlib
import json
import re
import threading
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

import orjson

from toolvet.envelope.json_copy import plain, written
from toolvet.errors import ArchiveError, ContentDamagedError, ContentMissingError, EnvelopeError, EnvelopeTypeError

PREFIX = "sha256:"
_WHOLE = re.compile(r"sha256:[0-9a-f]{64}").fullmatch


class Eviction(NamedTuple):
    """What an archive let go of, and why: it was too old, or the archive was full."""

    content_hash: str
    size: int
    reason: Literal["expired", "full"]


class Archive(Protocol):
    """What `fit_response` and the retrieval tool need: `ContentArchive`, `toolvet.store.SQLiteArchive`, or your own."""

    @property
    def name(self) -> str:
        """What `meta.content_archive_hashes` calls it."""
        ...

    def put(self, content: object) -> str:
        """Keep it; the SHA-256 of its JSON. Raises ArchiveError when it cannot be kept."""
        ...

    def get(self, content_hash: str) -> Any:
        """What has that hash. Raises ContentMissingError, ContentDamagedError."""
        ...


class ContentArchive:
    """Content by its SHA-256, in memory; safe for several threads. `toolvet.store.SQLiteArchive` is the one on disk.

    With `ttl` (seconds) content is forgotten when it is that old by `clock`, which then must be given
    (`time.monotonic`); putting it again makes it young. Beyond `max_bytes` the oldest goes first, None for no limit.
    `on_evict` is told each time what went. Raises EnvelopeError, naming the argument, for limits that cannot be meant.
    """

    def __init__(
        self,
        *,
        name: str = "archive",
        max_bytes: int | None = 64 * 1024 * 1024,
        ttl: float | None = None,
        clock: Callable[[], float] | None = None,
        on_evict: Callable[[Eviction], object] | None = None,
    ) -> None:
        check_limits(name, max_bytes, ttl)
        if ttl is not None and clock is None:
            raise EnvelopeError("clock", "is missing: ttl needs one, such as time.monotonic")
        self.name = name
        self._max_bytes = max_bytes
        self._ttl = ttl
        self._clock = clock or (lambda: 0.0)
        self._on_evict = on_evict
        self._lock = threading.Lock()
        # The oldest first: putting something again moves it to the end.
        self._kept: dict[str, tuple[bytes, float]] = {}
        self._size = 0

    def put(self, content: object) -> str:
        """Keep JSON content; its hash, `sha256:` and 64 digits. The same content in the same order has the same hash.

        Raises EnvelopeError for what JSON cannot hold, ArchiveError for what is larger than the whole archive.
        """
        encoded = encoded_content(content)
        content_hash = hash_of(encoded)
        if self._max_bytes is not None and len(encoded) > self._max_bytes:
            raise too_large(len(encoded), self._max_bytes)
        with self._lock:
            now = self._clock()
            gone = self._expired(now)
            known = self._kept.pop(content_hash, None)
            self._size += len(encoded) - (0 if known is None else len(known[0]))
            self._kept[content_hash] = (encoded, now)
            while self._max_bytes is not None and self._size > self._max_bytes:
                gone.append(self._dropped(next(iter(self._kept)), "full"))
        self._tell(gone)
        return content_hash

    def get(self, content_hash: str) -> Any:
        """The content, a copy of its own, after its hash was verified.

        Raises ContentMissingError for what was never there or has gone, ContentDamagedError for what is not what it
        was, EnvelopeError for what is no hash.
        """
        wanted = named_hash(content_hash)
        with self._lock:
            gone = self._expired(self._clock())
            found = self._kept.get(wanted)
        self._tell(gone)
        if found is None:
            raise ContentMissingError(wanted)
        return verified(found[0], wanted)

    def sweep(self) -> tuple[Eviction, ...]:
        """Let go of what is too old, and say what that was; happens by itself with each `put` and `get`."""
        with self._lock:
            gone = self._expired(self._clock())
        self._tell(gone)
        return tuple(gone)

    def verify(self) -> tuple[str, ...]:
        """The hashes whose content is no longer what it was; none, unless memory was tampered with."""
        with self._lock:
            kept = dict(self._kept)
        return tuple(content_hash for content_hash, (encoded, _) in kept.items() if hash_of(encoded) != content_hash)

    @property
    def size(self) -> int:
        """The bytes that it holds."""
        return self._size

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, content_hash: object) -> bool:
        with self._lock:
            found = self._kept.get(content_hash) if isinstance(content_hash, str) else None
            return found is not None and not self._is_old(found[1], self._clock())

    def _is_old(self, since: float, now: float) -> bool:
        return self._ttl is not None and now - since >= self._ttl

    def _expired(self, now: float) -> list[Eviction]:
        old: list[str] = []
        for content_hash, (_, since) in self._kept.items():
            if not self._is_old(since, now):
                break
            old.append(content_hash)
        return [self._dropped(content_hash, "expired") for content_hash in old]

    def _dropped(self, content_hash: str, reason: Literal["expired", "full"]) -> Eviction:
        encoded, _ = self._kept.pop(content_hash)
        self._size -= len(encoded)
        return Eviction(content_hash, len(encoded), reason)

    def _tell(self, gone: list[Eviction]) -> None:
        if self._on_evict is not None:
            for eviction in gone:
                self._on_evict(eviction)


def encoded_content(content: object) -> bytes:
    """JSON content as the bytes that are kept and hashed. Members keep their order: items are listed in it."""
    return written(plain(content, "content"))


def hash_of(encoded: bytes) -> str:
    """`sha256:` and 64 digits."""
    return PREFIX + hashlib.sha256(encoded).hexdigest()


def named_hash(value: object) -> str:
    """`value` as a hash; EnvelopeError for anything else."""
    if not isinstance(value, str):
        raise EnvelopeTypeError("content_hash", f"must be a string, not {type(value).__name__}")
    if _WHOLE(value) is None:
        raise EnvelopeError("content_hash", f"must be sha256: and 64 hexadecimal digits, not {value!r:.90}")
    return value


def verified(encoded: bytes, content_hash: str) -> Any:
    """The content, if it still is what was hashed."""
    if hash_of(encoded) != content_hash:
        raise ContentDamagedError(content_hash)
    content: object = orjson.loads(encoded)
    # It reads whole numbers beyond 64 bits as floats.
    return content if written(content) == encoded else json.loads(encoded)


def too_large(size: int, limit: int) -> ArchiveError:
    """What is raised for content that no eviction makes room for."""
    return ArchiveError(f"the content has {size:,} bytes, and the whole archive may hold {limit:,}: raise max_bytes")


def check_limits(name: object, max_bytes: object, ttl: object) -> None:
    """Raises EnvelopeError for options that cannot be meant."""
    if not isinstance(name, str) or not name.strip():
        raise EnvelopeError("name", "must be a string with something in it")
    if max_bytes is not None and (isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1):
        raise EnvelopeError("max_bytes", f"must be a positive number of bytes or None, not {max_bytes!r:.40}")
    if ttl is not None and (isinstance(ttl, bool) or not isinstance(ttl, int | float) or not ttl > 0):
        raise EnvelopeError("ttl", f"must be a positive number of seconds or None, not {ttl!r:.40}")
