"""`ResultsKernel`: results of tools → their classification, a column for each field of `ResultVerdict`."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from msgspec.structs import replace

from toolvet.batch.arrow import ArrowSchema, arrow_fields, pa
from toolvet.batch.kernel.columns import PROBLEM, InputColumns
from toolvet.batch.kernel.records import JsonRecord, RecordKernel
from toolvet.core.checks import ResultCheck, ResultMetadata, ResultVerdict, contract_drift
from toolvet.core.json_value import EMPTY, is_object, members
from toolvet.core.tools import view_of

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
        contracts: By the name of a tool: the `outputSchema` that its results have kept so far.

    Example:
        >>> batch = pa.record_batch({"result": ['{"content": [{"type": "text", "text": "42"}]}']})
        >>> ResultsKernel(ResultCheck())(batch).column("classification").to_pylist()
        ['fully_working']
    """

    schema: ArrowSchema = RESULTS
    main: ClassVar[str] = "result"

    def __init__(
        self,
        check: ResultCheck,
        columns: Mapping[str, str] | None = None,
        contracts: Mapping[str, object] = EMPTY,
    ) -> None:
        super().__init__(columns)
        self._check = check
        self._contracts = contracts

    def judging(self, columns: InputColumns) -> Callable[[int], JsonRecord]:
        """As of `RecordKernel`."""
        results, tools, arguments = columns.given("result"), columns.values("tool"), columns.values("arguments")

        def judge(row: int) -> JsonRecord:
            tool = None if tools is None else tools[row]
            definition = tool if is_object(tool) and tool else {"name": tool if isinstance(tool, str) else "tool"}
            sent = members(None if arguments is None else arguments[row])
            verdict = self._check(definition, sent, results[row])
            contract = members(self._contracts.get(view_of(definition).name)) if self._contracts else EMPTY
            is_good = verdict.is_valid and not verdict.is_error and not verdict.error_without_flag
            if is_good and (drift := contract_drift(contract.get("outputSchema"), results[row])):
                said = f"Contract: the result leaves the tool's contract: {drift}"
                verdict = replace(verdict, issues=(*verdict.issues, said))
            return {**verdict.to_dict(), **{name: getattr(verdict.metadata, name) for name in _FLAT}}

        return judge
