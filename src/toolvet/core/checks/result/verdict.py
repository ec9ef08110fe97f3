"""What `check_result` answers with."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Protocol

import msgspec

from toolvet.core.causes import ErrorKind, Retry, State
from toolvet.core.json_form import JsonForm


class Classification(StrEnum):
    """How well the tool works, judged by one response."""

    FULLY_WORKING = "fully_working"
    PARTIALLY_WORKING = "partially_working"
    CONNECTIVITY_ONLY = "connectivity_only"
    BROKEN = "broken"
    ERROR = "error"

    @property
    def weight(self) -> float:
        """The weight (0 to 1) of a verdict of this class in `overall_confidence`."""
        return _WEIGHTS[self.value]


_WEIGHTS = {"fully_working": 1.0, "partially_working": 0.7, "connectivity_only": 0.3, "error": 0.2, "broken": 0.0}


class LeakKind(StrEnum):
    """One piece of internals that an error reveals."""

    STACK_TRACE = "stack_trace"
    ABSOLUTE_PATH = "absolute_path"
    CRASH_TEXT = "crash_text"


class Leak(JsonForm, msgspec.Struct, frozen=True, gc=False):
    """The words `text`, at the characters from `start` up to `end` of the response's texts joined by newlines."""

    kind: LeakKind
    text: str
    start: int
    end: int


class Factor(JsonForm, msgspec.Struct, frozen=True, gc=False):
    """One row of the table behind the decision between business error and failure.

    `weight` is its number of points if `present` (9 for all together); `evidence` quotes the words that were seen.
    """

    name: str
    weight: Annotated[int, msgspec.Meta(ge=0, le=9)]
    present: bool
    evidence: str = ""


class OutputSchemaValidation(JsonForm, msgspec.Struct, frozen=True):
    """Whether the response keeps what the tool's `outputSchema` promises; `error` says where it breaks them."""

    has_output_schema: bool
    is_valid: bool
    error: str | None = None


class ResultMetadata(JsonForm, msgspec.Struct, frozen=True):
    """The parts of a response. `content_types` are unique, in the order in which they first appear.

    `other_counts` has the number of blocks of each type without a count of its own. The JSON form omits it and
    `audio_count` if they are empty.
    `output_schema_validation` is None if it does not apply: no `outputSchema`, or an error. `warnings`, `pagination`,
    `content_fidelity` and `dropped_content_ids` come from the `meta` of an envelope (response-v2); the JSON form omits
    those that the envelope does not have. `taken_for` names the shape of a result that is not MCP's (docs/shapes.md).
    It is None, and absent in JSON, for a result of MCP.
    """

    _sparse = ("audio_count", "other_counts", "warnings", "dropped_content_ids")

    content_types: tuple[str, ...] = ()
    text_block_count: int = 0
    image_count: int = 0
    resource_count: int = 0
    has_structured_content: bool = False
    has_meta: bool = False
    output_schema_validation: OutputSchemaValidation | None = None
    warnings: tuple[str, ...] = ()
    pagination: Mapping[str, Any] | None = None
    content_fidelity: str | None = None
    dropped_content_ids: tuple[str, ...] = ()
    taken_for: str | None = None
    audio_count: int = 0
    other_counts: Mapping[str, int] = {}


class ResultVerdict(JsonForm, msgspec.Struct, frozen=True, kw_only=True):
    """The verdict that one response gives about its tool.

    `is_valid` is whether it shows a working tool, `is_error` whether it is flagged as an error, `confidence` (0-100)
    how likely the tool works. `issues` and `evidence` are sentences. For an error, flagged or not, `error_kind` says
    whose fault it is, and `certainty` (0 to 1) how likely that is right, measured on errors from sources that the rules
    were made without (`docs/results.md`). `state` is what went wrong, `retry` what helps, and `factors` are the
    reasons.
    `error_without_flag` marks a success whose text or structured content reports an error. `leaks` quotes stack
    traces, crash texts and absolute paths of the server's own machine in an error. `framework` names the library that
    wrote the words of a refusal (`is_framework_refusal`). `error_code` is the code of the error's envelope; without an
    envelope it is the code of `state` in the table of causes. `trace_id` is the id of the turn, if known. The JSON form
    omits `framework`, `certainty`, `error_code` and `trace_id` if they are None.
    """

    _nulls = ("error_kind", "state", "retry")

    is_valid: bool
    is_error: bool
    classification: Classification
    confidence: Annotated[float, msgspec.Meta(ge=0, le=100)]
    issues: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    error_kind: ErrorKind | None = None
    state: State | None = None
    retry: Retry | None = None
    factors: tuple[Factor, ...] = ()
    metadata: ResultMetadata = ResultMetadata()
    error_without_flag: bool = False
    leaks: tuple[Leak, ...] = ()
    framework: str | None = None
    certainty: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    error_code: str | None = None
    trace_id: str | None = None

    @property
    def reports_error(self) -> bool:
        """Whether the response reports an error, flagged as one or not."""
        return self.is_error or self.error_without_flag


class HasConfidence(Protocol):
    """What `overall_confidence` needs of a verdict."""

    @property
    def classification(self) -> Classification | str:
        """How well the tool worked."""
        ...

    @property
    def confidence(self) -> float:
        """0 to 100."""
        ...


def overall_confidence(verdicts: Iterable[HasConfidence]) -> float:
    """Return the mean confidence (0-100) of several verdicts, each weighted by its class; 0 without verdicts.

    Args:
        verdicts: Anything with a `classification` and a `confidence`, such as what `check_result` returns.

    Example:
        >>> from toolvet import check_result
        >>> good = check_result({"name": "get_user"}, {}, {"content": [{"type": "text", "text": "Ada"}]})
        >>> overall_confidence([good])
        100.0
    """
    counted = [verdict.confidence * Classification(verdict.classification).weight for verdict in verdicts]
    return sum(counted) / len(counted) if counted else 0.0
