"""A private folder for data compiled from the package's own files, so that only the first process has to compile.

A wheel brings compiled data along (`prepared`). It was compiled when the wheel was built, and has the same keys here.
"""
# ruff: noqa: PTH103, PTH105, PTH108, PTH110, PTH111, PTH116, PTH118, PTH123 - pathlib would cost every start 8 ms.

import os
import stat
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Final
from zlib import crc32

from toolvet.core.discover import FileState, file_state, files_of, module_state, states_of
from toolvet.core.discover.background import announce
from toolvet.core.discover.prepared import is_prepared, prepared
from toolvet.core.private import OTHERS, OTHERS_MAY_WRITE, is_ours, open_own

try:
    # The same function; but `hashlib` loads OpenSSL first, which costs every start 3 ms and 3 MiB.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

_GUARD_BYTES: Final = 4
_DIGEST_BYTES: Final = 32
_SETTLED_SECONDS: Final = 3  # A file that is changed again after this time has another time on every file system.
_MOST_UNUSED_SECONDS: Final = 90 * 24 * 3600  # An entry that was not read for so long is dropped.
_MOST_BYTES: Final = 200_000_000  # Reached while patterns are edited: every edit adds an entry.
_SECONDS_OF_A_DAY: Final = 24 * 3600
_BINARY: Final = getattr(os, "O_BINARY", 0)


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
    return compiled_with_key(package, wanted, build, version, sources)[1]


def compiled_with_key(
    package: str,
    wanted: str | tuple[str, ...],
    build: Callable[[Iterable[tuple[str, bytes]]], bytes],
    version: str,
    sources: tuple[str, ...] = (),
) -> tuple[bytes, bytes]:
    """Return the key of the entry, for the keys of data compiled from it, and the entry; see `compiled_from`."""
    files = (wanted,) if isinstance(wanted, str) else wanted
    key = b"\0".join((b"built", version.encode(), package.encode(), fingerprint(package, *files, sources=sources)))
    built = cached(key)
    if built is None:
        with building(key):
            # Another process may have built it while this one waited.
            built = cached(key)
            if built is None:
                announce()
                built = build(sorted(found for each in files for found in files_of(package, each)))
                keep(key, built)
    return key, built


def fingerprint(package: str, *wanted: str, sources: tuple[str, ...] = ()) -> bytes:
    """Return a digest of the names and the content of the files of `package` with these extensions or names.

    `sources` are modules, also of other packages, whose source is part of the digest. The digest is cached for as long
    as size, times and place of every file are the same, as `git status` does it: reading those of 350 files costs 1 ms,
    reading the files 8.
    """
    of_sources = tuple(state for state in map(module_state, sources) if state is not None)
    states = states_of(package, wanted) + of_sources
    # Plain tuples, because named ones take 2 ms to be written.
    key = b"\0".join((b"files", _written(states), package.encode(), *(each.encode() for each in wanted)))
    known = cached(key)
    if known is not None and len(known) == _DIGEST_BYTES:
        return known
    whole = blake2b(digest_size=_DIGEST_BYTES)
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
    if _are_settled(states):
        keep(key, found)
    return found


def file_key(package: str, name: str) -> tuple[bytes, bool]:
    """Return a key that changes when a data file is written, and whether something can be kept under it yet.

    A file that was written just now may be written again without a change of its times.
    """
    state = file_state(os.path.join(import_module(package).__path__[0], name))
    return b"file" + _written((state,)), _are_settled((state,))


def _written(states: Iterable[FileState]) -> bytes:
    # Plain tuples, because named ones take 2 ms to be written.
    return repr([tuple(state) for state in states]).encode()


def _are_settled(states: Iterable[FileState]) -> bool:
    return all(state.changed_ns < time.time_ns() - _SETTLED_SECONDS * 10**9 for state in states)


def cached(key: bytes, *, checks_itself: bool = False) -> bytes | None:
    """Return what `keep` stored under `key`, or the shipped entry; None for a missing or untrustworthy one.

    What `checks_itself` when it is used, as a database does, is not looked through for damage here (2 ms for 10 MB).
    """
    name = _name(key)
    for folder in _folders():
        content = _read(folder, name, checks_itself=checks_itself)
        if content is not None:
            return content
    content = prepared(name)
    if content is not None:
        # The next process need not unpack it, which takes longer than reading it.
        keep(key, content)
    return content


def is_cached(key: bytes) -> bool:
    """Return whether `cached` would probably find the entry, which is not read."""
    name = _name(key)
    return any(os.path.exists(os.path.join(folder, name)) for folder in _folders()) or is_prepared(name)


def keep(key: bytes, content: bytes) -> bool:
    """Store `content` under `key` for later processes of this user; return whether some folder took it."""
    for folder in _folders():
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            path = os.path.join(folder, _name(key))
            partial = f"{path}.{os.getpid()}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY
            with open(open_own(partial, flags, OTHERS_MAY_WRITE), "wb") as file:
                file.write(_guard(content))
                file.write(content)
            os.replace(partial, path)
        except OSError:
            continue
        # Another process may drop the same.
        with suppress(OSError):
            _drop_old(folder)
        return True
    return False


@contextmanager
def building(key: bytes) -> Generator[None]:
    """Hold the lock of an entry while it is built, so that one of several processes builds it and the others wait.

    Without locks, or without a folder that can be written, each process builds for itself. The lock ends with its
    process.
    """
    lock = _open_lock(_name(key))
    try:
        yield
    finally:
        if lock is not None:
            descriptor, path = lock
            # Waiting processes find the entry afterwards; later ones find it without a lock.
            with suppress(OSError):
                os.unlink(path)
            os.close(descriptor)


def _open_lock(name: str) -> tuple[int, str] | None:
    try:
        import fcntl  # noqa: PLC0415 - not on Windows, and only where something is built
    except ImportError:
        return None
    for folder in _folders():
        path = os.path.join(folder, f"{name}.lock")
        with suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            descriptor = open_own(path, os.O_RDWR | os.O_CREAT, OTHERS_MAY_WRITE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            except OSError:
                os.close(descriptor)
                continue
            return descriptor, path
    return None


def _read(folder: str, name: str, *, checks_itself: bool = False) -> bytes | None:
    path = os.path.join(folder, name)
    try:
        # A buffer would copy ten megabytes once more.
        # Deserialising a compiled database is unsafe on hostile bytes: read only what this user wrote.
        with open(open_own(path, os.O_RDONLY | _BINARY, OTHERS_MAY_WRITE), "rb", buffering=0) as file:
            seen = os.fstat(file.fileno())
            guard, content = file.read(_GUARD_BYTES), file.readall()
    except OSError:
        return None
    if time.time() - seen.st_mtime > _SECONDS_OF_A_DAY:
        # That it is still read matters to `_drop_old` alone; on a disk that cannot be written nothing is dropped.
        with suppress(OSError):
            os.utime(path)
    return content if checks_itself or guard == _guard(content) else None


def entries_of(build: Callable[[], None]) -> dict[str, bytes]:
    """Return what `build` stores in an empty cache: content by name, as `prepared.pack` takes it."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415 - only for wheels and images

    before = dict(os.environ)
    with TemporaryDirectory() as place:
        os.environ.update(XDG_CACHE_HOME=place, LOCALAPPDATA=place, TMPDIR=place)
        try:
            build()
        finally:
            os.environ.clear()
            os.environ.update(before)
        folder = os.path.join(place, "toolvet")
        found = {name: _read(folder, name) for name in os.listdir(folder)}  # noqa: PTH208 - as above
    # The digests of files depend on the times of these files.
    return {name: content for name, content in found.items() if content is not None and len(content) > _DIGEST_BYTES}


def digest(content: bytes) -> bytes:
    """Return a digest of 32 bytes, for use in a key."""
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


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


def _folders() -> Iterator[str]:
    """Yield the folders in which entries may be, best first, leaving out those that other users can write to.

    They are `$XDG_CACHE_HOME/toolvet` or its usual place, and where no home can be written, a folder of this user's
    own in the folder for temporary files.
    """
    base = os.environ.get("XDG_CACHE_HOME") or (
        os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.path.expanduser("~/.cache")
    )
    folder = os.path.join(base or os.path.expanduser("~/.cache"), "toolvet")
    # Windows has no such modes (every folder looks open to all), and %LOCALAPPDATA% is the user's own.
    if os.name == "nt":
        yield folder
        return
    if _is_our_own(folder, OTHERS_MAY_WRITE):
        yield folder
    above = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - the folder in it is ours alone
    temporary = os.path.join(above, f"toolvet-{os.getuid()}")
    try:
        mode = os.stat(above).st_mode
    except OSError:
        return
    # In a folder with these modes no other user can rename what we have.
    keeps_what_is_ours = bool(mode & stat.S_ISVTX) or not mode & OTHERS_MAY_WRITE
    if keeps_what_is_ours and _is_our_own(temporary, OTHERS, follow=False):
        yield temporary


def _is_our_own(folder: str, closed: int, *, follow: bool = True) -> bool:
    """Whether a folder belongs to this user and has none of the modes `closed`, or is not there yet."""
    try:
        seen = os.stat(folder, follow_symlinks=follow)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return stat.S_ISDIR(seen.st_mode) and is_ours(seen, closed)
