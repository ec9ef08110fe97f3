"""One folder in, the things in it out: the folder is the list.

Below the drivers, only this room reads the disk: the package's own data files here, and a private cache folder for what
is compiled from them in `toolvet.core.discover.cache`. Only here another process is started, to compile (`background`).
"""
# ruff: noqa: PTH111, PTH113, PTH118, PTH120, PTH123 - pathlib would cost every start 4 ms.

import os
import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Final, NamedTuple, TextIO

from toolvet.errors import ConfigError, UsageError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


def modules(package: str, only: str | None = None) -> tuple[ModuleType, ...]:
    """Import and return every module directly inside `package`, by name; names that start with `_` are private.

    Where `only` is the name of one, the others are left out, too.
    """
    import pkgutil  # noqa: PLC0415 - the quickest start, of a check of one answer, lists no folder

    parent = import_module(package)
    names = sorted(info.name for info in pkgutil.iter_modules(parent.__path__) if not info.name.startswith("_"))
    if only in names:
        names = [only]
    return tuple(import_module(f"{package}.{name}") for name in names)


def module_names(package: str) -> tuple[str, ...]:
    """Return the names of the modules that `modules` imports, without importing them or their packages."""
    import pkgutil  # noqa: PLC0415 - as above

    root, *path = package.split(".")
    names = sorted(info.name for info in pkgutil.iter_modules([os.path.join(import_module(root).__path__[0], *path)]))
    return tuple(name for name in names if not name.startswith("_"))


def of_each_wing(name: str) -> tuple[ModuleType, ...]:
    """Import and return the module `name` of every wing that has one, by wing."""
    wings = sorted(entry.name for entry in os.scandir(_PACKAGE) if os.path.isfile(os.path.join(entry, f"{name}.py")))
    return tuple(import_module(f"toolvet.{wing}.{name}") for wing in wings)


def data_files(package: str, extension: str) -> Iterator[tuple[str, bytes]]:
    """Yield (path relative to `package`, content) of every data file in it and its sub-folders, in order of path.

    `extension` begins with a dot, as in `.toml`; without it `ValueError` is raised. To read one file by its name, use
    `data_file`: `wording.toml` is also the end of `de_wording.toml`. We don't use importlib.resources, because it costs
    13 ms of import on every start.
    """
    if not extension.startswith("."):
        raise ValueError(f"{extension!r} is not an extension such as '.toml'; data_file() reads the file of a name")
    return files_of(package, extension)


def files_of(package: str, wanted: str) -> Iterator[tuple[str, bytes]]:
    """Yield as `data_files` does; `wanted` may also be a whole name, such as `letters.toml`."""
    root = import_module(package).__path__[0]
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            if name == wanted or (wanted.startswith(".") and name.endswith(wanted)):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    yield path[len(root) + 1 :].replace(os.sep, "/"), file.read()


def data_file(package: str, name: str) -> bytes:
    """Return the content of the data file of this name in the folder of `package` itself."""
    with open(os.path.join(import_module(package).__path__[0], name), "rb") as file:
        return file.read()


_INSTALLED = ("site-packages", "dist-packages")


class FileState(NamedTuple):
    """Size, times and identity of a file, which change when its content does. Times are in nanoseconds."""

    path: str
    size: int
    modified_ns: int
    changed_ns: int
    """The time of the inode, which no program can set."""
    inode: int
    device: int


def file_states(package: str, wanted: tuple[str, ...]) -> tuple[FileState, ...]:
    """Return the state of each wanted file of `package` and of its sub-folders, in order of path.

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
                yield _state(entry.path, entry.stat())


def file_state(path: str) -> FileState:
    """Return the state of a file. Raises `OSError`."""
    return _state(path, os.stat(path))  # noqa: PTH116 - as above


def _state(path: str, seen: os.stat_result) -> FileState:
    return FileState(path, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_dev)


def module_state(module: str) -> FileState | None:
    """Return the state of the source file of `module` without importing it; None if there is no such file."""
    package, _, name = module.rpartition(".")
    path = os.path.join(import_module(package).__path__[0], f"{name}.py")
    try:
        return file_state(path)
    except OSError:
        return None


def states_of(package: str, wanted: tuple[str, ...]) -> tuple[FileState, ...]:
    """Return what changes when one of the wanted files of `package` does.

    The files of an installation come together, and then its version is written again: one look instead of 250, which
    take 2 ms of every start. In a checkout it is the state of each.
    """
    if package.partition(".")[0] == __name__.partition(".")[0] and is_installed():
        version = module_state(f"{__name__.partition('.')[0]}.version")
        if version is not None:
            return (version,)
    return file_states(package, wanted)


def is_installed() -> bool:
    """Whether toolvet is installed, and is not a checkout whose files are edited."""
    return any(f"{os.sep}{each}{os.sep}" in __file__ for each in _INSTALLED)


# `[tool.toolvet]` and `tool.toolvet.x = …`; or `[tool]` and `tool = …`, in which it may be.
_OUR_TABLE: Final = rb"""(?m)\btool["']?[ \t]*\.[ \t]*["']?toolvet|^[ \t]*(?:\[[ \t]*)?["']?tool["']?[ \t]*[]=]"""


def settings_file(given: str | None) -> str | None:
    """Return the path of the settings file: `given`, or the one in the current folder; None if there is none.

    A pyproject.toml is ignored unless it may have a table `[tool.toolvet]`: many only depend on toolvet.

    Raises:
        UsageError: there is no file `given`.
    """
    if given is not None:
        if not os.path.isfile(given):
            raise UsageError(f"--settings {given}: no such file")
        return given
    if os.path.isfile("toolvet.toml"):
        return "toolvet.toml"
    if not os.path.isfile("pyproject.toml"):
        return None
    try:
        with open("pyproject.toml", "rb") as file:
            content = file.read()
        is_about_us = b"toolvet" in content and re.search(_OUR_TABLE, content) is not None
    except OSError:
        # The reader of the file reports the problem.
        is_about_us = True
    return "pyproject.toml" if is_about_us else None


def read_user_file(path: str) -> bytes:
    """Return the content of a file that the user named. Raises ConfigError if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", file=path) from error


LONGEST_LINE: Final = 32 * 2**20
"""How long a line of a table may be, and a cell: the library takes four bytes for each character."""


def text_lines(text: TextIO) -> Iterator[str]:
    """Yield the lines of a table, which may be compressed and have none. Raises OSError for one that is too long."""
    while line := text.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE and line[-1] not in "\r\n":
            raise OSError(f"a line is longer than {LONGEST_LINE >> 20} MiB")
        yield line


def beside(file: str, path: str) -> str:
    """Return a path that a file names: it begins at the folder of the file, and `~` is the home."""
    return os.path.join(os.path.dirname(file), os.path.expanduser(path))
