"""`ContentArchive`: an archive in memory."""

import threading
from collections.abc import Callable
from typing import Any, Literal

from toolvet.core.envelope.archive.archive import (
    Eviction,
    check_hash,
    check_limits,
    decode_content,
    encode_content,
    hash_of,
    size_error,
)
from toolvet.errors import ContentMissingError, EnvelopeError


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
        """Delete what is too old, and return what was deleted. Every `put` and `get` does so, too."""
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
