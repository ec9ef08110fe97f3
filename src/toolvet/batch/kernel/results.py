"""`ResultsKernel`: results of tools → their classification, a column for each field of `ResultVerdict`."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from toolvet.batch.arrow import ArrowSchema, arrow_fields, pa
from toolvet.batch.kernel.columns import PROBLEM, InputColumns
from toolvet.batch.kernel.records import JsonRecord, RecordKernel
from toolvet.core.checks import ResultCheck, ResultMetadata, ResultVerdict
from toolvet.core.json_value import is_object, members

# Of the metadata, which counts parts of a result, two members have columns; a row has an id of its own.
_FLAT: Final = ("content_types", "taken_for")
_REST: Final = tuple({*ResultMetadata.__struct_fields__} - {*_FLAT})

RESULTS: Final[ArrowSchema] = pa.schema(
    [
        *arrow_fields(ResultVerdict, without=("metadata", "trace_id")),
        *arrow_fields(ResultMetadata, without=_REST),
        (PROBLEM, pa.string()),
    ]
)
"""The columns of verdicts on results: the members of `ResultVerdict`."""


class ResultsKernel(RecordKernel):
    """Judges a column of results.

    Args:
        check: The check with its settings.
        columns: The names of columns by their purpose: `result` and, if there are any, `tool` (its definition or its
            name) and `arguments`.

    Example:
        >>> batch = pa.record_batch({"result": ['{"content": [{"type": "text", "text": "42"}]}']})
        >>> ResultsKernel(ResultCheck())(batch).column("classification").to_pylist()
        ['fully_working']
    """

    schema: ArrowSchema = RESULTS
    main: ClassVar[str] = "result"

    def __init__(self, check: ResultCheck, columns: Mapping[str, str] | None = None) -> None:
        super().__init__(columns)
        self._check = check

    def judging(self, columns: InputColumns) -> Callable[[int], JsonRecord]:
        """As of `RecordKernel`."""
        results, tools, arguments = columns.given("result"), columns.values("tool"), columns.values("arguments")

        def judge(row: int) -> JsonRecord:
            tool = None if tools is None else tools[row]
            definition = tool if is_object(tool) and tool else {"name": tool if isinstance(tool, str) else "tool"}
            sent = members(None if arguments is None else arguments[row])
            verdict = self._check(definition, sent, results[row])
            return {**verdict.to_dict(), **{name: getattr(verdict.metadata, name) for name in _FLAT}}

        return judge
