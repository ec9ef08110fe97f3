"""A private folder for what was compiled from the package's own data, so that only the first process compiles."""

import hashlib
import os
import time
from pathlib import Path

_UNUSED_FOR = 90 * 24 * 3600  # Seconds after which an entry that nobody read is dropped.


def cached(key: bytes) -> bytes | None:
    """What `keep` stored under `key`, or None. A missing, unreadable or foreign cache is simply no cache."""
    try:
        path = _folder() / hashlib.sha256(key).hexdigest()
        # Deserialising a compiled database is unsafe on hostile bytes: read only what this user wrote.
        if path.stat().st_uid != _user_id():
            return None
        content = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    return content


def keep(key: bytes, content: bytes) -> None:
    """Store `content` under `key` for later processes of this user. Never raises: a cache may fail."""
    try:
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / hashlib.sha256(key).hexdigest()
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        partial.touch(mode=0o600)
        partial.write_bytes(content)
        partial.replace(path)
        for entry in folder.iterdir():
            if entry.stat().st_mtime < time.time() - _UNUSED_FOR:
                entry.unlink()
    except OSError:
        return


def _folder() -> Path:
    """`$XDG_CACHE_HOME/toolvet` or its usual place; only ever a folder that nobody else can write."""
    base = os.environ.get("XDG_CACHE_HOME") or (
        os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.path.expanduser("~/.cache")  # noqa: PTH111 - no error without a home
    )
    folder = Path(base or "~/.cache") / "toolvet"
    if folder.exists() and (folder.stat().st_uid != _user_id() or folder.stat().st_mode & 0o022):
        raise PermissionError(f"{folder} can be written by others")
    return folder


def _user_id() -> int:
    """The user's id; 0 on systems that have none, where `st_uid` is 0 as well."""
    return os.getuid() if hasattr(os, "getuid") else 0
