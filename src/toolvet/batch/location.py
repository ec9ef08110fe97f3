"""`Location`: a file or folder on this machine, or on another through pyarrow or fsspec; `-` is stdin or stdout."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

from toolvet.errors import UnreachableError, UsageError

fs: Any = import_module("pyarrow.fs")

STDIO: Final = "-"
# Messages of file systems about a network or a service that fails, and never about damaged content.
_NETWORK: Final = re.compile(r"(?i)AWS Error|Azure|google::cloud|connect|timed? ?out|HTTP")
SUFFIXES: Final = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
}
"""The format of a file by its name."""
COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4"}
"""The compression of a file by its last suffix."""


@dataclass(frozen=True)
class Location:
    """A place as it was given, with the file system that has it and its path there."""

    given: str
    system: Any
    path: str

    @property
    def is_stdio(self) -> bool:
        """Whether this is stdin or stdout."""
        return self.given == STDIO

    @property
    def is_local(self) -> bool:
        """Whether this is on this machine's disk."""
        return isinstance(self.system, fs.LocalFileSystem)

    @property
    def compression(self) -> str | None:
        """How the content is compressed, by the name."""
        return COMPRESSIONS.get(Path(self.path).suffix.lower())

    @property
    def format(self) -> str | None:
        """The format of the content, by the name without the suffix of its compression."""
        name = Path(self.path)
        if self.compression is not None:
            name = name.with_suffix("")
        return SUFFIXES.get(name.suffix.lower())

    def child(self, name: str) -> "Location":
        """Return a file in this folder."""
        return Location(f"{self.given.rstrip('/')}/{name}", self.system, f"{self.path.rstrip('/')}/{name}")

    def beside(self, path: str) -> "Location":
        """Return another path of the same system."""
        root = self.given[: len(self.given) - len(self.path)] if self.given.endswith(self.path) else ""
        return Location(f"{root}{path}", self.system, path)

    def info(self) -> Any:
        """Return the file system's facts about it. Raises UsageError if the file system cannot be asked."""
        try:
            return self.system.get_file_info(self.path)
        except OSError as error:
            raise UsageError(f"{self.given}: {self.fault(error)}") from error

    def fault(self, error: Exception) -> str:
        """Return the words for content that cannot be read. Raises UnreachableError if the network is to blame."""
        lasts = isinstance(error, FileNotFoundError | PermissionError) or self.is_stdio or self.is_local
        if not lasts and _NETWORK.search(f"{error}"):
            raise UnreachableError(f"{self.given}: {error}; run it again to go on from here") from error
        return f"{error}"


def locate(given: str) -> Location:
    """Return where a path or URL is. Raises UsageError if no file system for the URL is installed."""
    if given == STDIO:
        return Location(given, None, given)
    if "://" not in given:
        return Location(given, fs.LocalFileSystem(), str(Path(given).expanduser()))
    try:
        system, path = fs.FileSystem.from_uri(given)
    except (OSError, ValueError):
        return _through_fsspec(given)
    return Location(given, system, path)


def _through_fsspec(given: str) -> Location:
    scheme = given.partition("://")[0]
    try:
        url_to_fs: Any = cast("Any", import_module("fsspec.core")).url_to_fs
        system, path = url_to_fs(given)
    except ImportError as error:
        raise UsageError(f"{given}: {scheme}:// needs another package: {error}") from error
    except ValueError as error:
        raise UsageError(f"{given}: {error}") from error
    return Location(given, fs.PyFileSystem(fs.FSSpecHandler(system)), path)


def input_files(location: Location) -> Sequence[Location]:
    """Return the files of an input: itself, or those of a folder with a known format, sorted by path.

    Names that begin with `_` or `.` are left out, as readers of partitioned data sets do. Raises UsageError if there
    is nothing to read.
    """
    info = location.info()
    if info.type == fs.FileType.NotFound:
        raise UsageError(f"{location.given}: no such file or folder")
    if info.type != fs.FileType.Directory:
        return [location]
    found = location.system.get_file_info(fs.FileSelector(location.path, recursive=True))
    files = [
        location.beside(each.path)
        for each in sorted(found, key=lambda each: str(each.path))
        if each.type == fs.FileType.File and not _is_hidden(each.path, location.path)
    ]
    known = [each for each in files if each.format is not None]
    if not known:
        raise UsageError(f"{location.given}: no file in this folder is .parquet, .jsonl, .csv or .tsv")
    return known


def _is_hidden(path: str, root: str) -> bool:
    inner = path[len(root.rstrip("/")) :]
    return any(part.startswith(("_", ".")) for part in inner.split("/") if part)
