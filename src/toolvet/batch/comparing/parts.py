"""`RowParts`: rows divided by the hash of their ids into files on disk, so that each part fits into memory."""

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np

from toolvet.batch.arrow import RecordBatch, pa
from toolvet.batch.comparing.rows import COMPARED, UNJUDGED
from toolvet.errors import OutputError

ROWS_OF_A_PART: Final = 2**18
"""How many rows of both sides a part has, about."""
_MOST_PARTS: Final = 256


def part_count(rows: int | None) -> int:
    """Return how many parts are good for so many rows; None for a number that nobody knows."""
    return _MOST_PARTS // 4 if rows is None else max(1, min(_MOST_PARTS, rows // ROWS_OF_A_PART))


class SideCounts(NamedTuple):
    """The rows of a side: all, those that were judged, those that are flagged, and those without an id."""

    rows: int
    judged: int
    flagged: int
    without_id: int


class RowParts:
    """The rows of one side. Raises `OutputError` where the folder has no room."""

    def __init__(self, folder: Path, side: str, parts: int) -> None:
        self._paths = [folder / f"{side}-{number}" for number in range(parts)]
        self._writers: list[Any] = []

    def __enter__(self) -> Self:
        self._writers = [pa.ipc.new_stream(str(path), COMPARED) for path in self._paths]
        return self

    def __exit__(self, *_: object) -> None:
        for writer in self._writers:
            writer.close()

    def add(self, batches: Iterable[RecordBatch]) -> "SideCounts":
        """Add all rows, and return how many there are."""
        rows = judged = flagged = without = 0
        for batch in batches:
            rows += batch.num_rows
            judged += int((np.asarray(batch.column("verdict")) != UNJUDGED).sum())
            flagged += int(batch.column("flagged").true_count)
            ids = batch.column("id")
            if ids.null_count:
                without += ids.null_count
                batch = batch.filter(ids.is_valid())  # noqa: PLW2901 - the same rows without those that cannot be joined
            self._write(batch)
        return SideCounts(rows, judged, flagged, without)

    def _write(self, batch: RecordBatch) -> None:
        try:
            if len(self._writers) == 1:
                self._writers[0].write_batch(batch)
                return
            hashes = np.fromiter(map(_hash, batch.column("id").to_pylist()), np.int64, batch.num_rows)
            part = hashes % len(self._writers)
            order = np.argsort(part, kind="stable")
            ends = np.cumsum(np.bincount(part, minlength=len(self._writers)))
            divided = batch.take(pa.array(order))
            start = 0
            for writer, end in zip(self._writers, ends.tolist(), strict=True):
                if end > start:
                    writer.write_batch(divided.slice(start, end - start))
                start = end
        except OSError as error:
            raise OutputError(f"the folder for temporary files: {error}") from error

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows of each part as a table."""
        for path in self._paths:
            with pa.ipc.open_stream(str(path)) as reader:
                yield reader.read_all().combine_chunks()
            path.unlink()


def _hash(text: str) -> int:
    return zlib.crc32(text.encode())
