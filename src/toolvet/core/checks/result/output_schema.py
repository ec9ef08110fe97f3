"""Whether a response keeps what the tool's `outputSchema` promises."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, cast

import msgspec

from toolvet.core.checks.result.response import ToolResponse
from toolvet.core.checks.result.verdict import OutputSchemaValidation

if TYPE_CHECKING:
    from toolvet.core.schema import Schema, Violation

NO_JSON = "Tool has output schema but response contains no valid JSON"
_FENCED = re.compile(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_MOST_TOLD = 3
_MOST_FENCED = 1_000


def output_schema_validation(
    schema: object, response: ToolResponse, ready: "Schema | None" = None
) -> OutputSchemaValidation | None:
    """None for a tool without `outputSchema`. Structured content counts; without it, any JSON in a text block.

    `ready` is the compiled schema, where the caller has it.
    """
    if schema is None:
        return None
    judge = _compiled(schema) if ready is None else ready
    if judge.problem is not None:
        return OutputSchemaValidation(
            has_output_schema=True, is_valid=False, error=f"outputSchema does not compile: {judge.problem.message}"
        )
    if response.structured is not None:
        return _verdict(judge.violations(response.structured))
    candidates = _json_values(response.texts)
    if not candidates:
        return OutputSchemaValidation(has_output_schema=True, is_valid=False, error=NO_JSON)
    return _verdict(_fewest(judge, candidates))


def _compiled(schema: object) -> "Schema":
    # The schema engine takes as long to import as all the rest; most tools declare no outputSchema.
    from toolvet.core.schema import compiled  # noqa: PLC0415

    return compiled(schema)


def _fewest(judge: "Schema", candidates: Sequence[object]) -> "tuple[Violation, ...]":
    """The violations of the value that comes closest: an object before a stray number."""
    judged = [(judge.violations(candidate), not isinstance(candidate, dict)) for candidate in candidates]
    return min(judged, key=lambda pair: (bool(pair[0]), pair[1], len(pair[0])))[0]


def _verdict(violations: "tuple[Violation, ...]") -> OutputSchemaValidation:
    if not violations:
        return OutputSchemaValidation(has_output_schema=True, is_valid=True)
    listed = "; ".join(
        f"{each.pointer or '(root)'}: {each.message} ({each.keyword})" for each in violations[:_MOST_TOLD]
    )
    more = len(violations) - _MOST_TOLD
    return OutputSchemaValidation(
        has_output_schema=True,
        is_valid=False,
        error=f"Output schema validation failed: {listed}{f' and {more} more' if more > 0 else ''}",
    )


def _json_values(texts: Sequence[str]) -> list[object]:
    found: list[object] = []
    for text in texts:
        fenced = (block[1] for block in islice(_FENCED.finditer(text), _MOST_FENCED)) if "```" in text else ()
        for source in (text, *fenced):
            if len(found) >= _MOST_FENCED:
                return found
            try:
                found.append(cast("object", msgspec.json.decode(source)))
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                continue
    return found
