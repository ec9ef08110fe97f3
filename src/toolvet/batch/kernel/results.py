"""`ResultsKernel`: results of tools → their classification, a column for each field of `ResultVerdict`."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from toolvet.batch.arrow import ArrowSchema, pa
from toolvet.batch.kernel.columns import PROBLEM, InputColumns
from toolvet.batch.kernel.records import JsonRecord, RecordKernel
from toolvet.core.checks import ResultCheck
from toolvet.core.json_value import is_object, members

_TEXT: Final = pa.string()
_TEXTS: Final = pa.list_(_TEXT)
_FACTOR: Final = pa.struct([("name", _TEXT), ("weight", pa.int32()), ("present", pa.bool_()), ("evidence", _TEXT)])
_LEAK: Final = pa.struct([("kind", _TEXT), ("text", _TEXT), ("start", pa.int64()), ("end", pa.int64())])

RESULTS: Final[ArrowSchema] = pa.schema(
    [
        ("classification", _TEXT),
        ("is_valid", pa.bool_()),
        ("is_error", pa.bool_()),
        ("error_without_flag", pa.bool_()),
        ("confidence", pa.float64()),
        ("error_kind", _TEXT),
        ("certainty", pa.float64()),
        ("state", _TEXT),
        ("retry", _TEXT),
        ("error_code", _TEXT),
        ("framework", _TEXT),
        ("issues", _TEXTS),
        ("evidence", _TEXTS),
        ("factors", pa.list_(_FACTOR)),
        ("leaks", pa.list_(_LEAK)),
        ("content_types", _TEXTS),
        ("taken_for", _TEXT),
        (PROBLEM, _TEXT),
    ]
)
"""The columns of verdicts on results."""

_AS_THEY_ARE: Final = (
    "is_valid",
    "is_error",
    "error_without_flag",
    "confidence",
    "certainty",
    "error_code",
    "framework",
    "issues",
    "evidence",
)
_WORDS: Final = ("classification", "error_kind", "state", "retry")


class ResultsKernel(RecordKernel):
    """Judges a column of results.

    Args:
        check: The check with its settings.
        columns: The names of columns by what they are for: `result`, and where there are such `tool` (its definition or
            its name) and `arguments`.

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
            record: dict[str, object] = {name: getattr(verdict, name) for name in _AS_THEY_ARE}
            for name in _WORDS:
                value = getattr(verdict, name)
                record[name] = None if value is None else value.value
            record["factors"] = [factor.to_dict() for factor in verdict.factors]
            record["leaks"] = [leak.to_dict() for leak in verdict.leaks]
            record["content_types"] = verdict.metadata.content_types
            record["taken_for"] = verdict.metadata.taken_for
            return record

        return judge
