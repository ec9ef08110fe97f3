"""What an archive is: content that a response left out, kept under its own hash, to be asked for later and verified."""

import hashlib
import json
import re
from typing import Any, Final, Literal, NamedTuple, Protocol

import orjson

from toolvet.core.envelope.json_copy import copy_as_json, encode_json
from toolvet.errors import ArchiveError, ContentDamagedError, EnvelopeError, EnvelopeTypeError

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
