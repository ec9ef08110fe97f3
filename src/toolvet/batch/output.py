"""`Parts`: the output as far as it is written; and `write_output`, which makes the whole output of them.

The folder has `manifest.json` and a file for each part, from which the next run goes on if this one is killed. A part
is written under another name, and counts only when the manifest names it; so after a kill at any moment the manifest
says exactly what is there. The output appears under its name only when it is whole.
"""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from toolvet.batch.arrow import ArrowSchema, pa
from toolvet.batch.chunk import ReadPosition
from toolvet.batch.judging import Tally, heading
from toolvet.batch.location import Location
from toolvet.batch.reading.parquet import decoded
from toolvet.core.private import OTHERS, OTHERS_MAY_WRITE, open_own, own_folder
from toolvet.errors import OutputError

_VERSION: Final = 1
_PART_BYTES: Final = 32 * 2**20
_LENGTH: Final = 8


def fingerprint(*parts: object) -> str:
    """Return what says whether two runs are of the same input and job."""
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:32]


class Manifest(msgspec.Struct):
    """How far a run is.

    `fingerprint` identifies the input and the job. `sizes` are the bytes up to which files of lines are read, `parts`
    the sizes of the parts in bytes. `after` is the position at which reading goes on. `done` is set at the input's end.
    """

    fingerprint: str
    sizes: list[int | None]
    version: int = _VERSION
    parts: list[int] = []
    after: ReadPosition = ReadPosition()
    tally: Tally = msgspec.field(default_factory=Tally)
    done: bool = False


class Parts:
    """The folder of a run. Raises `OutputError` if nothing can be written."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder = folder
        self._fingerprint = fingerprint
        if os.path.lexists(folder):
            take_folder(folder)
        self.manifest = self._found() or Manifest(fingerprint, [])
        self._bodies: list[bytes] = []
        self._size = 0

    @property
    def is_resumed(self) -> bool:
        """Whether an earlier run left something."""
        return bool(self.manifest.parts) or self.manifest.done

    def start(self, sizes: Sequence[int | None]) -> None:
        """Make the folder, for a run that reads each file up to the size in `sizes`."""
        self.manifest.sizes = list(sizes)
        with _reported(self.folder):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            take_folder(self.folder)
            self._write_manifest()

    def add(self, bodies: Sequence[bytes], tally: Tally, after: ReadPosition) -> None:
        """Add the output of a chunk, behind which reading goes on `after`."""
        self._bodies += bodies
        self._size += sum(map(len, bodies))
        self.manifest.tally.add(tally)
        self.manifest.after = after
        if self._size >= _PART_BYTES:
            self.flush()

    def finish(self) -> None:
        """Note that the input came to its end."""
        self.manifest.done = True
        self.flush()

    def flush(self) -> None:
        """Write what was added as a part."""
        with _reported(self.folder):
            if self._bodies:
                number = len(self.manifest.parts)
                framed = [part for body in self._bodies for part in (len(body).to_bytes(_LENGTH), body)]
                _write(self._part(number), framed)
                self.manifest.parts.append(self._size + _LENGTH * len(self._bodies))
                self._bodies, self._size = [], 0
            self._write_manifest()

    def bodies(self) -> Iterator[bytes]:
        """Yield everything that was added, in order."""
        for number in range(len(self.manifest.parts)):
            with self._part(number).open("rb") as file:
                while length := file.read(_LENGTH):
                    yield file.read(int.from_bytes(length))

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _part(self, number: int) -> Path:
        return self.folder / f"part-{number:05}"

    def _found(self) -> Manifest | None:
        try:
            found = msgspec.json.decode((self.folder / "manifest.json").read_bytes(), type=Manifest)
            sizes = [self._part(number).stat().st_size for number in range(len(found.parts))]
        except (OSError, msgspec.MsgspecError):
            return None
        fits = found.version == _VERSION and found.fingerprint == self._fingerprint and sizes == found.parts
        return found if fits else None

    def _write_manifest(self) -> None:
        _write(self.folder / "manifest.json", [msgspec.json.encode(self.manifest)])


def take_folder(folder: Path) -> None:
    """Make a folder for parts. Raises `OutputError` for one that another user made or may change."""
    if not own_folder(str(folder), OTHERS_MAY_WRITE):
        raise OutputError(f"{folder} is a link, belongs to another user, or others may write to it; remove it")


class _reported:  # noqa: N801 - reads as a statement
    """Makes an error of the disk one in words."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise OutputError(
                f"{self._folder}: {error.strerror or error}; the rows judged so far are kept there"
            ) from error


def _write(path: Path, content: Sequence[bytes]) -> None:
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("wb") as file:
            file.writelines(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


parquet: Any = import_module("pyarrow.parquet")

_ROW_GROUP_ROWS: Final = 2**17
_ROW_GROUP_BYTES: Final = 32 * 2**20


def write_output(bodies: Iterator[bytes], location: Location, schema: ArrowSchema, form: str) -> None:
    """Write all bodies to a file beside its place, and rename it. Raises `OutputError` if that fails."""
    new = location.beside(f"{location.path}.{os.getpid()}.new")
    try:
        if location.is_local:
            folder = os.path.dirname(os.path.abspath(location.path))  # noqa: PTH120, PTH100 - a path of the file system
            location.system.create_dir(folder, recursive=True)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(new.path)  # noqa: PTH108 - as above
            # For its owner alone from its first moment, as the rows hold what people said to agents.
            os.close(open_own(new.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OTHERS))
        with location.system.open_output_stream(new.path, compression=location.compression) as stream:
            if form == "parquet":
                _write_parquet(bodies, stream, schema)
            else:
                stream.write(heading(schema, form))
                for body in bodies:
                    stream.write(body)
        location.system.move(new.path, location.path)
    except (OSError, pa.ArrowException) as error:
        with contextlib.suppress(OSError):
            location.system.delete_file(new.path)
        raise OutputError(f"{location.given} cannot be written: {error}") from error


def _write_parquet(bodies: Iterator[bytes], stream: Any, schema: ArrowSchema) -> None:
    with parquet.ParquetWriter(stream, schema, compression="zstd", write_page_checksum=True) as writer:
        gathered: list[Any] = []
        rows = size = 0
        for body in bodies:
            batch = decoded(body)
            gathered.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= _ROW_GROUP_ROWS or size >= _ROW_GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(gathered))
                gathered, rows, size = [], 0, 0
        if gathered:
            writer.write_table(pa.Table.from_batches(gathered))
