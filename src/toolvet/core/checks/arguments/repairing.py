"""`repair_json` and `repair_call`: the valid value in a text that a model wrote, or words with which it tries again."""

import re
from typing import Final, cast

import msgspec
import orjson

from toolvet.core.checks.arguments.check import ArgumentReport, check_arguments
from toolvet.core.json_form import JsonForm
from toolvet.core.json_value import is_object
from toolvet.core.schema import Repair, Schema, compiled, recover, recover_beginning, repair_read, repair_text
from toolvet.core.schema.repairs.context import Confidence
from toolvet.core.schema.repairs.search import repair_by
from toolvet.core.tools import input_schema_of
from toolvet.errors import ToolShapeError

_LONG_NUMBER: Final = re.compile(r"\d{19}")
_NO_JSON: Final = "The text contains no JSON value that is certain enough"


class JsonRepair(JsonForm, msgspec.Struct, frozen=True, kw_only=True):
    """The intended value of a text.

    Attributes:
        value: The value, which satisfies the schema; None if there is none that is certain enough.
        steps: A sentence for each liberty that was taken; empty if the text was valid as it is.
        confidence: `high` where only the notation was wrong, `medium` where a likely reading was chosen, `low` where
            something is lost or guessed.
        certainty: How often such repairs restored the intended value, from 0 to 1, measured.
        error: The faults, in words for the model; None if there is a value.
    """

    _adds = ("ok",)
    _nulls = ("value",)

    value: object = None
    steps: tuple[str, ...] = ()
    confidence: Confidence = "high"
    certainty: float = 1.0
    error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether there is a value; it may be None, as JSON's null."""
        return self.error is None


def repair_json(text: str | bytes, schema: object = True, *, partial: bool = False) -> JsonRepair:  # noqa: FBT002 - a JSON Schema
    r"""Return the value that a text was meant to be, valid against a JSON Schema, or why there is none.

    It never invents a value and never chooses between two readings that are equally likely.

    Args:
        text: The output of a model: JSON in a fence or in prose, with comments, other quotation marks, missing or
            trailing commas, the notation of Python or YAML, cut off, or with values of wrong types and misspelt names.
        schema: A JSON Schema; any JSON satisfies the default.
        partial: The text is the beginning of one that is still being written: the value is what is certain so far, and
            is not held against the schema.

    Raises:
        ToolShapeError: The schema cannot be used.

    Example:
        >>> schema = {"type": "object", "properties": {"limit": {"type": "integer"}}, "required": ["limit"]}
        >>> repair_json("```json\n{'Limit': '10',}\n```", schema).value
        {'limit': 10}
        >>> repair_json("{}", schema).ok
        False
        >>> repair_json('{"a": [1, {"b": "tex', partial=True).value
        {'a': [1, {'b': 'tex'}]}
    """
    written = text if isinstance(text, str) else bytes(text).decode(errors="replace")
    if partial:
        return _read_partial(written)
    ready = compiled(schema)
    if ready.problem is not None:
        raise ToolShapeError(f"the schema cannot be used: {ready.problem.message}")
    found = _repaired(ready, written)
    return found or _refused(check_arguments({"name": "value", "inputSchema": schema}, written))


def repair_call(tool: object, arguments: object) -> JsonRepair:
    """Return the valid arguments for a tool, from a text or from arguments that were decoded.

    Args:
        tool: A tool in any of the usual shapes, as for `check_arguments`.
        arguments: The arguments, or the text that a model wrote for them.

    Raises:
        ToolShapeError: `tool` is in no shape that is read.

    Example:
        >>> tool = {"name": "search", "inputSchema": {"type": "object", "properties": {"limit": {"type": "integer"}}}}
        >>> repair_call(tool, "search(limit='10')").value
        {'limit': 10}
    """
    ready = compiled(input_schema_of(tool))
    sent = bytes(arguments).decode(errors="replace") if isinstance(arguments, bytes | bytearray) else arguments
    return _repaired(ready, sent) or _refused(check_arguments(tool, sent))


def _repaired(ready: Schema, sent: object) -> JsonRepair | None:
    found: Repair | None
    if not isinstance(sent, str):
        if ready.is_valid(sent):
            return JsonRepair(value=sent)
        found = repair_by(ready, sent)
    else:
        value = _json_in(sent)
        if value is msgspec.UNSET:
            read = recover(sent)
            if read is not None and not read.steps and ready.is_valid(read.value):
                return JsonRepair(value=read.value)
            found = repair_read(ready, sent, read)
        else:
            if ready.is_valid(value):
                return JsonRepair(value=value)
            # It may be JSON that was encoded twice, or a call around its arguments.
            found = (repair_by(ready, value) if is_object(value) else None) or repair_text(ready, sent)
    if found is None:
        return None
    return JsonRepair(value=found.arguments, steps=found.steps, confidence=found.confidence, certainty=found.certainty)


def _json_in(text: str) -> object:
    """The value of a text that is JSON, else UNSET; also for numbers beyond 64 bits, which orjson would round."""
    try:
        return msgspec.UNSET if _LONG_NUMBER.search(text) else cast("object", orjson.loads(text))
    except orjson.JSONDecodeError:
        return msgspec.UNSET


def _refused(report: ArgumentReport) -> JsonRepair:
    # A schema without a type allows the text itself.
    error = f"❌ {_NO_JSON}." if report.valid else report.to_text()
    return JsonRepair(error=error, confidence="low", certainty=0.0)


def _read_partial(text: str) -> JsonRepair:
    found = recover_beginning(text)
    if found is None:
        return JsonRepair(error="there is no JSON object or array in the text so far", confidence="low", certainty=0.0)
    certainty = 0.5 if found.steps else 1.0
    return JsonRepair(
        value=found.value, steps=found.steps, confidence="low" if found.steps else "high", certainty=certainty
    )
