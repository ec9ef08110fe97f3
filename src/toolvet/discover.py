"""One folder in, the things in it out: the folder is the list.

This is also the one door below the drivers to the disk: the package's own data files, and a private cache folder
for what is compiled from them.
"""

import hashlib
import os
import pkgutil
from collections.abc import Iterator
from importlib import import_module, resources
from pathlib import Path
from types import ModuleType


def modules(package: str) -> tuple[ModuleType, ...]:
    """Every module directly inside `package`, imported, in order of name; names that start with `_` are private."""
    parent = import_module(package)
    names = sorted(info.name for info in pkgutil.iter_modules(parent.__path__) if not info.name.startswith("_"))
    return tuple(import_module(f"{package}.{name}") for name in names)


def data_files(package: str, suffix: str) -> Iterator[tuple[str, bytes]]:
    """Every data file of `package` and of its sub-folders that ends with `suffix`: (path relative to it, content)."""
    root = resources.files(package)
    pending = [("", root)]
    while pending:
        prefix, folder = pending.pop()
        for entry in sorted(folder.iterdir(), key=lambda item: item.name, reverse=True):
            path = f"{prefix}{entry.name}"
            if entry.is_dir():
                pending.append((f"{path}/", entry))
            elif entry.name.endswith(suffix):
                yield path, entry.read_bytes()


def cached(key: bytes) -> bytes | None:
    """What `keep` stored under `key`, or None. A missing, unreadable or foreign cache is simply no cache."""
    try:
        path = _cache_folder() / hashlib.sha256(key).hexdigest()
        # Deserialising a compiled database is unsafe on hostile bytes: read only what this user wrote.
        if path.stat().st_uid != _user_id():
            return None
        return path.read_bytes()
    except OSError:
        return None


def keep(key: bytes, content: bytes) -> None:
    """Store `content` under `key` for later processes of this user. Never raises: a cache may fail."""
    try:
        folder = _cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / hashlib.sha256(key).hexdigest()
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        partial.touch(mode=0o600)
        partial.write_bytes(content)
        partial.replace(path)
    except OSError:
        return


def _cache_folder() -> Path:
    """`$XDG_CACHE_HOME/toolvet` or its usual place; only ever a folder that belongs to this user."""
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
