"""Archives: content that a response left out, kept under its own hash, so that a client can ask for and verify it."""

import hashlib
import json
import re
import threading
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, Protocol

import orjson

from toolvet.core.envelope.json_copy import copy_as_json, encode_json
from toolvet.errors import ArchiveError, ContentDamagedError, ContentMissingError, EnvelopeError, EnvelopeTypeError

PREFIX: Final = "sha256:"
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}").fullmatch


class Eviction(NamedTuple):
    """Content that an archive has deleted, because it was too old or the archive was full. `size` is in bytes."""

    content_hash: str
    size: int
    reason: Literal["expired", "full"]


class Archive(Protocol):
    """The interface that `fit_response` and the retrieval tool use.

    `ContentArchive` and `toolvet.store.SQLiteArchive` implement it, and so may a class of yours.
    """

    @property
    def name(self) -> str:
        """The key of this archive in `meta.content_archive_hashes`."""
        ...

    def put(self, content: object) -> str:
        """Keep `content`, and return the SHA-256 of its JSON. Raises ArchiveError when it cannot be kept."""
        ...

    def get(self, content_hash: str) -> Any:
        """The content with that hash. Raises ContentMissingError, ContentDamagedError."""
        ...


def encode_content(content: object) -> bytes:
    """JSON content as the bytes that are kept and hashed. Members keep their order, because items are listed in it."""
    return encode_json(copy_as_json(content, "content"))


def hash_of(encoded: bytes) -> str:
    """`sha256:` and 64 digits."""
    return PREFIX + hashlib.sha256(encoded).hexdigest()


def check_hash(value: object) -> str:
    """`value` if it is a hash; raises EnvelopeError for anything else."""
    if not isinstance(value, str):
        raise EnvelopeTypeError("content_hash", f"must be a string, not {type(value).__name__}")
    if _HASH(value) is None:
        raise EnvelopeError("content_hash", f"must be sha256: and 64 hexadecimal digits, not {value!r:.90}")
    return value


def decode_content(encoded: bytes, content_hash: str) -> Any:
    """The content, after its hash was verified. Raises ContentDamagedError for another hash."""
    if hash_of(encoded) != content_hash:
        raise ContentDamagedError(content_hash)
    # orjson reads whole numbers beyond 64 bits as floats, and refuses those that are beyond any float.
    try:
        content: object = orjson.loads(encoded)
        return content if encode_json(content) == encoded else json.loads(encoded)
    except orjson.JSONDecodeError:
        return json.loads(encoded)


def size_error(size: int, limit: int) -> ArchiveError:
    """The error for content that no eviction can make room for."""
    return ArchiveError(f"the content has {size:,} bytes, and the whole archive may hold {limit:,}: raise max_bytes")


def check_limits(name: object, max_bytes: object, ttl: object) -> None:
    """Raise EnvelopeError for options of an archive that make no sense."""
    if not isinstance(name, str) or not name.strip():
        raise EnvelopeError("name", "must be a string with something in it")
    if max_bytes is not None and (isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1):
        raise EnvelopeError("max_bytes", f"must be a positive number of bytes or None, not {max_bytes!r:.40}")
    if ttl is not None and (isinstance(ttl, bool) or not isinstance(ttl, int | float) or not ttl > 0):
        raise EnvelopeError("ttl", f"must be a positive number of seconds or None, not {ttl!r:.40}")


class ContentArchive:
    """Content by its SHA-256, in memory; safe for several threads. `toolvet.store.SQLiteArchive` keeps it on disk.

    Args:
        name: the key of this archive in `meta.content_archive_hashes`.
        max_bytes: beyond this size the oldest content is deleted; None for no limit.
        ttl: the age in seconds at which content is deleted; None keeps it. Putting content again renews it.
        clock: the seconds that `ttl` counts, such as `time.monotonic`; required with `ttl`.
        on_evict: called with an Eviction for everything that was deleted.

    Raises:
        EnvelopeError: for limits that make no sense; it names the argument.

    Example:
        >>> archive = ContentArchive()
        >>> content_hash = archive.put({"ships": ["Aurora"]})
        >>> content_hash[:15], archive.get(content_hash)
        ('sha256:e296b21b', {'ships': ['Aurora']})
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
        self._clock = clock or _no_clock
        self._on_evict = on_evict
        self._lock = threading.Lock()
        # The oldest first: putting something again moves it to the end.
        self._kept: dict[str, tuple[bytes, float]] = {}
        self._size = 0

    def __getstate__(self) -> dict[str, object]:
        with self._lock:
            return {**self.__dict__, "_kept": dict(self._kept), "_lock": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def put(self, content: object) -> str:
        """Keep JSON content, and return its hash: `sha256:` and 64 digits.

        The same content with its members in the same order has the same hash. Raises EnvelopeError for content that
        JSON cannot hold, ArchiveError for content that is larger than the whole archive may be.
        """
        encoded = encode_content(content)
        content_hash = hash_of(encoded)
        if self._max_bytes is not None and len(encoded) > self._max_bytes:
            raise size_error(len(encoded), self._max_bytes)
        with self._lock:
            now = self._clock()
            evictions = self._delete_expired(now)
            known = self._kept.pop(content_hash, None)
            self._size += len(encoded) - (0 if known is None else len(known[0]))
            self._kept[content_hash] = (encoded, now)
            while self._max_bytes is not None and self._size > self._max_bytes:
                evictions.append(self._delete(next(iter(self._kept)), "full"))
        self._report(evictions)
        return content_hash

    def get(self, content_hash: str) -> Any:
        """The content with that hash, as an independent copy, after its hash was verified.

        Raises ContentMissingError for content that is not there or no longer, ContentDamagedError for content that was
        changed, EnvelopeError for a `content_hash` that is not a hash.
        """
        wanted = check_hash(content_hash)
        with self._lock:
            evictions = self._delete_expired(self._clock())
            found = self._kept.get(wanted)
        self._report(evictions)
        if found is None:
            raise ContentMissingError(wanted)
        return decode_content(found[0], wanted)

    def sweep(self) -> tuple[Eviction, ...]:
        """Delete content that is too old, and return the evictions. Every `put` and `get` also does this."""
        with self._lock:
            evictions = self._delete_expired(self._clock())
        self._report(evictions)
        return tuple(evictions)

    def verify(self) -> tuple[str, ...]:
        """The hashes whose content has changed; empty, unless memory was tampered with."""
        with self._lock:
            kept = dict(self._kept)
        return tuple(content_hash for content_hash, (encoded, _) in kept.items() if hash_of(encoded) != content_hash)

    @property
    def size(self) -> int:
        """The bytes of content that the archive holds."""
        return self._size

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, content_hash: object) -> bool:
        with self._lock:
            found = self._kept.get(content_hash) if isinstance(content_hash, str) else None
            return found is not None and not self._is_old(found[1], self._clock())

    def _is_old(self, since: float, now: float) -> bool:
        return self._ttl is not None and now - since >= self._ttl

    def _delete_expired(self, now: float) -> list[Eviction]:
        expired: list[str] = []
        for content_hash, (_, since) in self._kept.items():
            if not self._is_old(since, now):
                break
            expired.append(content_hash)
        return [self._delete(content_hash, "expired") for content_hash in expired]

    def _delete(self, content_hash: str, reason: Literal["expired", "full"]) -> Eviction:
        encoded, _ = self._kept.pop(content_hash)
        self._size -= len(encoded)
        return Eviction(content_hash, len(encoded), reason)

    def _report(self, evictions: list[Eviction]) -> None:
        if self._on_evict is not None:
            for eviction in evictions:
                self._on_evict(eviction)


def _no_clock() -> float:
    """The time of an archive in which nothing expires."""
    return 0.0
