"""`Texts`: a column of texts as one buffer, and where each row is in it."""

from collections.abc import Iterator
from typing import cast

import numpy as np
from numpy.typing import NDArray

from toolvet.batch.arrow import Array, compute, pa
from toolvet.core.matching import SEPARATOR

_LONG = 2**18  # In bytes: to copy a longer text costs memory, and to judge it alone costs no more.

_TEXT_KINDS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Texts:
    """The texts of a column of any text type.

    `buffer` has all of them, with a separator behind each but the last; row `i` is in it from `starts[i]` up to
    `ends[i]`. Nulls, which `nulls` marks, and texts of more than 256 KiB, which `long` marks, are empty there. Bytes
    that are not UTF-8 become replacement characters.

    Raises TypeError for a column of another type.
    """

    def __init__(self, column: Array) -> None:
        self.array = as_texts(column)
        self.nulls: Flags = np.asarray(compute.is_null(self.array))
        lengths = np.asarray(compute.fill_null(compute.binary_length(self.array), 0)).astype(np.int64)
        count = len(lengths)
        self.long: Flags = lengths > _LONG
        if self.long.any():
            lengths[self.long] = 0
        short = compute.if_else(pa.array(self.long), "", self.array) if self.long.any() else self.array
        # One list of all rows, joined: the quickest copy, and sliced or nested buffers take care of themselves.
        rows = pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), compute.fill_null(short, ""))
        joined = compute.binary_join(rows, SEPARATOR.decode())[0] if count else None
        self.buffer = b"" if joined is None else cast("bytes", joined.as_buffer().to_pybytes())
        self.starts: Places = np.zeros(count, np.int64)
        np.cumsum(lengths[:-1] + len(SEPARATOR), out=self.starts[1:])
        self.ends: Places = self.starts + lengths

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, row: int) -> str | None:
        if self.nulls[row]:
            return None
        if self.long[row]:
            return cast("str", self.array[row].as_py())
        return self.buffer[self.starts[row] : self.ends[row]].decode("utf-8")

    def rows_of(self, places: Places) -> Places:
        """The row in which each of these places of the buffer is, or behind which it is a separator."""
        return np.searchsorted(self.starts, places, side="right") - 1

    def find_all(self, wanted: bytes) -> Iterator[int]:
        """Yield every place of `wanted` in the buffer, none overlapping."""
        place = self.buffer.find(wanted)
        while place >= 0:
            yield place
            place = self.buffer.find(wanted, place + len(wanted))


def lengths(column: Array) -> Array:
    """Return how many characters the texts of a column have, also those of JSON; null if it holds no texts."""
    stored = column.storage if isinstance(column.type, pa.JsonType) else column
    if not pa.types.is_string(stored.type):
        try:
            stored = as_texts(stored)
        except TypeError:
            return pa.nulls(len(column), pa.int64())
    return compute.utf8_length(stored).cast(pa.int64())


def as_texts(column: Array) -> Array:
    """Return a column as valid UTF-8 strings. Raises TypeError for a column that does not hold texts."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return as_texts(column.dictionary_decode())
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    if not any(is_kind(kind) for is_kind in _TEXT_KINDS):
        raise TypeError(f"holds {kind}, not texts")
    try:
        found = column.cast(pa.string())
        # A file may call any bytes a string; the engine that scans them must not see others than UTF-8.
        found.validate(full=True)
    except pa.ArrowInvalid:
        rows: list[bytes | None] = column.cast(pa.binary()).to_pylist()
        return pa.array([None if row is None else row.decode("utf-8", "replace") for row in rows], pa.string())
    return found
