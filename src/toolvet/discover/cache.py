"""A private folder for what was compiled from the package's own data, so that only the first process has to compile."""
# ruff: noqa: PTH103, PTH105, PTH108, PTH110, PTH111, PTH116, PTH118, PTH123 - pathlib would cost every start 8 ms.

import os
import time
from collections.abc import Callable, Iterable
from typing import Final
from zlib import crc32

from toolvet.discover import file_states, files_of, module_state

try:
    # The same function; but `hashlib` loads OpenSSL first, which costs every start 3 ms and 3 MiB.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

_GUARD_BYTES: Final = 4
_SETTLED_SECONDS: Final = 3  # A file that is changed again after this time has another time on every file system.
_MOST_UNUSED_SECONDS: Final = 90 * 24 * 3600  # An entry that was not read for so long is dropped.
_MOST_BYTES: Final = 200_000_000  # Reached while patterns are edited: every edit adds an entry.


def compiled_from(
    package: str,
    wanted: str | tuple[str, ...],
    build: Callable[[Iterable[tuple[str, bytes]]], bytes],
    version: str,
    sources: tuple[str, ...] = (),
) -> bytes:
    """Return what `build` makes of the data files of `package`; it is built once and then read from the cache.

    The key of the entry is the `fingerprint` of the files, so after an edit the entry is built again.

    Args:
        package: the package that contains the files.
        wanted: their extension, which begins with a dot, or their whole names, or several of these.
        build: a function of (path, content) of each file, in order of path, as `data_files` yields them.
        version: the version of the format that `build` writes: change it when `build` changes, or name its `sources`.
        sources: the modules whose source decides what `build` writes; an edit of one builds again.
    """
    files = (wanted,) if isinstance(wanted, str) else wanted
    key = _key_of_built(package, files, version, sources)
    built = cached(key)
    if built is None:
        built = build(sorted(found for each in files for found in files_of(package, each)))
        keep(key, built)
    return built


def is_built(package: str, wanted: str | tuple[str, ...], version: str, sources: tuple[str, ...] = ()) -> bool:
    """Whether `compiled_from` with these arguments would probably find its entry; the entry is not read."""
    files = (wanted,) if isinstance(wanted, str) else wanted
    try:
        return os.path.exists(os.path.join(_folder(), _name(_key_of_built(package, files, version, sources))))
    except OSError:
        return False


def _key_of_built(package: str, files: tuple[str, ...], version: str, sources: tuple[str, ...]) -> bytes:
    return b"\0".join((b"built", version.encode(), package.encode(), fingerprint(package, *files, sources=sources)))


def fingerprint(package: str, *wanted: str, sources: tuple[str, ...] = ()) -> bytes:
    """Return a digest of the names and the content of the files of `package` with these extensions or names.

    `sources` are modules, also of other packages, whose source is part of the digest. The digest is cached for as long
    as size, times and place of every file are the same, as `git status` does it: reading those of 350 files costs 1 ms,
    reading the files 8.
    """
    of_sources = tuple(state for state in map(module_state, sources) if state is not None)
    states = file_states(package, wanted) + of_sources
    # Plain tuples, because named ones take 2 ms to be written.
    key = b"\0".join((b"files", repr([tuple(state) for state in states]).encode(), *(each.encode() for each in wanted)))
    known = cached(key)
    if known is not None and len(known) == len(digest(b"")):
        return known
    whole = blake2b(digest_size=32)
    for each in wanted:
        for path, content in files_of(package, each):
            # The length makes sure that no content looks like the end of one file and the start of the next.
            whole.update(b"%s\0%s\0%d\0" % (each.encode(), path.encode(), len(content)))
            whole.update(content)
    for state in of_sources:
        with open(state.path, "rb") as file:
            content = file.read()
        whole.update(b"%d\0" % len(content))
        whole.update(content)
    found = whole.digest()
    # A file that was written just now may be written again without a change of its times.
    if all(state.changed_ns < time.time_ns() - _SETTLED_SECONDS * 10**9 for state in states):
        keep(key, found)
    return found


def cached(key: bytes) -> bytes | None:
    """Return what `keep` stored under `key`; None for a missing, damaged, unreadable or foreign entry."""
    try:
        path = os.path.join(_folder(), _name(key))
        # Deserialising a compiled database is unsafe on hostile bytes: read only what this user wrote.
        if os.stat(path).st_uid != _user_id():
            return None
        # A buffer would copy ten megabytes once more.
        with open(path, "rb", buffering=0) as file:
            guard, content = file.read(_GUARD_BYTES), file.readall()
        os.utime(path)
    except OSError:
        return None
    return content if guard == _guard(content) else None


def keep(key: bytes, content: bytes) -> None:
    """Store `content` under `key` for later processes of this user. Never raises: the cache is optional."""
    try:
        folder = _folder()
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, _name(key))
        partial = f"{path}.{os.getpid()}"
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(_guard(content))
            file.write(content)
        os.replace(partial, path)
        _drop_old(folder)
    except OSError:
        return


def digest(content: bytes) -> bytes:
    """Return a digest of 32 bytes, for use in a key."""
    return blake2b(content, digest_size=32).digest()


def _name(key: bytes) -> str:
    return digest(key).hex()


def _guard(content: bytes) -> bytes:
    """Return a checksum against damage, a fifth of a digest's time; the owner of the folder guards against malice."""
    return crc32(content, len(content) & 0xFFFFFFFF).to_bytes(_GUARD_BYTES)


def _drop_old(folder: str) -> None:
    """Drop entries that were not read for long, and the oldest ones above the limit of the cache."""
    with os.scandir(folder) as entries:
        by_age = sorted(((entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in entries), reverse=True)
    total = 0
    for read_at, size, path in by_age:
        total += size
        if total > _MOST_BYTES or read_at < time.time() - _MOST_UNUSED_SECONDS:
            os.unlink(path)


def _folder() -> str:
    """Return `$XDG_CACHE_HOME/toolvet` or its usual place. Raises PermissionError if other users can write to it."""
    base = os.environ.get("XDG_CACHE_HOME") or (
        os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.path.expanduser("~/.cache")
    )
    folder = os.path.join(base or os.path.expanduser("~/.cache"), "toolvet")
    if os.path.exists(folder):
        status = os.stat(folder)
        # Windows has no such modes (every folder looks open to all), and %LOCALAPPDATA% is the user's own.
        if os.name != "nt" and (status.st_uid != _user_id() or status.st_mode & 0o022):
            raise PermissionError(f"{folder} can be written by others")
    return folder


def _user_id() -> int:
    """Return the user's id; 0 on systems without ids, where `st_uid` is 0 as well."""
    return os.getuid() if hasattr(os, "getuid") else 0
