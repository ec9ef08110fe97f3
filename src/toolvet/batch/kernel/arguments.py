"""`ArgumentsKernel`: the arguments of calls → whether they keep their tool's schema, and the call that was meant."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

import orjson

from toolvet.batch.arrow import ArrowSchema, arrow_fields, pa
from toolvet.batch.kernel.columns import PROBLEM, InputColumns
from toolvet.batch.kernel.records import JsonRecord, RecordKernel
from toolvet.core.checks import ArgumentCheck, ArgumentReport, Issue, ReportedFault, mask_arguments

_TEXT: Final = pa.string()
# The tool's definition has what is the same for all rows: the schema, advice, examples.
_VIOLATION: Final = pa.struct(arrow_fields(Issue, without=("did_you_mean", "examples")))
_OF_FAULT: Final = arrow_fields(
    ReportedFault, without=("type", "issues", "schema", "suggestions", "valid_example", "repair")
)

ARGUMENTS: Final[ArrowSchema] = pa.schema(
    [
        *arrow_fields(ArgumentReport, without=("error", "trace_id")),
        *_OF_FAULT,
        ("violations", pa.list_(_VIOLATION)),
        ("repaired", _TEXT),
        ("repair_confidence", _TEXT),
        ("repair_certainty", pa.float64()),
        (PROBLEM, _TEXT),
    ]
)
"""The columns of verdicts on arguments. `repaired` is the valid call that was meant, as JSON without secrets."""


class ArgumentsKernel(RecordKernel):
    """Judges a column of arguments.

    Args:
        check: The check with its wording.
        tools: The definitions of tools by name. With one alone, rows need not name theirs.
        columns: The names of columns by their purpose: `arguments` and, if there are any, `tool` (the name, or a
            definition) and `schema` (the tool's JSON Schema, row by row).

    A row whose tool is not known has a problem.

    Example:
        >>> tools = {"sail": {"name": "sail", "inputSchema": {"type": "object", "required": ["port"]}}}
        >>> batch = pa.record_batch({"arguments": ['{"port": "Lisbon"}', "{}"]})
        >>> ArgumentsKernel(ArgumentCheck(), tools)(batch).column("valid").to_pylist()
        [True, False]
    """

    schema: ArrowSchema = ARGUMENTS
    main: ClassVar[str] = "arguments"

    def __init__(
        self, check: ArgumentCheck, tools: Mapping[str, object], columns: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(columns)
        self._check = check
        self._tools = tools

    def judging(self, columns: InputColumns) -> Callable[[int], JsonRecord]:
        """As of `RecordKernel`."""
        sent, tools, schemas = columns.given("arguments"), columns.values("tool"), columns.values("schema")

        def judge(row: int) -> JsonRecord:
            schema = None if schemas is None else schemas[row]
            named = None if tools is None else tools[row]
            if schema is not None:
                tool = schema
            elif isinstance(named, str):
                if named not in self._tools:
                    raise ValueError(f"there is no definition of the tool {named!r}")
                tool = self._tools[named]
            elif named is not None:
                tool = named
            elif len(self._tools) == 1:
                tool = next(iter(self._tools.values()))
            else:
                raise ValueError("which tool? Neither a schema nor the name of a tool is given")
            report = self._check(tool, sent[row])
            record: dict[str, object] = {"valid": report.valid, "violations": [], "unchecked": report.unchecked}
            if not report.valid:
                # Of the report, which has the same members: its `error` would make an example for each row.
                record |= {name: getattr(report, name) for name, _ in _OF_FAULT}
                violations = [issue.to_dict() for issue in report.issues]
                for violation in violations:
                    if not isinstance(violation["received"], str):
                        violation["received"] = orjson.dumps(violation["received"], default=str).decode()
                record["violations"] = violations
            if not report.valid and report.repair is not None:
                record["repaired"] = orjson.dumps(mask_arguments(report.repair.arguments), default=str).decode()
                record["repair_confidence"] = report.repair.confidence
                record["repair_certainty"] = report.repair.certainty
            return record

        return judge
