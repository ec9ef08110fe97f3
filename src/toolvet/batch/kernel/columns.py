"""Columns of a record batch: those that a kernel reads, and those that it makes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

import numpy as np
import orjson

from toolvet.batch.arrow import Array, ArrowSchema, ArrowType, RecordBatch, pa
from toolvet.batch.kernel.texts import as_texts
from toolvet.errors import could_not_check

PROBLEM: Final = "problem"
"""The column of a row that could not be judged: why. Null for all others."""


class InputColumns:
    """The columns of one batch by what they are for.

    `names` maps a purpose (`text`, `calls`) to the name of its column.
    """

    def __init__(self, batch: RecordBatch, names: Mapping[str, str]) -> None:
        self._batch = batch
        self._names = names
        self._count: int = batch.num_rows

    def array(self, purpose: str) -> Array | None:
        """Return the column for a purpose, None if there is none."""
        name = self._names.get(purpose)
        if name is None or name not in self._batch.schema.names:
            return None
        return self._batch.column(name)

    def texts(self, purpose: str) -> list[str | None] | None:
        """Return the column for a purpose as texts; None if there is none, or if it holds no texts."""
        array = self.array(purpose)
        if array is None:
            return None
        try:
            return cast("list[str | None]", as_texts(array).to_pylist())
        except TypeError:
            return [None if each is None else str(each) for each in array.to_pylist()]

    def values(self, purpose: str) -> "JsonColumn | None":
        """Return the column for a purpose as JSON values; None if there is none."""
        array = self.array(purpose)
        return None if array is None else JsonColumn(array)

    def given(self, purpose: str) -> "JsonColumn":
        """The column for a purpose that has one."""
        found = self.values(purpose)
        if found is None:
            raise TypeError(f"there is no column for {purpose}")
        return found

    def problems(self) -> dict[int, str]:
        """Why rows cannot be judged, where whatever read them says so."""
        array = self.array(PROBLEM)
        if array is None or array.null_count == self._count:
            return {}
        return {row: each for row, each in enumerate(array.to_pylist()) if each is not None}


class JsonColumn:
    """A column whose cells are JSON values: nested columns, columns of JSON, texts with an object or a list in them."""

    def __init__(self, array: Array) -> None:
        self._is_json = isinstance(array.type, pa.JsonType)
        stored = array.storage if self._is_json else array
        try:
            self._array = as_texts(stored)
        except TypeError:
            self._array = stored
        self._is_text = pa.types.is_string(self._array.type)
        self.valid: list[int] = np.flatnonzero(np.asarray(self._array.is_valid())).tolist()
        """The rows that are not null."""

    def __getitem__(self, row: int) -> object:
        """The value of a row. Raises ValueError for a cell of JSON that is none."""
        cell: object = self._array[row].as_py()
        if not isinstance(cell, str) or not self._is_text:
            return cell
        if self._is_json:
            return cast("object", orjson.loads(cell))
        if cell.lstrip()[:1] in ("{", "["):
            try:
                return cast("object", orjson.loads(cell))
            except orjson.JSONDecodeError:
                return cell
        return cell


def struct_list(kind: ArrowType, rows: int, members: Iterable[tuple[int, Sequence[Mapping[str, object]]]]) -> Array:
    """Return a column of lists of structs: `members` has the rows that have any, in order; the others are empty."""
    counts = np.zeros(rows + 1, np.int32)
    entries: list[Mapping[str, object]] = []
    for row, found in members:
        counts[row + 1] = len(found)
        entries += found
    offsets = pa.array(np.cumsum(counts, dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array(entries, kind.value_type))


class VerdictColumns:
    """Makes the columns of verdicts: `clean` says what a row has that is not in `judged`.

    Rows in `problems` were not judged: they have only the problem.
    """

    def __init__(self, schema: ArrowSchema, rows: int, problems: Mapping[int, str]) -> None:
        self._schema = schema
        self._rows = rows
        self._problems = problems
        self._unjudged = np.zeros(rows, np.bool_)
        self._unjudged[list(problems)] = True
        self.columns: dict[str, Array] = {}

    def add(self, name: str, clean: object, judged: Iterable[tuple[int, object]]) -> None:
        """Add a column of scalars."""
        kind = self._schema.field(name).type
        found = list(judged)
        if pa.types.is_string(kind):
            # Most rows have one of few texts: they are made once, and taken.
            known: dict[object, int] = {clean: 0}
            places = np.zeros(self._rows, np.int32)
            for row, value in found:
                places[row] = known.setdefault(value, len(known))
            indices = pa.array(places, mask=self._unjudged)
            self.columns[name] = pa.array(list(known), kind).take(indices)
            return
        if clean is None:
            known_values = dict(found)
            self.columns[name] = pa.array([known_values.get(row) for row in range(self._rows)], kind)
            return
        values = np.full(self._rows, clean, pa.array([clean], kind).to_numpy(zero_copy_only=False).dtype)
        for row, value in found:
            values[row] = value
        self.columns[name] = pa.array(values, kind, mask=self._unjudged)

    def add_lists(self, name: str, judged: Iterable[tuple[int, Sequence[Mapping[str, object]]]]) -> None:
        """Add a column of lists of structs, empty if nothing is given."""
        kind = self._schema.field(name).type
        self.columns[name] = struct_list(kind, self._rows, judged)

    def batch(self) -> RecordBatch:
        """Return all columns, in the order of the schema."""
        problems = pa.array([None], pa.string()).take(pa.array(np.zeros(self._rows, np.int32)))
        if self._problems:
            problems = pa.array([self._problems.get(row) for row in range(self._rows)], pa.string())
        self.columns[PROBLEM] = problems
        arrays = [self.columns[field.name] for field in self._schema]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def guarded(
    rows: Iterable[int], judge: Callable[[int], object], problems: dict[int, str]
) -> Iterator[tuple[int, object]]:
    """Yield each row with its verdict. A row that cannot be judged gets a problem, and the others go on."""
    for row in rows:
        if row in problems:
            continue
        try:
            yield row, judge(row)
        except (ValueError, TypeError, RecursionError, MemoryError) as error:
            problems[row] = f"{error}"[:200] or type(error).__name__
        except Exception as error:  # noqa: BLE001 - a bug of ours must not cost the other rows
            problems[row] = could_not_check(error)
