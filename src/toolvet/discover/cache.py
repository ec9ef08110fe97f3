"""A private folder for what was compiled from the package's own data, so that only the first process compiles."""
# ruff: noqa: PTH103, PTH105, PTH108, PTH110, PTH111, PTH116, PTH118, PTH123 - pathlib would cost every start 8 ms.

import os
import time
from collections.abc import Callable, Iterable
from zlib import crc32

from toolvet.discover import file_states, files_of, module_state

try:
    # The same function; but `hashlib` loads OpenSSL first, which costs every start 3 ms and 3 MiB.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

_GUARD = 4
_SETTLED = 3  # Seconds after which a file that is changed again has another time, on any file system.
_UNUSED_FOR = 90 * 24 * 3600  # Seconds after which an entry that nobody read is dropped.
_MOST_KEPT = 200_000_000  # Bytes: who edits patterns builds anew every time.


def compiled_from(
    package: str,
    wanted: str | tuple[str, ...],
    build: Callable[[Iterable[tuple[str, bytes]]], bytes],
    version: str,
    sources: tuple[str, ...] = (),
) -> bytes:
    """What `build` makes of the data files of `package`, built once and then read back.

    The entry is found by the `fingerprint` of the files, so an edited file never meets what was built before the edit.

    Args:
        package: The package whose files they are.
        wanted: Their extension, which begins with a dot, or their whole names, or several of these.
        build: Is given (path, content) of each file, in order of path, as `data_files` yields them.
        version: Names the format that `build` writes: change it when `build` changes, or name its `sources`.
        sources: The modules whose source decides what `build` writes: an edit of one builds anew.
    """
    files = (wanted,) if isinstance(wanted, str) else wanted
    key = _key_of_built(package, files, version, sources)
    built = cached(key)
    if built is None:
        built = build(sorted(found for each in files for found in files_of(package, each)))
        keep(key, built)
    return built


def is_built(package: str, wanted: str | tuple[str, ...], version: str, sources: tuple[str, ...] = ()) -> bool:
    """Whether `compiled_from` of the same would find what it asks for, as far as can be told without reading it."""
    files = (wanted,) if isinstance(wanted, str) else wanted
    try:
        return os.path.exists(os.path.join(_folder(), _name(_key_of_built(package, files, version, sources))))
    except OSError:
        return False


def _key_of_built(package: str, files: tuple[str, ...], version: str, sources: tuple[str, ...]) -> bytes:
    return b"\0".join((b"built", version.encode(), package.encode(), fingerprint(package, *files, sources=sources)))


def fingerprint(package: str, *wanted: str, sources: tuple[str, ...] = ()) -> bytes:
    """A digest of the names and the whole content of the files of `package` with these extensions or names.

    `sources` are modules, perhaps of other packages, whose source counts too.
    Remembered for as long as size, times and place of every file are the same, as `git status` does it: asking for
    those of 350 files costs 1 ms, reading them 8.
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
            # With its length, no content can pass for the end of one file and the begin of the next.
            whole.update(b"%s\0%s\0%d\0" % (each.encode(), path.encode(), len(content)))
            whole.update(content)
    for state in of_sources:
        with open(state.path, "rb") as file:
            content = file.read()
        whole.update(b"%d\0" % len(content))
        whole.update(content)
    found = whole.digest()
    # A file that was written just now may be written again without a trace in its times.
    if all(state.changed_ns < time.time_ns() - _SETTLED * 10**9 for state in states):
        keep(key, found)
    return found


def cached(key: bytes) -> bytes | None:
    """What `keep` stored under `key`, or None. A missing, damaged, unreadable or foreign entry is simply no entry."""
    try:
        path = os.path.join(_folder(), _name(key))
        # Deserialising a compiled database is unsafe on hostile bytes: read only what this user wrote.
        if os.stat(path).st_uid != _user_id():
            return None
        # A buffer would copy ten megabytes once more.
        with open(path, "rb", buffering=0) as file:
            guard, content = file.read(_GUARD), file.readall()
        os.utime(path)
    except OSError:
        return None
    return content if guard == _guard(content) else None


def keep(key: bytes, content: bytes) -> None:
    """Store `content` under `key` for later processes of this user. Never raises: a cache may fail."""
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
    """32 bytes that stand for the content, for use in a key."""
    return blake2b(content, digest_size=32).digest()


def _name(key: bytes) -> str:
    return digest(key).hex()


def _guard(content: bytes) -> bytes:
    """Guards against damage alone, a fifth of the time of a digest: against malice stands whose the folder is."""
    return crc32(content, len(content) & 0xFFFFFFFF).to_bytes(_GUARD)


def _drop_old(folder: str) -> None:
    """Drop what was not read for long, and the oldest beyond what may be kept."""
    with os.scandir(folder) as entries:
        by_age = sorted(((entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in entries), reverse=True)
    total = 0
    for read_at, size, path in by_age:
        total += size
        if total > _MOST_KEPT or read_at < time.time() - _UNUSED_FOR:
            os.unlink(path)


def _folder() -> str:
    """`$XDG_CACHE_HOME/toolvet` or its usual place; only ever a folder that nobody else can write."""
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
    """The user's id; 0 on systems that have none, where `st_uid` is 0 as well."""
    return os.getuid() if hasattr(os, "getuid") else 0
