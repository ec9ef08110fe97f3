"""One folder in, the things in it out: the folder is the list.

This room is also the one door below the drivers to the disk: the package's own data files here, and a private cache
folder for what is compiled from them in `toolvet.discover.cache`.
"""

import os
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import NamedTuple


def modules(package: str) -> tuple[ModuleType, ...]:
    """Every module directly inside `package`, imported, in order of name; names that start with `_` are private."""
    parent = import_module(package)
    names = sorted(info.name for info in pkgutil.iter_modules(parent.__path__) if not info.name.startswith("_"))
    return tuple(import_module(f"{package}.{name}") for name in names)


def module_names(package: str) -> tuple[str, ...]:
    """The names of the modules that `modules` imports, without importing anything but the root of `package`."""
    root, *path = package.split(".")
    names = sorted(info.name for info in pkgutil.iter_modules([os.path.join(import_module(root).__path__[0], *path)]))  # noqa: PTH118 - see data_files
    return tuple(name for name in names if not name.startswith("_"))


def packages(package: str) -> tuple[ModuleType, ...]:
    """Every package directly inside `package`, imported, in order of name; its plain modules are left out."""
    parent = import_module(package)
    names = sorted(info.name for info in pkgutil.iter_modules(parent.__path__) if info.ispkg)
    return tuple(import_module(f"{package}.{name}") for name in names)


def data_files(package: str, extension: str) -> Iterator[tuple[str, bytes]]:
    """Every data file of `package` and of its sub-folders with this extension: (path relative to it, content).

    In order of path. `extension` begins with a dot, as in `.toml` or `.frames.toml`: a file that is meant by its name
    is read by `data_file`, because `wording.toml` is also how `de_wording.toml` ends. Raises `ValueError` without the
    dot. importlib.resources could do it too, but costs 13 ms of import on every start.
    """
    if not extension.startswith("."):
        raise ValueError(f"{extension!r} is not an extension such as '.toml'; data_file() reads the file of a name")
    return files_of(package, extension)


def files_of(package: str, wanted: str) -> Iterator[tuple[str, bytes]]:
    """As `data_files`, but `wanted` may also be a whole name, such as `letters.toml`; for fingerprints."""
    root = import_module(package).__path__[0]
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            if name == wanted or (wanted.startswith(".") and name.endswith(wanted)):
                path = os.path.join(folder, name)  # noqa: PTH118 - pathlib is as dear as importlib.resources
                with open(path, "rb") as file:  # noqa: PTH123
                    yield path[len(root) + 1 :].replace(os.sep, "/"), file.read()


def data_file(package: str, name: str) -> bytes:
    """The content of the one data file of this name in the folder of `package` itself."""
    with open(os.path.join(import_module(package).__path__[0], name), "rb") as file:  # noqa: PTH118, PTH123 - as above
        return file.read()


class FileState(NamedTuple):
    """A file as the system knows it, without its content: what changes when the file does. Times in nanoseconds."""

    path: str
    size: int
    modified_ns: int
    changed_ns: int
    """Of the inode: no program can set it back."""
    inode: int
    device: int


def file_states(package: str, wanted: tuple[str, ...]) -> tuple[FileState, ...]:
    """The state of each file of `package` and of its sub-folders that `wanted` means, in order of path.

    Each of `wanted` is an extension, which begins with a dot, or a whole name.
    """
    extensions = tuple(each for each in wanted if each.startswith("."))
    return tuple(sorted(_states(import_module(package).__path__[0], extensions, frozenset(wanted))))


def _states(folder: str, extensions: tuple[str, ...], names: frozenset[str]) -> Iterator[FileState]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _states(entry.path, extensions, names)
            elif entry.name.endswith(extensions) or entry.name in names:
                seen = entry.stat()
                yield FileState(entry.path, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_dev)


def module_state(module: str) -> FileState | None:
    """The state of the source of `module`, which is not loaded for it; None where it has no source on the disk."""
    package, _, name = module.rpartition(".")
    path = os.path.join(import_module(package).__path__[0], f"{name}.py")  # noqa: PTH118 - as above
    try:
        seen = os.stat(path)  # noqa: PTH116 - as above
    except OSError:
        return None
    return FileState(path, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_dev)
