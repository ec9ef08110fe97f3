"""`RecordKernel`: the frame of kernels that judge a JSON value in each row and make a record of the verdict."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar

from toolvet.batch.arrow import ArrowSchema, RecordBatch, pa
from toolvet.batch.kernel.columns import PROBLEM, InputColumns, guarded

JsonRecord = Mapping[str, object]


class RecordKernel(ABC):
    """Judges a column of JSON values: texts of JSON, columns of Arrow's JSON type, or nested columns."""

    schema: ArrowSchema
    main: ClassVar[str]
    """The purpose of the column that is judged."""

    def __init__(self, columns: Mapping[str, str] | None = None) -> None:
        self._columns = {self.main: self.main, PROBLEM: PROBLEM, **(columns or {})}

    def __call__(self, batch: RecordBatch) -> RecordBatch:
        """Return the verdicts on a batch, row by row. Raises TypeError if the column is missing."""
        columns = InputColumns(batch, self._columns)
        if columns.array(self.main) is None:
            raise TypeError(f"there is no column {self._columns[self.main]!r}")
        problems = columns.problems()
        found = dict(guarded(range(batch.num_rows), self.judging(columns), problems))
        records = [found.get(row) or {PROBLEM: problems.get(row)} for row in range(batch.num_rows)]
        # One struct for each row, whose members are the columns.
        return pa.RecordBatch.from_struct_array(pa.array(records, pa.struct(list(self.schema)))).cast(self.schema)

    @abstractmethod
    def judging(self, columns: InputColumns) -> Callable[[int], JsonRecord]:
        """Return what makes the record of a row: raises ValueError or TypeError for one that cannot be judged."""
